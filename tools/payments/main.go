// Command payments is a module of wrun: it charges accounts, refunds charges and finds them again, at a ledger that
// speaks JSON over HTTP.
//
// It is an example of what must not be done twice, and no client of any real payment provider.
package main

import (
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("payments", "0.1.0", "Charges accounts, refunds charges and finds them again.",
		sdk.Need(toolabi.FuncHTTPFetch, "to look up charges at the ledger"),
		sdk.Need(toolabi.FuncHTTPSend, "to ask the ledger for charges and refunds"),
	)
	sdk.Register(sdk.Tool[ChargeIn, Charge]{
		Name: "charge", Description: "Takes an amount from an account, once.",
		Idempotency: sdk.NonIdempotent, Compensate: "refund_charge", Destructive: true, Run: charge,
	})
	sdk.Register(sdk.Tool[ChargeIn, PayOut]{
		Name: "pay", Description: "Takes an amount from an account, once, and says what the account has paid in all.",
		Idempotency: sdk.NonIdempotent, Compensate: "refund_charge", Destructive: true, Run: pay,
	})
	sdk.Register(sdk.Tool[PairIn, PairOut]{
		Name: "charge_pair", Description: "Takes an amount from an account and then a fee, as two charges.",
		Idempotency: sdk.NonIdempotent, Compensate: "refund_charge", Destructive: true, Run: chargePair,
	})
	sdk.Register(sdk.Tool[ChargeIn, Charge]{
		Name: "charge_keyed", Description: "Takes an amount from an account, at a ledger that honours idempotency keys for a day.",
		Idempotency: sdk.Keyed, KeyTTL: 24 * time.Hour, Compensate: "refund_charge", Destructive: true,
		Retry: sdk.Retry{Attempts: 5, Backoff: time.Second}, Run: chargeKeyed,
	})
	sdk.Register(sdk.Tool[ChargeIn, Charge]{
		Name: "charge_lookup", Description: "Takes an amount from an account, once, and can be looked up by its reference, which no other charge may have.",
		Idempotency: sdk.NonIdempotent, Lookup: "find_charge", Settle: 5 * time.Second, Compensate: "refund_charge", Destructive: true,
		Run: charge,
	})
	sdk.Register(sdk.Tool[RefundIn, Refund]{
		Name: "refund", Description: "Gives a charge back. May be repeated under one idempotency key for a day.",
		Idempotency: sdk.Keyed, KeyTTL: 24 * time.Hour, Run: refund,
	})
	sdk.Register(sdk.Tool[FindIn, FindOut]{
		Name: "find", Description: "Finds the charges that carry a reference.",
		Idempotency: sdk.ReadOnly, Run: find,
	})
	sdk.Register(sdk.Tool[LookupIn, LookupOut]{
		Name: "find_charge", Description: "Says what became of a request of charge_lookup. wrun asks it.",
		Idempotency: sdk.ReadOnly, Run: findCharge,
	})
	sdk.Register(sdk.Tool[CompensateIn, RefundsOut]{
		Name: "refund_charge", Description: "Gives back every charge that a call made. wrun calls it to undo the call.",
		Idempotency: sdk.Keyed, KeyTTL: 24 * time.Hour, Run: refundCharge,
	})
}

func main() {}
