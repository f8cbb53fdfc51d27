package main

import "context"

// PayOut is the output of pay.
type PayOut struct {
	Charge
	PaidCents int64 `json:"paid_cents" doc:"what the account has paid in all, in cents"`
}

// pay takes an amount and then asks for what the account has paid: where it is cut off between the two, the amount was taken, and
// the call goes on with the question.
func pay(ctx context.Context, in ChargeIn) (PayOut, error) {
	c, err := charge(ctx, in)
	if err != nil {
		return PayOut{}, err
	}
	var all []Charge
	if err := list(in.Ledger, "", &all); err != nil {
		return PayOut{}, err
	}
	out := PayOut{Charge: c}
	for _, c := range all {
		if c.Account == in.Account {
			out.PaidCents += c.AmountCents
		}
	}
	return out, nil
}
