package main

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// FindIn is the input of find.
type FindIn struct {
	Ledger    string `json:"ledger" doc:"the ledger's base URL" minLength:"1"`
	Reference string `json:"reference" doc:"the reference to look for" minLength:"1"`
}

// FindOut is the output of find.
type FindOut struct {
	Charges []Charge `json:"charges" doc:"every charge with the reference, none if there is none"`
}

func find(_ context.Context, in FindIn) (FindOut, error) {
	out := FindOut{Charges: []Charge{}}
	if err := list(in.Ledger, in.Reference, &out.Charges); err != nil {
		return FindOut{}, err
	}
	if out.Charges == nil {
		out.Charges = []Charge{}
	}
	return out, nil
}

// list reads every charge with a reference into a slice, or all of them without one.
func list(ledger, reference string, into any) error {
	from := join(ledger, "/charges")
	if reference != "" {
		from += "?reference=" + url.QueryEscape(reference)
	}
	reply, err := sdk.HTTPFetch(toolabi.HTTPRequest{URL: from})
	if err != nil {
		return err
	}
	if reply.Status/100 != 2 {
		return bad(reply, "refused")
	}
	if err := json.Unmarshal(reply.Body, into); err != nil {
		return sdk.Fail("unreadable", "the ledger's list of charges: "+err.Error())
	}
	return nil
}
