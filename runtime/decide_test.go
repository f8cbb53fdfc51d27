package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// wanting is a driver that wants something of its one call.
func wanting(d runtime.Decision) runtime.Driver {
	return func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Invoke(ctx, runtime.CallSpec{Step: "a", Tool: "m.pay", Input: []byte(`1`), Decide: d})
	}
}

// under is a process with a policy that always says the same.
func (m *machine) under(d runtime.Decision) *process {
	return m.process(m.mem.Handle(), func(c *runtime.Config) {
		c.Policy = func(context.Context, runtime.Candidate) runtime.Decision { return d }
	})
}

func TestTheStricterOfPolicyAndDriverCounts(t *testing.T) {
	const (
		begins = "begins"
		waits  = "waits"
		denied = "denied"
	)
	for _, tt := range []struct {
		manifest       bool
		policy, driver runtime.Verdict
		want           string
	}{
		{false, runtime.NoVerdict, runtime.NoVerdict, begins},
		{false, runtime.NoVerdict, runtime.AskFirst, waits},
		{false, runtime.NoVerdict, runtime.Deny, denied},
		{true, runtime.NoVerdict, runtime.Allow, waits},
		{true, runtime.Allow, runtime.NoVerdict, begins},
		{true, runtime.Allow, runtime.AskFirst, waits},
		{false, runtime.Allow, runtime.Deny, denied},
		{false, runtime.AskFirst, runtime.Allow, waits},
		{false, runtime.AskFirst, runtime.Deny, denied},
		{false, runtime.Deny, runtime.Allow, denied},
		{false, runtime.Deny, runtime.AskFirst, denied},
	} {
		m := agreeing(t)
		m.declare = func(tool *toolabi.Tool) { tool.Approval = tt.manifest }
		_, err := m.drive(m.under(runtime.Decision{Verdict: tt.policy}), wanting(runtime.Decision{Verdict: tt.driver}))
		var w *runtime.WaitingError
		got := begins
		switch {
		case errors.As(err, &w):
			got = waits
		case errors.Is(err, toolabi.Denied):
			got = denied
		case err != nil:
			t.Errorf("%+v: ended with %v", tt, err)
		}
		if begun := m.world.total() > 0; got != tt.want || begun != (got == begins) {
			t.Errorf("%+v: it %s, begun %v", tt, got, begun)
		}
	}
}

// Both reasons are shown, and a yes counts no longer than either says.
func TestAQuestionSaysWhatPolicyAndDriverSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := agreeing(t)
		p := m.under(runtime.Decision{Verdict: runtime.AskFirst, Reason: "it costs money", Within: time.Hour})
		_, err := m.drive(p, wanting(runtime.Decision{Verdict: runtime.AskFirst, Reason: "the agent is new", Within: time.Minute}))
		var w *runtime.WaitingError
		if !errors.As(err, &w) || w.Text != "it costs money; the agent is new" || time.Until(w.Due) != time.Minute {
			t.Errorf("ended with %v (%s) in %s", err, w.Text, time.Until(w.Due))
		}
	})
}

// What a driver denied is denied in the log, and stays so when the driver wants it no longer.
func TestWhatADriverDeniesIsDeniedInTheLog(t *testing.T) {
	m := agreeing(t)
	m.declare = nil
	wants := runtime.Decision{Verdict: runtime.Deny, Reason: "not for an agent"}
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		_, err := wanting(wants)(ctx, r)
		if !errors.Is(err, toolabi.Denied) || !strings.Contains(err.Error(), "the rules of the run do not allow m.pay: not for an agent") {
			t.Errorf("the driver is told %v", err)
		}
		_, err = r.Call(ctx, "b", "m.pay", []byte(`2`))
		return []byte(`1`), err
	}
	p := m.start(func(j journaltest.Store) journaltest.Store { return journaltest.CrashAfter(j, 2) })
	if _, err := m.drive(p, driver); !errors.Is(err, journal.ErrUnusable) {
		t.Fatalf("the crash shows as %v", err)
	}
	wants = runtime.Decision{}
	if _, _, err := m.finish(driver); err != nil || m.world.count("pay 1") != 0 || m.world.count("pay 2") != 1 {
		t.Errorf("resumed with %v, effects %v", err, m.world.effects)
	}
}

// A question in the log is waited for, also when the driver does not want it to be put any more.
func TestAQuestionThatADriverPutIsNotForgotten(t *testing.T) {
	m := agreeing(t)
	m.declare = nil
	var w *runtime.WaitingError
	if _, err := m.drive(m.start(nil), wanting(runtime.Decision{Verdict: runtime.AskFirst, Reason: "look"})); !errors.As(err, &w) || w.Text != "look" {
		t.Fatalf("ended with %v", err)
	}
	if _, err := m.drive(m.start(nil), wanting(runtime.Decision{})); !errors.As(err, &w) || m.world.total() != 0 {
		t.Fatalf("without the rule: %v", err)
	}
	if err := m.start(nil).Answer(t.Context(), "r", "a", runtime.Answer{Yes: true, By: "ann"}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.drive(m.start(nil), wanting(runtime.Decision{})); err != nil || m.world.count("pay 1") != 1 {
		t.Errorf("answered: %v, effects %v", err, m.world.effects)
	}
}
