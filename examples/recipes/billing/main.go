// Command billing is a module of wrun: a workflow in Go, whose steps are tools of other modules.
package main

import (
	"context"
	"errors"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("billing", "1.0.0", "Bills orders.",
		sdk.Need(toolabi.FuncToolCall, "to take the payment and write the receipt", "payment.take", "text.render"))
	sdk.Register(sdk.Tool[Order, Bill]{
		Name: "bill", Description: "Takes the payment for an order and writes its receipt.", Idempotency: sdk.NonIdempotent, Run: bill,
	})
}

func main() {}

// Order is the input of bill.
type Order struct {
	Ledger     string `json:"ledger" minLength:"1"`
	Account    string `json:"account" minLength:"1"`
	Number     string `json:"number" minLength:"1"`
	PriceCents int64  `json:"price_cents" minimum:"1"`
}

// Bill is the output of bill.
type Bill struct {
	Paid    bool   `json:"paid"`
	Receipt string `json:"receipt"`
}

func bill(_ context.Context, in Order) (out Bill, err error) {
	var payment struct{ ID string }
	err = sdk.CallTool("payment.take", map[string]any{
		"ledger": in.Ledger, "account": in.Account, "amount_cents": in.PriceCents, "reference": in.Number,
	}, &payment)
	var e *toolabi.Error
	if errors.As(err, &e) && e.Detail == "declined" {
		return Bill{Receipt: "nothing was taken for " + in.Number}, nil // an answer; every other error is the tool's own
	}
	if err != nil {
		return out, err
	}
	var receipt struct{ Text string }
	err = sdk.CallTool("text.render", map[string]any{
		"template": "{{.number}}: {{.cents}} cents, paid as {{.id}}",
		"data":     map[string]any{"number": in.Number, "cents": in.PriceCents, "id": payment.ID},
	}, &receipt)
	return Bill{Paid: true, Receipt: receipt.Text}, err
}
