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
	reply, err := sdk.HTTPFetch(toolabi.HTTPRequest{URL: join(in.Ledger, "/charges") + "?reference=" + url.QueryEscape(in.Reference)})
	if err != nil {
		return FindOut{}, err
	}
	if reply.Status/100 != 2 {
		return FindOut{}, bad(reply, "refused")
	}
	out := FindOut{Charges: []Charge{}}
	if err := json.Unmarshal(reply.Body, &out.Charges); err != nil {
		return FindOut{}, sdk.Fail("unreadable", "the ledger's list of charges: "+err.Error())
	}
	if out.Charges == nil {
		out.Charges = []Charge{}
	}
	return out, nil
}
