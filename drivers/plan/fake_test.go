package plan_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/journal"
)

// fakeCaller answers each step with what is prepared for it, null when nothing is, and writes down what it was asked.
type fakeCaller struct {
	answers map[string]json.RawMessage
	errs    map[string]error
	calls   []string
}

func (f *fakeCaller) Call(ctx context.Context, step journal.Step, tool string, input []byte) ([]byte, error) {
	f.calls = append(f.calls, fmt.Sprintf("%s %s %s", step, tool, input))
	if err := f.errs[string(step)]; err != nil {
		return nil, err
	}
	if a, ok := f.answers[string(step)]; ok {
		return a, nil
	}
	return []byte("null"), ctx.Err()
}

func answers(t testing.TB, text string) map[string]json.RawMessage {
	t.Helper()
	if text == "" {
		return nil
	}
	var a map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// mustParse reads a plan that is in order.
func mustParse(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse([]byte(text))
	if err != nil {
		t.Fatalf("parse\n%s\n%v", text, err)
	}
	return p
}

// jsonChecker is a Caller that returns each tool its input and wants that to be JSON.
type jsonChecker struct{ t *testing.T }

func (c jsonChecker) Call(_ context.Context, step journal.Step, _ string, input []byte) ([]byte, error) {
	if err := step.Validate(); err != nil || !json.Valid(input) {
		c.t.Fatalf("step %q, %v, input %q", step, err, input)
	}
	return input, nil
}
