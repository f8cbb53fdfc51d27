package main

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// ChargeIn is the input of charge.
type ChargeIn struct {
	Ledger      string `json:"ledger" doc:"the ledger's base URL, such as https://ledger.example" minLength:"1"`
	Account     string `json:"account" doc:"whose account" minLength:"1"`
	AmountCents int64  `json:"amount_cents" doc:"how much to take, in cents" minimum:"1"`
	Reference   string `json:"reference" doc:"the caller's own name for the charge" minLength:"1"`
	TimeoutMS   uint32 `json:"timeout_ms,omitempty" doc:"how long to wait for the ledger's reply, in milliseconds; 30 seconds when missing" minimum:"1" maximum:"300000"`
}

func (in ChargeIn) order() order { return order{in.Account, in.AmountCents, in.Reference} }

// Charge is a charge as the ledger knows it, and the output of charge.
type Charge struct {
	ID          string `json:"id" doc:"the ledger's name for the charge"`
	Account     string `json:"account"`
	AmountCents int64  `json:"amount_cents"`
	Reference   string `json:"reference"`
}

func (c Charge) known() bool { return c.ID != "" }

// PairIn is the input of charge_pair.
type PairIn struct {
	ChargeIn
	FeeCents int64 `json:"fee_cents" doc:"how much to take besides, in cents" minimum:"1"`
}

// PairOut is the output of charge_pair.
type PairOut struct {
	Charge Charge `json:"charge"`
	Fee    Charge `json:"fee" doc:"the second charge; its reference ends in -fee"`
}

// order is the body of a request for a charge.
type order struct {
	Account     string `json:"account"`
	AmountCents int64  `json:"amount_cents"`
	Reference   string `json:"reference"`
}

func charge(_ context.Context, in ChargeIn) (Charge, error) {
	sdk.Logf(toolabi.LevelInfo, "charging %d cents for %s", in.AmountCents, in.Reference)
	return send[Charge](in.Ledger, "/charges", in.order(), in.TimeoutMS, "declined")
}

func chargePair(ctx context.Context, in PairIn) (PairOut, error) {
	var out PairOut
	var err error
	if out.Charge, err = charge(ctx, in.ChargeIn); err != nil {
		return out, err
	}
	sdk.Progress(1, 2, "charged")
	fee := in.ChargeIn
	fee.AmountCents, fee.Reference = in.FeeCents, in.Reference+"-fee"
	if out.Fee, err = charge(ctx, fee); err != nil {
		return out, fmt.Errorf("charge the fee after %s went through: %w", out.Charge.ID, err)
	}
	return out, nil
}
