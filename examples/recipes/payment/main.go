// Command payment is a module of wrun: it takes payments, and finds out by itself what became of one that was cut off.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("payment", "1.0.0", "Takes payments.",
		sdk.Need(toolabi.FuncHTTPSend, "to take a payment"), sdk.Need(toolabi.FuncHTTPFetch, "to find out whether one was taken"))
	sdk.Register(sdk.Tool[Order, Payment]{
		Name: "take", Description: "Takes an amount from an account, once.", Idempotency: sdk.NonIdempotent,
		Lookup: "took", Settle: 5 * time.Second, Destructive: true, Run: take,
	})
	sdk.Register(sdk.Tool[sdk.LookupInput, sdk.LookupOutput]{
		Name: "took", Description: "Says what became of a payment. wrun asks it.", Idempotency: sdk.ReadOnly, Run: took,
	})
}

func main() {}

// Order is the input of take.
type Order struct {
	Ledger      string `json:"ledger" doc:"where payments are taken" minLength:"1"`
	Account     string `json:"account" minLength:"1"`
	AmountCents int64  `json:"amount_cents" minimum:"1"`
	Reference   string `json:"reference" doc:"no other payment has it" minLength:"1"`
}

// Payment is the output of take.
type Payment struct {
	ID string `json:"id"`
}

func take(_ context.Context, in Order) (out Payment, err error) {
	body, err := json.Marshal(map[string]any{"account": in.Account, "amount_cents": in.AmountCents, "reference": in.Reference})
	if err != nil {
		return out, err
	}
	reply, err := sdk.HTTPSend(toolabi.HTTPRequest{Method: "POST", URL: in.Ledger + "/charges", Body: body})
	if err != nil {
		return out, err // as it is: it says what is known of the effect
	}
	if reply.Status/100 != 2 {
		return out, sdk.Fail("declined", fmt.Sprintf("the ledger replied with status %d", reply.Status))
	}
	return out, json.Unmarshal(reply.Body, &out)
}

func took(_ context.Context, in sdk.LookupInput) (sdk.LookupOutput, error) {
	var order Order
	if err := json.Unmarshal(in.Input, &order); err != nil {
		return sdk.LookupOutput{}, err
	}
	reply, err := sdk.HTTPFetch(toolabi.HTTPRequest{URL: order.Ledger + "/charges?reference=" + url.QueryEscape(order.Reference)})
	var found []toolabi.RawJSON
	switch {
	case err != nil:
		return sdk.LookupOutput{}, err
	case reply.Status != 200 || json.Unmarshal(reply.Body, &found) != nil || len(found) > 1:
		return sdk.LookupOutput{Verdict: toolabi.VerdictUnknown}, nil
	case len(found) == 0:
		return sdk.LookupOutput{Verdict: toolabi.VerdictDidNotHappen}, nil
	}
	return sdk.LookupOutput{Verdict: toolabi.VerdictHappened, Reply: found[0]}, nil
}
