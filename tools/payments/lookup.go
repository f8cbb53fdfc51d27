package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// LookupIn is the input of find_charge: a call that was cut off after its request may have been sent.
type LookupIn struct {
	Tool      string          `json:"tool" doc:"the tool that was cut off"`
	Input     ChargeIn        `json:"input" doc:"the input of its call"`
	Function  string          `json:"function" doc:"the host function in which it was cut off"`
	Request   toolabi.RawJSON `json:"request" doc:"what the function was asked"`
	Key       string          `json:"key" doc:"the idempotency key of the request"`
	Announced string          `json:"announced" doc:"when the request was announced, RFC 3339; it was not sent before"`
}

// LookupOut is the output of find_charge.
type LookupOut struct {
	Verdict string          `json:"verdict" enum:"happened,did_not_happen,unknown"`
	Reply   toolabi.RawJSON `json:"reply,omitempty" doc:"with happened: what the ledger would have replied"`
	Note    string          `json:"note,omitempty" doc:"for people"`
}

// listed is a charge as the ledger lists it, with the key that it was made under where the ledger says so.
type listed struct {
	Charge
	Key string `json:"idempotency_key"`
}

// isFor says whether it is what a call asked for: by its key, and by what it says where the ledger lists no keys.
func (l *listed) isFor(in ChargeIn, key string) bool {
	if l.Key != "" {
		return l.Key == key
	}
	return l.Account == in.Account && l.AmountCents == in.AmountCents
}

// findCharge says what became of the one request of charge_lookup. It is sure only where the reference leaves no doubt:
// none, or exactly one charge, which is the one that was asked for.
func findCharge(_ context.Context, in LookupIn) (LookupOut, error) {
	var found []listed
	if err := list(in.Input.Ledger, in.Input.Reference, &found); err != nil {
		return LookupOut{}, err
	}
	switch {
	case len(found) == 0:
		return LookupOut{Verdict: "did_not_happen", Note: "the ledger has no charge with the reference"}, nil
	case len(found) > 1:
		return LookupOut{Verdict: "unknown", Note: fmt.Sprintf("the ledger has %d charges with the reference", len(found))}, nil
	case !found[0].isFor(in.Input, in.Key):
		return LookupOut{Verdict: "unknown", Note: "the ledger has " + found[0].ID + " with the reference, and it is another charge"}, nil
	case !found[0].known():
		return LookupOut{}, sdk.Fail("unreadable", "the ledger's list of charges has one without an id")
	}
	reply, err := json.Marshal(saidReply{Status: 201, Headers: map[string]string{"Content-Type": "application/json"}, Body: found[0].Charge})
	if err != nil {
		return LookupOut{}, err
	}
	return LookupOut{Verdict: "happened", Reply: reply, Note: "the ledger has it as " + found[0].ID}, nil
}

// saidReply is a reply in the form in which it is told to wrun.
type saidReply struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    Charge            `json:"body"`
}
