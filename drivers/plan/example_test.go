package plan_test

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/journal"
)

// shop stands for a run, whose Call enters the tool or finds what came of it in the log.
type shop struct{}

func (shop) Call(_ context.Context, step journal.Step, tool string, input []byte) ([]byte, error) {
	fmt.Println(step, tool, string(input))
	return []byte(`{"id": "ch_1"}`), nil
}

func Example() {
	p, err := plan.Parse([]byte(`
tools:
  payments: ./payments.wasm
steps:
  - id: charge
    tool: payments.charge
    with:
      amount_cents: ${ .input.amount }
      reference: "inv-${ .input.number }"
output: ${ .charge.id }
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	output, err := p.Run(context.Background(), shop{}, []byte(`{"amount": 1999, "number": 7}`))
	fmt.Println(string(output), err)
	// Output:
	// charge payments.charge {"amount_cents":1999,"reference":"inv-7"}
	// "ch_1" <nil>
}
