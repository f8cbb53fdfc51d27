package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// edited is an answer of ann's with another input.
func edited(input string) runtime.Answer {
	return runtime.Answer{Yes: true, By: "ann", Note: "less", Input: []byte(input)}
}

// paying is a driver that pays once, and notes what it is told.
func paying(input string, told *runtime.CallResult) runtime.Driver {
	return func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		*told = r.CallAll(ctx, []runtime.CallSpec{{Step: "a", Tool: "m.pay", Input: []byte(input)}})[0]
		return told.Output, told.Err
	}
}

// asked is a machine whose run waits for somebody to agree to a payment of 1.
func asked(t *testing.T) (*machine, *process) {
	m := agreeing(t)
	m.declare = func(tool *toolabi.Tool) {
		tool.Approval, tool.Input = tool.Name == "pay", toolabi.RawJSON(`{"type":"integer","maximum":9}`)
	}
	p := m.start(nil)
	var w *runtime.WaitingError
	if _, err := m.drive(p, pays(`1`)); !errors.As(err, &w) {
		t.Fatalf("ended with %v", err)
	}
	return m, p
}

func TestACallIsMadeWithTheInputThatWasAgreedTo(t *testing.T) {
	m, p := asked(t)
	if err := p.Answer(t.Context(), "r", "a", edited(`2`)); err != nil {
		t.Fatal(err)
	}
	var told runtime.CallResult
	res, err := m.drive(p, paying(`1`, &told))
	if err != nil || string(res.Output) != `"done pay 2"` || m.world.count("pay 2") != 1 || m.world.total() != 1 {
		t.Fatalf("%s, %v, effects %v", res.Output, err, m.world.effects)
	}
	if string(told.Edited) != `2` || told.EditedBy != "ann" {
		t.Errorf("the driver is told %+v", told)
	}
	in := m.intents()
	if string(in["a"].Body) != `2` || in["a"].Request == in["a?"].Request || in["a"].Approval != in["a?"].Request {
		t.Errorf("the call is announced as %+v", in["a"])
	}
	var answered *runtime.AnsweredError
	if err := p.Answer(t.Context(), "r", "a", edited(`3`)); !errors.Is(err, journal.ErrClosed) && !errors.As(err, &answered) {
		t.Errorf("answered again: %v", err)
	}
	var again runtime.CallResult
	if _, err := p.Fork(t.Context(), "r", "a/1", "r2", "ann", ""); err != nil {
		t.Fatal(err)
	}
	if res, err := driveFork(t, p, "r2", paying(`1`, &again)); err != nil || string(res.Output) != `"done pay 2"` || string(again.Edited) != `2` {
		t.Errorf("a fork inside of the call: %s, %v, %+v", res.Output, err, again)
	}
}

// The input is not there for a driver to claim: what was shown is what it has to ask for.
func TestAChangedInputIsNoOtherRequest(t *testing.T) {
	m, p := asked(t)
	if err := p.Answer(t.Context(), "r", "a", edited(`2`)); err != nil {
		t.Fatal(err)
	}
	h := m.mem.Handle()
	var told runtime.CallResult
	_, err := m.drive(m.process(h, nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		_, err := paying(`1`, &told)(ctx, r)
		err = errors.Join(err, r.Flush())
		h.Kill()
		return nil, err
	})
	if !errors.Is(err, journal.ErrUnusable) {
		t.Fatalf("the kill shows as %v", err)
	}
	for _, input := range []string{`2`, `3`} {
		var diverged *runtime.DivergedError
		if _, err := m.drive(m.start(nil), pays(input)); !errors.As(err, &diverged) {
			t.Errorf("it asks for %s: %v", input, err)
		}
	}
	told = runtime.CallResult{}
	if _, err := m.drive(m.start(nil), paying(`1`, &told)); err != nil || string(told.Edited) != `2` || told.EditedBy != "ann" || m.world.total() != 1 {
		t.Errorf("a replay: %v, %+v, effects %v", err, told, m.world.effects)
	}
}

