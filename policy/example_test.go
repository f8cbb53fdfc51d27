package policy_test

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/policy"
)

func Example() {
	p, err := policy.Parse([]byte(`
rules:
  - tool: payments.charge
    when: ${ .input.amount_cents > 10000 }
    do: ask
    reason: above 100 a person looks first
    within: 24h
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	d := p.Decide(context.Background(), policy.Call{
		Run: "invoice-7", Step: "charge", Module: "payments", Tool: "charge",
		Idempotency: "keyed", Input: []byte(`{"amount_cents": 50000}`),
	})
	fmt.Println(d.Do, d.Within, d.Reason)
	// Output: ask 24h0m0s above 100 a person looks first
}
