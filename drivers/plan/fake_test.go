package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// fakeCaller answers each step with what is prepared for it, null when nothing is, and writes down what it was asked.
type fakeCaller struct {
	answers map[string]json.RawMessage
	errs    map[string]error
	hold    func(step journal.Step) // called before each answer

	mu    sync.Mutex
	calls []string // guarded by mu while a plan runs
}

func (f *fakeCaller) answer(ctx context.Context, step journal.Step, format string, args ...any) ([]byte, error) {
	f.mu.Lock()
	f.calls = append(f.calls, fmt.Sprintf("%s "+format, append([]any{step}, args...)...))
	f.mu.Unlock()
	if f.hold != nil {
		f.hold(step)
	}
	if err := f.errs[string(step)]; err != nil {
		return nil, err
	}
	if a, ok := f.answers[string(step)]; ok {
		return a, nil
	}
	return []byte("null"), ctx.Err()
}

func (f *fakeCaller) Invoke(ctx context.Context, c runtime.CallSpec) ([]byte, error) {
	if p := c.Retry; p.Attempts != 0 {
		return f.answer(ctx, c.Step, "%s %s retry %d %dms %dms", c.Tool, c.Input, p.Attempts, p.BackoffMS, p.MaxBackoffMS)
	}
	return f.answer(ctx, c.Step, "%s %s", c.Tool, c.Input)
}

func (f *fakeCaller) Approve(ctx context.Context, step journal.Step, q runtime.Question) ([]byte, error) {
	return f.answer(ctx, step, "approve %q %s %s", q.Text, q.Detail, q.Within)
}

func (f *fakeCaller) Sleep(ctx context.Context, step journal.Step, d time.Duration) error {
	_, err := f.answer(ctx, step, "sleep %s", d)
	return err
}

func (f *fakeCaller) SleepUntil(ctx context.Context, step journal.Step, t time.Time) error {
	_, err := f.answer(ctx, step, "until %s", t.UTC().Format(time.RFC3339Nano))
	return err
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

// jsonChecker is a Caller that returns each tool its input and wants that to be JSON, and each step to be asked for once. It
// answers 2000 steps.
type jsonChecker struct {
	t     *testing.T
	mu    *sync.Mutex
	asked map[journal.Step]bool // guarded by mu
}

func newChecker(t *testing.T) jsonChecker {
	return jsonChecker{t: t, mu: new(sync.Mutex), asked: map[journal.Step]bool{}}
}

var errEnough = errors.New("enough")

func (c jsonChecker) ask(step journal.Step, input []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := step.Validate(); err != nil || !json.Valid(input) || c.asked[step] {
		c.t.Errorf("step %q, %v, asked before %v, input %q", step, err, c.asked[step], input)
	}
	c.asked[step] = true
	if len(c.asked) > 2000 {
		return errEnough
	}
	return nil
}

func (c jsonChecker) Invoke(_ context.Context, s runtime.CallSpec) ([]byte, error) {
	return s.Input, c.ask(s.Step, s.Input)
}

func (c jsonChecker) Approve(_ context.Context, step journal.Step, q runtime.Question) ([]byte, error) {
	if q.Detail == nil {
		q.Detail = []byte("null")
	}
	return []byte(`{"by":"someone"}`), c.ask(step, q.Detail)
}

func (c jsonChecker) Sleep(_ context.Context, step journal.Step, d time.Duration) error {
	if d < 0 {
		c.t.Errorf("step %q sleeps for %s", step, d)
	}
	return c.ask(step, []byte("null"))
}

func (c jsonChecker) SleepUntil(_ context.Context, step journal.Step, _ time.Time) error {
	return c.ask(step, []byte("null"))
}
