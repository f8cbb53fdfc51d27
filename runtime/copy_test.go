package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// Of a call that was tried again, the copy has nothing behind the attempt that it is cut in.
func TestACopyIsCutInsideAnAttempt(t *testing.T) {
	failures := 2
	m := newMachine(t, map[string]tool{"charge": func(g *guest, _ string) string {
		g.must(toolabi.FuncClock, "")
		if failures > 0 {
			failures--
			e := toolabi.NewError(toolabi.Unavailable, "not now")
			e.Retry = toolabi.RetrySafe
			panic(e)
		}
		return `"` + g.must(toolabi.FuncHTTPSend, "a") + `"`
	}})
	m.declare = retrying(3, 0)
	p := m.passing(nil)
	if _, err := m.drive(p, steps("charge")); err != nil {
		t.Fatal(err)
	}
	for id, at := range map[string]journal.Step{
		"a": "s1", "b": "s1/1", "c": "s1~2", "d": "s1~2/1", "e": "s1~3", "f": "s1~3/1", "g": "s1~3/2",
	} {
		before := m.world.total()
		if _, err := p.Fork(t.Context(), "r", at, id, "", ""); err != nil {
			t.Errorf("at %s: %v", at, err)
			continue
		}
		if _, err := driveFork(t, m.passing(nil), id, steps("charge")); err != nil || m.world.total() != before+1 {
			t.Errorf("at %s: %v, %d effects", at, err, m.world.total()-before)
		}
	}
}

// What a run has written into the state of tools is there already, and may have changed since.
func TestACopyDoesNotWriteAgain(t *testing.T) {
	m := newMachine(t, map[string]tool{"put": func(g *guest, input string) string {
		return `"` + g.must("put", strings.Trim(input, `"`)) + `"`
	}})
	p := m.process(m.mem.Handle(), func(c *runtime.Config) {
		c.Funcs = append(c.Funcs, hostfuncs.Func{Name: "put", Class: toolabi.Local, Call: func(_ context.Context, c hostfuncs.Call, request []byte) ([]byte, error) {
			_, version, _, err := c.Get("space", "key")
			c.Stage("space", "key", request, false, version)
			return request, err
		}})
	})
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		var last []byte
		for _, s := range []journal.Step{"a", "b", "c"} {
			var err error
			if last, err = r.Call(ctx, s, "m.put", []byte(`"`+s+`"`)); err != nil {
				return nil, err
			}
		}
		return last, nil
	}
	if _, err := m.drive(p, driver); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Fork(t.Context(), "r", "c", "copy", "", ""); err != nil {
		t.Fatal(err)
	}
	if v, _, err := m.mem.Get(t.Context(), "space", "key"); err != nil || string(v) != "c" {
		t.Errorf("the state is %q, %v", v, err)
	}
	if _, err := driveFork(t, p, "copy", driver); err != nil {
		t.Error(err)
	}
}

// besides is a run whose first charge, "a", is in doubt when its second one, "b", begins; fork it at "b".
func besides(t *testing.T) (*machine, runtime.Driver) {
	began, both := make(chan bool), make(chan bool)
	var once sync.Once
	m := newMachine(t, map[string]tool{"charge": func(g *guest, input string) string {
		if input == `"b"` {
			once.Do(func() { close(both) })
		}
		return `"` + g.must(toolabi.FuncHTTPSend, strings.Trim(input, `"`)) + `"`
	}})
	m.world.drop, m.world.dropOnly = 1, "a"
	m.world.during = func(request string) {
		if request == "a" && m.world.count("a") == 1 {
			close(began)
			<-both
		}
	}
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		var first error
		done := make(chan bool)
		go func() {
			defer close(done)
			_, first = r.Call(ctx, "a", "m.charge", []byte(`"a"`))
		}()
		select {
		case <-began:
		case <-done:
		}
		_, second := r.Call(ctx, "b", "m.charge", []byte(`"b"`))
		<-done
		return []byte(`1`), errors.Join(first, second)
	}
	return m, driver
}