func TestAnInputThatMayNotBePutInsteadIsRefused(t *testing.T) {
	m, p := asked(t)
	if err := p.Answer(t.Context(), "r", "a", edited(`100`)); !errors.Is(err, toolabi.BadInput) {
		t.Errorf("against the schema: %v", err)
	}
	if err := p.Answer(t.Context(), "r", "a", edited(`{"n":1,"n":2}`)); !errors.Is(err, toolabi.BadInput) {
		t.Errorf("no JSON: %v", err)
	}
	no := edited(`2`)
	no.Yes = false
	if err := p.Answer(t.Context(), "r", "a", no); !errors.Is(err, runtime.ErrNoInput) {
		t.Errorf("a no: %v", err)
	}
	another := edited(`2`)
	another.Shown = "ff00"
	var other *runtime.ShownError
	if err := p.Answer(t.Context(), "r", "a", another); !errors.As(err, &other) {
		t.Errorf("to another question: %v", err)
	}
	if got := m.log(); got[len(got)-1] != "released" {
		t.Errorf("log %v", got)
	}
	// The one that was shown is no other.
	var told runtime.CallResult
	if err := p.Answer(t.Context(), "r", "a", edited(`1`)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.drive(p, paying(`1`, &told)); err != nil || told.Edited != nil || told.EditedBy != "" || m.world.count("pay 1") != 1 {
		t.Errorf("%v, told %+v", err, told)
	}
}

func TestAQuestionThatIsNotAboutACallHasNoInput(t *testing.T) {
	ask := encoded(t, toolabi.ApproveRequest{Text: "ok?"})
	m := newMachine(t, map[string]tool{"ask": func(g *guest, _ string) string { g.must(toolabi.FuncApprove, ask); return `1` }})
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		_, tool := r.Call(ctx, "a", "m.ask", []byte(`{}`))
		_, own := r.Approve(ctx, "b", runtime.Question{Text: "ok?"})
		return nil, errors.Join(tool, own)
	}
	p := m.start(nil)
	if _, err := m.drive(p, driver); err == nil {
		t.Fatal("it did not wait")
	}
	for _, step := range []journal.Step{"a/1", "b"} {
		if err := p.Answer(t.Context(), "r", step, edited(`2`)); !errors.Is(err, runtime.ErrNoInput) {
			t.Errorf("%s: %v", step, err)
		}
	}
}

// What nobody may do is not done because somebody agreed to it in that form.
func TestAPolicyJudgesTheInputThatWasPutInstead(t *testing.T) {
	m, p := asked(t)
	if err := p.Answer(t.Context(), "r", "a", edited(`8`)); err != nil {
		t.Fatal(err)
	}
	var told runtime.CallResult
	h := m.mem.Handle()
	judged := m.process(h, func(c *runtime.Config) {
		c.Policy = func(_ context.Context, can runtime.Candidate) runtime.Decision {
			if string(can.Input) == `8` {
				return runtime.Decision{Verdict: runtime.Deny, Reason: "too much"}
			}
			return runtime.Decision{}
		}
	})
	_, err := m.drive(judged, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		_, err := paying(`1`, &told)(ctx, r)
		if !errors.Is(err, toolabi.Denied) || string(told.Edited) != `8` || r.Flush() != nil {
			t.Errorf("denied with %v, told %+v", err, told)
		}
		h.Kill()
		return nil, err
	})
	if !errors.Is(err, journal.ErrUnusable) {
		t.Fatalf("the kill shows as %v", err)
	}
	told = runtime.CallResult{}
	if _, err := m.drive(m.start(nil), paying(`1`, &told)); !errors.Is(err, toolabi.Denied) || m.world.total() != 0 || string(told.Edited) != `8` {
		t.Errorf("a replay: %v, told %+v, effects %v", err, told, m.world.effects)
	}
}

