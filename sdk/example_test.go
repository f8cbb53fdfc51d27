package sdk_test

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

type ChargeIn struct {
	Account     string `json:"account" doc:"whose account" minLength:"1"`
	AmountCents int64  `json:"amount_cents" doc:"how much, in cents" minimum:"1"`
}

type ChargeOut struct {
	ID string `json:"id"`
}

// A module names itself and registers its tools in init; its main is empty.
func Example() {
	sdk.Module("payments", "0.1.0", "moves money", sdk.Need(toolabi.FuncHTTPSend, "to ask the ledger for the charge"))
	sdk.Register(sdk.Tool[ChargeIn, ChargeOut]{
		Name: "charge", Description: "takes an amount from an account", Idempotency: sdk.NonIdempotent,
		Run: func(_ context.Context, in ChargeIn) (ChargeOut, error) {
			reply, err := sdk.HTTPSend(toolabi.HTTPRequest{
				Method: "POST", URL: "https://ledger.example/charges",
				Body: fmt.Appendf(nil, `{"amount_cents":%d}`, in.AmountCents),
			})
			if err != nil {
				return ChargeOut{}, err
			}
			if reply.Status != 201 {
				return ChargeOut{}, sdk.Fail("declined", fmt.Sprintf("the ledger replied with status %d", reply.Status))
			}
			return ChargeOut{ID: string(reply.Body)}, nil
		},
	})
}
