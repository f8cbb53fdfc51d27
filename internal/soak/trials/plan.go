package trials

import (
	"fmt"
	"strings"
)

// calls is how many calls the plan has.
const calls = 20

// pairs are the calls that make two charges.
var pairs = map[int]bool{4: true, 11: true, 20: true}

// wanted is a charge that a run of the plan has to make.
type wanted struct {
	step      string // the step of the request, first attempt
	reference string
	cents     int64
}

// planText is the plan: twenty calls, each with a reference of its own.
func planText() string {
	var b strings.Builder
	b.WriteString("name: twenty charges\ntools: { payments: payments.wasm }\nsteps:\n")
	for i := 1; i <= calls; i++ {
		tool, fee := "charge", ""
		if pairs[i] {
			tool, fee = "charge_pair", ", fee_cents: 7"
		}
		fmt.Fprintf(&b, "  - id: c%02d\n    tool: payments.%s\n", i, tool)
		fmt.Fprintf(&b, "    with: { ledger: \"${ .input.ledger }\", account: acme, amount_cents: %d, reference: \"${ .input.run }-%02d\"%s }\n", 100+i, i, fee)
	}
	b.WriteString("output: { first: \"${ .c01.id }\", last: \"${ .c20.fee.id }\" }\n")
	return b.String()
}

// planInput is the input of one run of the plan.
func planInput(ledger, run string) string { return fmt.Sprintf(`{"ledger":%q,"run":%q}`, ledger, run) }

// planCharges lists what a run of the plan has to charge, in order.
func planCharges(run string) []wanted {
	var all []wanted
	for i := 1; i <= calls; i++ {
		ref := fmt.Sprintf("%s-%02d", run, i)
		all = append(all, wanted{fmt.Sprintf("c%02d/1", i), ref, int64(100 + i)})
		if pairs[i] {
			all = append(all, wanted{fmt.Sprintf("c%02d/2", i), ref + "-fee", 7})
		}
	}
	return all
}
