package main

import "context"

// RefundIn is the input of refund.
type RefundIn struct {
	Ledger      string `json:"ledger" doc:"the ledger's base URL" minLength:"1"`
	Charge      string `json:"charge" doc:"the id of the charge to give back" minLength:"1"`
	AmountCents int64  `json:"amount_cents,omitempty" doc:"how much of it, in cents; all of it when missing" minimum:"1"`
}

// Refund is a refund as the ledger knows it, and the output of refund.
type Refund struct {
	ID          string `json:"id" doc:"the ledger's name for the refund"`
	Charge      string `json:"charge"`
	AmountCents int64  `json:"amount_cents"`
}

func (r Refund) known() bool { return r.ID != "" }

func refund(_ context.Context, in RefundIn) (Refund, error) {
	return send[Refund](in.Ledger, "/refunds", struct {
		Charge      string `json:"charge"`
		AmountCents int64  `json:"amount_cents,omitempty"`
	}{in.Charge, in.AmountCents}, 0, "refused")
}
