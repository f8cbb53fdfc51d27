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
	return happened(found[0])
}

func happened(s Shipment) (out sdk.LookupOutput, err error) {
	out.Verdict = toolabi.VerdictHappened
	out.Reply, err = json.Marshal(map[string]any{"status": 201, "body": s})
	return out, err
}

// saysYes takes it for granted that what was sent arrived.
func saysYes(_ context.Context, _ sdk.LookupInput) (out sdk.LookupOutput, err error) {
	return happened(Shipment{ID: "sh_1", Order: "7"})
}

// saysNo looks where shipments are not.
func saysNo(_ context.Context, _ sdk.LookupInput) (sdk.LookupOutput, error) {
	return sdk.LookupOutput{Verdict: toolabi.VerdictDidNotHappen}, nil
}

// saysWrong finds the shipment, and says that the shop replied with another one.
func saysWrong(ctx context.Context, in sdk.LookupInput) (out sdk.LookupOutput, err error) {
	if out, err = says(ctx, in); err != nil || out.Verdict != toolabi.VerdictHappened {
		return out, err
	}
	return happened(Shipment{ID: "found", Order: "7"})
}

// Undone is the output of what undoes a shipment.
type Undone struct {
	Shipments []string `json:"shipments"`
}

// undo says that it is done.
func undo(_ context.Context, _ sdk.CompensateInput) (Undone, error) {
	return Undone{Shipments: []string{}}, nil
}
