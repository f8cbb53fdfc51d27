package main

import (
	"context"
	"encoding/json"

	"github.com/wrun-dev/wrun/internal/wasmtest/guests/internal/shop"
	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// Shipment is a shipment as the shop has it.
type Shipment struct {
	ID    string `json:"id"`
	Order string `json:"order"`
}

// ship ships an order, once.
func ship(_ context.Context, in Order) (out Shipment, err error) {
	return out, shop.Send("POST", "/shipments", map[string]any{"order": in.ID}, &out)
}

// says tells what the shop has of an order.
func says(_ context.Context, in sdk.LookupInput) (out sdk.LookupOutput, err error) {
	var order Order
	if err := json.Unmarshal(in.Input, &order); err != nil {
		return out, err
	}
	var found []Shipment
	if err := shop.Fetch("/shipments?order="+order.ID, &found); err != nil {
		return out, err
	}
	if len(found) == 0 {
		return sdk.LookupOutput{Verdict: toolabi.VerdictDidNotHappen}, nil
	}
	out.Verdict = toolabi.VerdictHappened
	out.Reply, err = json.Marshal(map[string]any{"status": 201, "body": found[0]})
	return out, err
}

// Undone is the output of what undoes a shipment.
type Undone struct {
	Shipments []string `json:"shipments"`
}

// undo takes back every shipment that a call made.
func undo(_ context.Context, in sdk.CompensateInput) (Undone, error) {
	out := Undone{Shipments: []string{}}
	for _, e := range in.Effects {
		var reply struct{ Body Shipment }
		if err := json.Unmarshal(e.Reply, &reply); err != nil {
			return out, err
		}
		if err := shop.Send("DELETE", "/shipments/"+reply.Body.ID, nil, &struct{}{}); err != nil {
			return out, err
		}
		out.Shipments = append(out.Shipments, reply.Body.ID)
	}
	return out, nil
}
