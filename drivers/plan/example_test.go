package plan_test

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/runtime"
)

// shop stands for a run, whose Invoke enters the tool or finds what came of it in the log. It waits for nobody.
type shop struct{ plan.Caller }

func (shop) Invoke(_ context.Context, c runtime.CallSpec) ([]byte, error) {
	fmt.Println(c.Step, c.Tool, string(c.Input))
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