// Values of secrets are written nowhere, and what the process that answers does not know is found before the call begins.
func TestAnInputWithASecretIsNotPutInstead(t *testing.T) {
	open := func(t *testing.T) (*machine, func(*runtime.Config)) {
		m := agreeing(t)
		vault := knowing(t)
		if _, err := m.drive(m.start(nil), pays(`1`)); err == nil {
			t.Fatal("it did not wait")
		}
		return m, func(c *runtime.Config) { c.Secrets = vault }
	}
	m, knows := open(t)
	var secret *runtime.SecretError
	if err := m.process(m.mem.Handle(), knows).Answer(t.Context(), "r", "a", edited(`"`+canary+`"`)); !errors.As(err, &secret) {
		t.Errorf("answered with %v", err)
	}
	m, knows = open(t)
	if err := m.start(nil).Answer(t.Context(), "r", "a", edited(`"`+canary+`"`)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.drive(m.process(m.mem.Handle(), knows), pays(`1`)); !errors.Is(err, toolabi.Denied) || m.world.total() != 0 {
		t.Errorf("ended with %v, effects %v", err, m.world.effects)
	}
}

// When more was granted since, the question is put again, and what was made of it is gone but not forgotten: the call does not
// begin with its own input because the policy would let it by now.
func TestAnInputThatWasAgreedToUnderOtherGrantsIsAskedForAgain(t *testing.T) {
	m, p := asked(t)
	if err := p.Answer(t.Context(), "r", "a", edited(`2`)); err != nil {
		t.Fatal(err)
	}
	more := hostfuncs.Grants{HTTP: []string{"https://example.com"}}
	lax := m.under(runtime.Decision{Verdict: runtime.Allow})
	var w *runtime.WaitingError
	_, err := lax.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: pays(`1`)}, Grants: more})
	if !errors.As(err, &w) || w.Step != "a?~2" || m.world.total() != 0 {
		t.Fatalf("ended with %v, effects %v", err, m.world.effects)
	}
	for item, err := range lax.Inbox(t.Context()) {
		if err != nil || string(item.Edited) != `2` || item.EditedBy != "ann" || string(item.Call.Input) != `1` {
			t.Errorf("the inbox has %+v, %v", item, err)
		}
	}
}

// A call of a tool by another tool can be given another input too.
func TestACallOfAToolByAToolIsMadeWithTheInputThatWasAgreedTo(t *testing.T) {
	m := agreeing(t)
	req := encoded(t, toolabi.ToolCallRequest{Tool: "m.pay", Input: []byte(`1`)})
	m.tools["outer"] = func(g *guest, _ string) string { g.must(toolabi.FuncToolCall, req); return `1` }
	p := m.start(nil)
	if _, err := m.drive(p, steps("outer")); err == nil {
		t.Fatal("it did not wait")
	}
	if err := p.Answer(t.Context(), "r", "s1/1", edited(`2`)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.drive(p, steps("outer")); err != nil || m.world.count("pay 2") != 1 || m.world.total() != 1 {
		t.Errorf("%v, effects %v", err, m.world.effects)
	}
}

// Every crash point behind the answer: the call is made once, with the input that was agreed to, in each of its attempts.
func TestNoCrashPointForgetsTheInputThatWasAgreedTo(t *testing.T) {
	crashed := 0
	for n := 1; n <= 8; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/after %v", n, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m, p := asked(t)
					entered := failingOnce(m)
					if err := p.Answer(t.Context(), "r", "a", edited(`2`)); err != nil {
						t.Fatal(err)
					}
					crash := journaltest.CrashBefore(m.mem.Handle(), n)
					if after {
						crash = journaltest.CrashAfter(m.mem.Handle(), n)
					}
					var told runtime.CallResult
					driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
						retry := toolabi.RetryPolicy{Attempts: 2, BackoffMS: 1000}
						told = r.CallAll(ctx, []runtime.CallSpec{{Step: "a", Tool: "m.pay", Input: []byte(`1`), Retry: retry}})[0]
						return told.Output, told.Err
					}
					_, _ = m.drive(m.start(func(journaltest.Store) journaltest.Store { return crash }), driver)
					if crash.Crashed() {
						crashed++
					}
					res, _, err := m.finish(driver)
					if err != nil || string(res.Output) != `"done pay 2"` || m.world.count("pay 2") != 1 || m.world.total() != 1 {
						t.Errorf("%s, %v, effects %v", res.Output, err, m.world.effects)
					}
					if string(told.Edited) != `2` || told.EditedBy != "ann" || slices.Contains(*entered, `1`) {
						t.Errorf("the driver is told %+v; entered with %v", told, *entered)
					}
				})
			})
		}
	}
	if crashed < 8 {
		t.Errorf("%d crashes", crashed)
	}
}

// failingOnce makes the tool fail the first time, and notes what it is entered with.
func failingOnce(m *machine) *[]string {
	pay, entered := m.tools["pay"], new([]string)
	m.tools["pay"] = func(g *guest, input string) string {
		if *entered = append(*entered, input); len(*entered) == 1 {
			panic(toolabi.NewError(toolabi.Failed, "not now"))
		}
		return pay(g, input)
	}
	return entered
}
