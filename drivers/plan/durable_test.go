package plan_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

var _ plan.Caller = (*runtime.Run)(nil)

const orders = `
name: orders
tools: {shop: shop.wasm}
steps:
  - id: find
    tool: shop.pure_find
    with: { first: "${ .input.first }" }
  - id: charge
    tool: shop.send
    with: { what: "charge ${ .find.first }" }
  - id: refund
    tool: shop.send
    if: ${ .input.refund }
    with: { what: refund }
  - id: receipt
    tool: shop.send
    if: ${ .refund == null }
    with: { what: "receipt for ${ .charge.input.what }" }
output: { last: "${ .receipt.input.what }", number: "${ .input.first + 1 }" }
`

// site is what outlives a process: the journal, and the world in which effects take place.
type site struct {
	t   *testing.T
	mem *journaltest.Mem

	mu     sync.Mutex
	sent   []string            // guarded by mu: the effects that took place
	inputs map[string][]string // guarded by mu: what each tool was entered with
}

func newSite(t *testing.T) *site {
	s := &site{t: t, mem: journaltest.NewMem(), inputs: map[string][]string{}}
	journaltest.CheckOnCleanup(t, s.mem)
	return s
}

// Invoke enters a tool that returns its input; send makes the input an effect besides, and pure_fail fails.
func (s *site) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	s.mu.Lock()
	s.inputs[inv.Tool] = append(s.inputs[inv.Tool], string(inv.Input))
	s.mu.Unlock()
	if inv.Tool == "send" {
		answer, err := host(ctx, toolabi.FuncHTTPSend, inv.Input)
		if err != nil || answer.Err != nil {
			return toolabi.Outcome{Err: answer.Err}, err
		}
		return toolabi.Outcome{Output: fmt.Appendf(nil, `{"input": %s}`, inv.Input)}, nil
	}
	if inv.Tool == "pure_fail" {
		return toolabi.Outcome{Err: toolabi.NewError(toolabi.Failed, "out of stock")}, nil
	}
	return toolabi.Outcome{Output: inv.Input}, nil
}

func (s *site) send(_ context.Context, c hostfuncs.Call, request []byte) ([]byte, error) {
	if err := c.BeforeSend(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, string(request))
	return []byte("ok"), nil
}

// life is one process: it starts or resumes the run with the journal that wrap makes, and ends.
func (s *site) life(text, input string, wrap func(journaltest.Store) journaltest.Store) (*runtime.Engine, runtime.Result, error) {
	s.t.Helper()
	store := wrap(s.mem.Handle())
	s.t.Cleanup(func() { store.Close() })
	e, err := runtime.New(runtime.Config{
		Journal: store, Invoker: s,
		Funcs: []hostfuncs.Func{{Name: toolabi.FuncHTTPSend, Class: toolabi.Once, Call: s.send}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	wasm := []byte("shop")
	spec := runtime.Spec{
		Driver: plan.Name, Version: plan.Version, Plan: []byte(text), Input: []byte(input),
		Modules: []runtime.Module{{Name: "shop", Digest: toolabi.DigestOf(wasm), Manifest: toolabi.Manifest{
			Name: "shop", Version: "1.0.0",
			Tools: []toolabi.Tool{{Name: "send"}, {Name: "pure_find", Idempotency: toolabi.Pure}, {Name: "pure_fail", Idempotency: toolabi.Pure}},
		}}},
	}
	if _, err := e.Start(s.t.Context(), "r", spec, map[toolabi.Digest][]byte{spec.Modules[0].Digest: wasm}, true); err != nil {
		return e, runtime.Result{}, err
	}
	driver := plan.Driver()
	res, err := e.Drive(s.t.Context(), "r", runtime.DriveOptions{Driver: &driver})
	return e, res, err
}

func same(j journaltest.Store) journaltest.Store { return j }

// finish resumes the run until it is closed; where nobody knows, it says what the world knows.
func (s *site) finish(text, input string) (runtime.Result, error) {
	s.t.Helper()
	for range 10 {
		e, res, err := s.life(text, input, same)
		var u *runtime.UncertainError
		if !errors.As(err, &u) {
			return res, err
		}
		say := runtime.Resolution{Happened: slices.Contains(s.sent, string(u.Intent.Body)), Reply: []byte("ok"), Now: true, By: "test"}
		if err := e.Resolve(s.t.Context(), "r", u.Step, say); err != nil {
			s.t.Fatal(err)
		}
	}
	s.t.Fatal("the run does not end")
	return runtime.Result{}, nil
}

// atOnce has effects in branches and rounds that are under way together, failures among them that are handled, and steps
// that depend on all of it.
const atOnce = `
tools: {shop: shop.wasm}
steps:
  - id: begin
    parallel:
      - [{id: a1, tool: shop.send, with: {what: a1}}, {id: a2, tool: shop.send, with: {what: "a2 after ${ .a1.input.what }"}}]
      - [{id: b1, tool: shop.pure_find}, {id: b2, tool: shop.pure_fail}, {id: b3, tool: shop.send, with: {what: never}}]
      - {id: c, tool: shop.pure_fail, on_error: [{id: sorry, tool: shop.send, with: {what: "sorry, ${ .error.message }"}}]}
    on_error:
      - {id: undo, tool: shop.send, with: {what: "undo ${ .a2.input.what }, ${ .error.step } failed"}}
  - id: charges
    for_each: ${ .input.orders }
    as: order
    index: n
    limit: 2
    steps:
      - id: charge
        tool: shop.send
        with: { what: "charge ${ .n } ${ .order.sum }" }
      - id: lines
        for_each: ${ .order.lines }
        limit: 2
        steps: [{id: line, if: "${ .item != 0 }", tool: shop.pure_find, with: ["${ .charge.input.what }", "${ .item }"]}]
output: ["${ .undo.input.what }", "${ .sorry.input.what }", "${ .charges }"]
`

// Killed at every append and resumed, a plan does the same once, and asks for the same.
func TestAPlanThatIsKilledAnywhereGoesOn(t *testing.T) {
	for _, c := range []struct{ name, text, input, want string }{
		{"one after the other", orders, `{"first": 9007199254740993}`, `{"last":"receipt for charge 9007199254740993","number":9007199254740994}`},
		{
			"at once", atOnce, `{"orders": [{"sum": 5, "lines": [1, 0, 2]}, {"sum": 6, "lines": []}, {"sum": 7, "lines": [3]}]}`,
			`["undo a2 after a1, b2 failed","sorry, out of stock",[[["charge 0 5",1],null,["charge 0 5",2]],[],[["charge 2 7",3]]]]`,
		},
	} {
		whole := newSite(t)
		counter := journaltest.CrashBefore(whole.mem.Handle(), 0)
		_, res, err := whole.life(c.text, c.input, func(journaltest.Store) journaltest.Store { return counter })
		if err != nil || string(res.Output) != c.want {
			t.Fatalf("output %s, %v, want %s", res.Output, err, c.want)
		}
		for n := 1; n <= counter.Appends(); n++ {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %d of %d, after %v", c.name, n, counter.Appends(), after), func(t *testing.T) {
					killedAt(t, whole, c.text, c.input, c.want, n, after)
				})
			}
		}
	}
}