// What came too late says in the copy what it says in the run, whether somebody has looked at it or not.
func TestACopyHoldsWhatCameTooLate(t *testing.T) {
	m, driver := besides(t)
	p := m.start(nil)
	if _, err := m.drive(p, driver); err == nil {
		t.Fatal("nothing is in doubt")
	}
	late := journal.Entry{Kind: journal.Late, Step: "a/1", Name: toolabi.FuncHTTPSend, Outcome: journal.OK, Effect: journal.EffectApplied}
	m.append(late)
	if err := p.Acknowledge(t.Context(), "r", "ann", ""); err != nil {
		t.Fatal(err)
	}
	not := runtime.Resolution{Now: true}
	for _, id := range []string{"r", "looked-at"} {
		if id != "r" {
			if _, err := p.Fork(t.Context(), "r", "b", id, "", ""); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Resolve(t.Context(), id, "a/1", not); !errors.Is(err, runtime.ErrContradicted) {
			t.Errorf("run %s: it is said not to have happened: %v", id, err)
		}
	}
	yes := runtime.Resolution{Happened: true, Reply: []byte("found")}
	if err := p.Resolve(t.Context(), "r", "a/1", yes); err != nil {
		t.Fatal(err)
	}
	if _, err := m.drive(p, driver); err != nil {
		t.Fatal(err)
	}
	m.append(late) // once more, after the end
	if _, err := p.Fork(t.Context(), "r", "b", "not-looked-at", "", ""); err != nil {
		t.Fatal(err)
	}
	var stops *runtime.LateError
	if _, err := driveFork(t, p, "not-looked-at", driver); !errors.As(err, &stops) {
		t.Errorf("driven, nobody has looked at what came: %v", err)
	}
}

// A copy of a restored run knows as little of what happened after the backup as the run does.
func TestACopyOfARestoredRunIsRestored(t *testing.T) {
	m, driver := besides(t)
	p := m.start(nil)
	if _, err := m.drive(p, driver); err == nil {
		t.Fatal("nothing is in doubt")
	}
	m.append(journal.Entry{Kind: journal.Record, Name: journal.RecordEvidence, Step: "a/1", Effect: journal.EffectNone})
	m.append(journal.Entry{Kind: journal.Restored})
	if _, err := p.Fork(t.Context(), "r", "b", "copy", "", ""); err != nil {
		t.Fatal(err)
	}
	var u *runtime.UncertainError
	if _, err := driveFork(t, p, "copy", driver); err == nil || m.world.count("a") != 1 {
		t.Errorf("driven: %v, effects %v", err, m.world.effects)
	}
	if err := p.Confirm(t.Context(), "copy", "ann", ""); err != nil {
		t.Error(err)
	}
	if _, err := driveFork(t, p, "copy", driver); !errors.As(err, &u) || u.Step != "a/1" || m.world.count("a") != 1 {
		t.Errorf("confirmed, and driven: %v, effects %v", err, m.world.effects)
	}
}

// A copy that is too long for one append, and was cut off between two, is not driven. It can be cancelled, so that nobody
// has to look at it for ever.
func TestACopyThatIsNotWholeIsNotDrivenAndCanBeClosed(t *testing.T) {
	m := newMachine(t, map[string]tool{"reads": func(g *guest, _ string) string {
		for range journal.MaxAppend {
			g.must(toolabi.FuncClock, "")
		}
		return `1`
	}})
	p := m.start(nil)
	if _, err := m.drive(p, steps("reads", "reads")); err != nil {
		t.Fatal(err)
	}
	cut := m.start(func(s journaltest.Store) journaltest.Store { return journaltest.CrashBefore(s, 2) })
	if _, err := cut.Fork(t.Context(), "r", "s2", "copy", "", ""); err == nil {
		t.Fatal("it was not cut off")
	}
	cut.store.Close()
	if _, err := driveFork(t, p, "copy", steps("reads", "reads")); err == nil || !strings.Contains(err.Error(), "not whole") {
		t.Errorf("driven with %v", err)
	}
	if err := p.Cancel(t.Context(), "copy", "ann", ""); err != nil {
		t.Fatal(err)
	}
	var f *runtime.FailedError
	if _, err := driveFork(t, p, "copy", steps("reads", "reads")); !errors.As(err, &f) || f.Outcome != journal.Cancelled {
		t.Errorf("cancelled, and closed with %v", err)
	}
	if _, err := p.Fork(t.Context(), "r", "s2", "whole", "", ""); err != nil {
		t.Fatal(err)
	}
}
