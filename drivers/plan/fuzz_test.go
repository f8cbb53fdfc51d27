package plan_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/internal/docpage"
	"github.com/wrun-dev/wrun/toolabi"
)

// blocks has every kind of step in it.
const blocks = `
tools: {a: a.wasm}
steps:
- {id: x, tool: a.b, retry: {attempts: 2, backoff: 1s, max_backoff: 1m}, on_error: continue}
- {if: "${ .x }", steps: [{id: y, sleep: 5m}, {id: y2, sleep: "${ .input.n }"}], else: [{id: z, sleep: {until: "2027-01-31T09:00:00Z"}}]}
- id: all
  limit: 2
  parallel:
  - {id: ask, approve: {text: "${ .x }?", detail: ["${ . }"], within: 1h}}
  - - {id: l, for_each: "${ .input.orders }", as: o, index: i, limit: 3, steps: [{for_each: [1, 2], steps: [{id: w, tool: a.b, with: ["${ .o }", "${ .i }", "${ .item }"]}]}]}
    - {id: m, tool: a.b, with: "${ .l }"}
  on_error: [{id: sorry, tool: a.b, with: "${ .error }"}]
output: ${ [.all, .ask, .sorry] }
`

// A text is a plan or a list of mistakes; and a plan runs, or fails with something that says whose failure it is.
func FuzzParse(f *testing.F) {
	pages, err := docpage.Read("../..")
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range pages {
		for _, group := range p.Groups("plan") {
			f.Add([]byte(group[0].Text), []byte(`{"amount": 1}`))
		}
	}
	f.Add([]byte(bomb()), []byte("1"))
	f.Add([]byte("tools: {a: a}\nsteps:\n- id: x\n  tool: a.b\n  if: ${ .input }\n  with: [\"a ${ .input } $${\", 0.1]\noutput: ${ .x }"), []byte(`"\ud800"`))
	f.Add([]byte("? a\n: - !t &x \"\\0\"\n  - *x\n"), []byte(`[1e999]`))
	for _, text := range []string{blocks, atOnce, orders} {
		f.Add([]byte(text), []byte(`{"orders": [{"sum": 5, "lines": [1, 0, 2]}], "n": 3, "first": 1}`))
	}
	f.Fuzz(func(t *testing.T, text, input []byte) {
		p, err := plan.Parse(text)
		if err != nil {
			if e := (*plan.Error)(nil); !errors.As(err, &e) || p != nil {
				t.Fatalf("%v is no *plan.Error, or there is a plan besides", err)
			}
			return
		}
		if tools := p.Tools(); !slices.IsSorted(tools) {
			t.Fatalf("tools %q", tools)
		}
		if s := p.InputSchema(); s != nil && !json.Valid(s) {
			t.Fatalf("schema %q", s)
		}
		output, err := p.Run(t.Context(), newChecker(t), input)
		if errors.Is(err, errEnough) {
			return
		}
		if e := (*toolabi.Error)(nil); err != nil && !errors.As(err, &e) {
			t.Fatalf("%v is no failure of the plan", err)
		}
		if err == nil && !json.Valid(output) {
			t.Fatalf("output %q", output)
		}
	})
}