func killedAt(t *testing.T, whole *site, text, input, want string, n int, after bool) {
	s := newSite(t)
	var crasher *journaltest.Crasher
	_, _, err := s.life(text, input, func(j journaltest.Store) journaltest.Store {
		if crasher = journaltest.CrashBefore(j, n); after {
			crasher = journaltest.CrashAfter(j, n)
		}
		return crasher
	})
	// How many entries share an append depends on time, so the run may be done before the n-th.
	if crasher.Crashed() != errors.Is(err, journal.ErrUnusable) || !crasher.Crashed() && (err != nil || crasher.Appends() >= n) {
		t.Fatalf("after %d appends the process ended with %v", crasher.Appends(), err)
	}
	res, err := s.finish(text, input)
	if err != nil || string(res.Output) != want {
		t.Errorf("output %s, %v, want %s", res.Output, err, want)
	}
	if got, want := sorted(s.sent), sorted(whole.sent); !slices.Equal(got, want) {
		t.Errorf("effects %q, want %q", got, want)
	}
	for tool, inputs := range whole.inputs {
		got, want := slices.Compact(sorted(s.inputs[tool])), slices.Compact(sorted(inputs))
		if !slices.Equal(got, want) {
			t.Errorf("%s was entered with %q, want %q", tool, got, want)
		}
	}
}

func TestAFailedPlanIsClosedWithItsReason(t *testing.T) {
	text := strings.Replace(orders, "${ .refund == null }", "${ .find.first.nope }", 1)
	s := newSite(t)
	want := "line 17: ${ .find.first.nope }: expected an object but got: number (1)"
	for range 2 {
		_, _, err := s.life(text, `{"first": 1}`, same)
		var failed *runtime.FailedError
		if !errors.As(err, &failed) || failed.Err == nil || !strings.Contains(failed.Err.Message, want) {
			t.Fatalf("got %v, want a failure for %q", err, want)
		}
		if !strings.HasPrefix(failed.Err.Message, "step receipt (shop.send): ") {
			t.Errorf("%q does not name the step", failed.Err.Message)
		}
	}
	if len(s.sent) != 1 {
		t.Errorf("effects %q, want the charge, once", s.sent)
	}
}

// Plans are read before a run is begun, so one that cannot be read was begun by a program that knows more.
func TestARunWhosePlanCannotBeReadStaysOpen(t *testing.T) {
	s := newSite(t)
	for range 2 {
		_, _, err := s.life("steps: [{id: x, dream: 5m}]", "1", same)
		var diverged *runtime.DivergedError
		if !errors.As(err, &diverged) || !strings.Contains(diverged.What, `unknown field "dream"`) {
			t.Fatalf("got %v, want a divergence that names the field", err)
		}
	}
}
