package trials

import (
	"fmt"
	"strings"
)

// wanted is a charge that a run of the plan has to make.
type wanted struct {
	call      string // the call that makes it
	step      string // the step of the request, without attempts
	reference string
	cents     int64
	keyed     bool // sent again under its key, as often as it takes
}

// planText is the plan: a number of calls, each with a reference of its own.
func (p *provider) planText() string {
	var b strings.Builder
	b.WriteString("name: charges\ntools: { payments: payments.wasm }\nsteps:\n")
	for i := 1; i <= p.calls; i++ {
		tool, more := p.tool(i), ""
		if p.isPair(i) {
			tool, more = "charge_pair", ", fee_cents: 7"
		}
		if p.timeoutMS > 0 {
			more += fmt.Sprintf(", timeout_ms: %d", p.timeoutMS)
		}
		fmt.Fprintf(&b, "  - id: c%02d\n    tool: payments.%s\n", i, tool)
		fmt.Fprintf(&b, "    with: { ledger: \"${ .input.ledger }\", account: acme, amount_cents: %d, reference: \"${ .input.run }-%02d\"%s }\n", 100+i, i, more)
	}
	last := fmt.Sprintf("c%02d.id", p.calls)
	if p.isPair(p.calls) {
		last = fmt.Sprintf("c%02d.fee.id", p.calls)
	}
	fmt.Fprintf(&b, "output: { first: \"${ .c01.id }\", last: \"${ .%s }\" }\n", last)
	return b.String()
}

// planInput is the input of one run of the plan.
func planInput(ledger, run string) string { return fmt.Sprintf(`{"ledger":%q,"run":%q}`, ledger, run) }

// planCharges lists what a run of the plan has to charge, in order.
func (p *provider) planCharges(run string) []wanted {
	var all []wanted
	for i := 1; i <= p.calls; i++ {
		call, ref := fmt.Sprintf("c%02d", i), fmt.Sprintf("%s-%02d", run, i)
		all = append(all, wanted{call, call + "/1", ref, int64(100 + i), p.tool(i) == "charge_keyed"})
		if p.isPair(i) {
			all = append(all, wanted{call, call + "/2", ref + "-fee", 7, false})
		}
	}
	return all
}
