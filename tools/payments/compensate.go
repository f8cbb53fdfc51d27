package main

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// CompensateIn is the input of refund_charge: a call of one of the charge tools, and what it did.
type CompensateIn struct {
	Run     string          `json:"run" doc:"the run of the call that is undone"`
	Step    string          `json:"step" doc:"the step of the call that is undone"`
	Tool    string          `json:"tool" doc:"the tool that was called"`
	Input   toolabi.RawJSON `json:"input" doc:"the input of the call"`
	Output  toolabi.RawJSON `json:"output" doc:"its output; null when it failed after it had effects"`
	Effects []EffectIn      `json:"effects" doc:"what it did, in order"`
}

// EffectIn is one effect of a call.
type EffectIn struct {
	Step     string          `json:"step" doc:"the step of the effect"`
	Function string          `json:"function" doc:"the host function"`
	Request  toolabi.RawJSON `json:"request" doc:"what the function was asked"`
	Reply    toolabi.RawJSON `json:"reply" doc:"what it answered; null when it failed"`
	Key      string          `json:"key" doc:"the idempotency key of the request"`
}

// RefundsOut is the output of refund_charge.
type RefundsOut struct {
	Refunds []Refund `json:"refunds" doc:"the last charge comes first"`
}

// refundCharge gives back every charge that a call made, whatever the call itself made of them. It sends each refund
// under a key of its own, so that it may be repeated for a day.
func refundCharge(_ context.Context, in CompensateIn) (RefundsOut, error) {
	out := RefundsOut{Refunds: []Refund{}}
	var call struct{ Ledger string }
	if err := json.Unmarshal(in.Input, &call); err != nil || call.Ledger == "" {
		return out, sdk.Fail("unreadable", "the input of "+in.Tool+" names no ledger")
	}
	var charges []string
	for _, e := range in.Effects {
		made, err := e.charges(call.Ledger)
		if err != nil {
			return out, err
		}
		for _, id := range made {
			if !slices.Contains(charges, id) { // a call that was tried again asked for the same charge twice
				charges = append(charges, id)
			}
		}
	}
	for _, id := range slices.Backward(charges) {
		refund, err := sendKeyed[Refund](call.Ledger, "/refunds", struct {
			Charge string `json:"charge"`
		}{id}, 0, "refused")
		if err != nil {
			return out, err
		}
		out.Refunds = append(out.Refunds, refund)
	}
	return out, nil
}

// charges returns what one request has charged: what its reply names, and where the reply says no or there is none, what
// the ledger has under its key, because the reply does not say what came of an earlier request with it.
func (e EffectIn) charges(ledger string) ([]string, error) {
	if e.Function != toolabi.FuncHTTPSend {
		return nil, nil
	}
	var reply struct {
		Status int
		Body   toolabi.RawJSON
	}
	if len(e.Reply) > 0 && json.Unmarshal(e.Reply, &reply) != nil {
		return nil, sdk.Fail("unreadable", "the reply of "+e.Step+" is not understood")
	}
	var made Charge
	if reply.Status/100 == 2 && unwrap(reply.Body, &made) == nil && made.known() {
		return []string{made.ID}, nil
	}
	var asked struct{ Body toolabi.RawJSON }
	var order order
	if json.Unmarshal(e.Request, &asked) != nil || unwrap(asked.Body, &order) != nil || order.Reference == "" {
		return nil, sdk.Fail("unreadable", "the request of "+e.Step+" is not understood")
	}
	var found []listed
	if err := list(ledger, order.Reference, &found); err != nil {
		return nil, err
	}
	var ids []string
	for _, c := range found {
		switch {
		case c.Key == "" || e.Key == "":
			return nil, sdk.Fail("unclear", "the ledger has "+c.ID+" with the reference "+order.Reference+", and no key tells whose it is")
		case c.Key == e.Key && c.known():
			ids = append(ids, c.ID)
		}
	}
	return ids, nil
}

// unwrap reads a body, which stands there as itself or as a text.
func unwrap(body toolabi.RawJSON, v any) error {
	var text string
	if json.Unmarshal(body, &text) == nil {
		body = toolabi.RawJSON(text)
	}
	return json.Unmarshal(body, v)
}
