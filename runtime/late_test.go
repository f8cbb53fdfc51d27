package runtime_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// say appends an entry at the end of the run's log, as another process would.
func (m *machine) say(e journal.Entry) {
	m.t.Helper()
	for s, err := range m.mem.List(context.Background(), journal.Query{Run: "r"}) {
		if err != nil {
			m.t.Error(err)
		}
		e.Time = max(e.Time, s.Time)
		if err := m.mem.Append(context.Background(), "r", s.Len, e); err != nil {
			m.t.Error(err)
		}
	}
}

// steal claims the run for a process that does not live, whoever drives it.
func (m *machine) steal() {
	m.t.Helper()
	h := m.mem.Handle()
	owner, err := h.Owner()
	if err != nil {
		m.t.Error(err)
	}
	m.say(journal.Entry{Kind: journal.Claimed, Owner: owner})
	h.Kill()
}

func (m *machine) status() journal.Status {
	m.t.Helper()
	for s, err := range m.mem.List(m.t.Context(), journal.Query{Run: "r"}) {
		if err != nil {
			m.t.Fatal(err)
		}
		return s.Status()
	}
	return ""
}

// A late outcome stops a run that is being driven before it starts anything else.
func TestALateOutcomeStopsTheRun(t *testing.T) {
	m := newMachine(t, map[string]tool{"two": func(g *guest, _ string) string {
		g.must(toolabi.FuncHTTPSend, "a")
		g.must(toolabi.FuncHTTPSend, "b")
		return `1`
	}})
	m.world.during = func(request string) {
		m.world.during = nil
		m.say(journal.Entry{Kind: journal.Late, Step: "s1/2", Name: "http_send", Outcome: journal.OK, Owner: "somebody"})
	}
	p := m.start(nil)
	_, err := m.drive(p, steps("two"))
	var late *runtime.LateError
	if !errors.As(err, &late) || m.world.count("b") != 0 || m.status() != journal.Uncertain {
		t.Fatalf("ended with %v, b sent %d times, status %s", err, m.world.count("b"), m.status())
	}
	if _, err := m.drive(m.start(nil), steps("two")); !errors.As(err, &late) {
		t.Errorf("resumed with %v", err)
	}
	if err := p.Acknowledge(t.Context(), "r", "somebody", "looked at it"); err != nil {
		t.Fatal(err)
	}
	if err := p.Acknowledge(t.Context(), "r", "somebody", ""); !errors.Is(err, runtime.ErrNotOpen) {
		t.Errorf("acknowledged twice: %v", err)
	}
	if m.status() != journal.Interrupted { // and Work may go on with it
		t.Errorf("after the acknowledgement the status is %s", m.status())
	}
	if _, err := m.drive(m.start(nil), steps("two")); err != nil || m.world.total() != 2 {
		t.Errorf("after the acknowledgement: %v, %d effects", err, m.world.total())
	}
}

// Of two replies that come to a fenced process, both are kept.
func TestEveryReplyOfAFencedOwnerIsKept(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a"), "y": one("b")})
	bothSent, aLate := make(chan struct{}), make(chan struct{})
	m.world.during = func(request string) {
		if request == "a" {
			<-bothSent
			m.steal()
			return
		}
		close(bothSent)
		<-aLate
	}
	_, err := m.drive(m.start(nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		results := make(chan error, 2)
		go func() {
			_, err := r.Call(ctx, "s1", "m.x", []byte(`{}`))
			close(aLate)
			results <- err
		}()
		go func() {
			_, err := r.Call(ctx, "s2", "m.y", []byte(`{}`))
			results <- err
		}()
		return nil, errors.Join(<-results, <-results)
	})
	var busy *runtime.BusyError
	if !errors.As(err, &busy) {
		t.Errorf("ended with %v", err)
	}
	log := m.log()
	if want := []string{"late s1/1", "late s2/1"}; !slices.Equal(log[len(log)-2:], want) {
		t.Errorf("log %v, want %v at its end", log, want)
	}
}

// What a fenced process learned of an effect whose outcome it does not know is kept too.
func TestEvidenceOfAFencedOwnerIsKept(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	m.world.drop = 1
	m.world.during = func(string) { m.steal() }
	if _, err := m.drive(m.start(nil), steps("x")); err == nil {
		t.Fatal("want an error")
	}
	_, err := m.drive(m.start(nil), steps("x"))
	var u *runtime.UncertainError
	if !errors.As(err, &u) || u.Evidence == nil || u.Evidence.Sent != 1 {
		t.Errorf("resumed with %v", err)
	}
}

// A process that was taken for dead comes back with a reply: it is kept as late, and stops the run.
func TestAReplyOfAFencedOwnerIsLate(t *testing.T) {
	m := newMachine(t, map[string]tool{"charge": func(g *guest, _ string) string {
		return `"` + g.must(toolabi.FuncHTTPSend, "a") + `"`
	}})
	var stolen []journal.Entry
	m.world.during = func(string) { // the other side claims behind the owner's back
		h := m.mem.Handle()
		owner, err := h.Owner()
		if err != nil {
			t.Error(err)
		}
		for s, err := range h.List(context.Background(), journal.Query{Run: "r"}) {
			if err != nil {
				t.Error(err)
			}
			claim := journal.Entry{Kind: journal.Claimed, Owner: owner, Time: s.Time}
			if err := h.Append(context.Background(), "r", s.Len, claim); err != nil {
				t.Error(err)
			}
		}
		h.Kill()
	}
	_, err := m.drive(m.start(nil), steps("charge"))
	var busy *runtime.BusyError
	if !errors.As(err, &busy) {
		t.Fatalf("ended with %v, want busy", err)
	}
	for e := range m.mem.Read(t.Context(), "r", 0) {
		if e.Kind == journal.Late {
			stolen = append(stolen, e)
		}
	}
	if len(stolen) != 1 || stolen[0].Step != "s1/1" || string(stolen[0].Body) != "done a" {
		t.Fatalf("late entries: %+v", stolen)
	}
	m.world.during = nil
	var late *runtime.LateError
	if _, err := m.drive(m.start(nil), steps("charge")); !errors.As(err, &late) {
		t.Errorf("resumed with %v, want late", err)
	}
	if n := m.world.count("a"); n != 1 {
		t.Errorf("charged %d times", n)
	}
}

// A restored run says that a person is needed.
func TestARestoredRunAsks(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), "r", spec, modules, false); err != nil {
		t.Fatal(err)
	}
	m.say(journal.Entry{Kind: journal.Restored})
	_, err := m.drive(p, steps("x"))
	var u *runtime.UnconfirmedError
	if !errors.As(err, &u) || u.Step != "s1/1" || m.status() != journal.Uncertain || m.world.total() != 0 {
		t.Errorf("ended with %v, status %s, %d effects", err, m.status(), m.world.total())
	}
	m.say(journal.Entry{Kind: journal.Record, Name: journal.RecordConfirmed, By: "somebody"})
	if _, err := m.drive(p, steps("x")); err != nil {
		t.Errorf("confirmed: %v", err)
	}
}

// A late outcome of a step that the log does not have otherwise does not count as that step.
func TestALateOutcomeIsNoStepOfItsOwn(t *testing.T) {
	m := newMachine(t, map[string]tool{"charge": one("a")})
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), "r", spec, modules, false); err != nil {
		t.Fatal(err)
	}
	m.say(journal.Entry{Kind: journal.Late, Step: "s1/7", Name: "http_send", Outcome: journal.OK, Owner: "somebody"})
	if err := p.Acknowledge(t.Context(), "r", "somebody", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := m.drive(p, steps("charge")); err != nil || m.world.count("a") != 1 {
		t.Errorf("%v, sent %d times", err, m.world.count("a"))
	}
}

// A reply that came too late says that the effect happened; nobody can say that it did not.
func TestWhatALateOutcomeSaysCannotBeDenied(t *testing.T) {
	m := newMachine(t, map[string]tool{"charge": one("a")})
	m.world.during = func(string) { m.steal() }
	var busy *runtime.BusyError
	if _, err := m.drive(m.start(nil), steps("charge")); !errors.As(err, &busy) || len(busy.Late) != 1 || busy.Late[0] != "s1/1" {
		t.Fatalf("the process that learned it says %v", err)
	}
	p := m.start(nil)
	if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{Now: true}); !errors.Is(err, runtime.ErrContradicted) {
		t.Errorf("did not happen: %v", err)
	}
	if err := p.Resolve(t.Context(), "r", "s1/1", runtime.Resolution{Happened: true, Reply: []byte("done a")}); err != nil {
		t.Errorf("happened: %v", err)
	}
}

// An outcome that comes after the end is told to whoever asks for the run.
func TestAnOutcomeAfterTheEndIsTold(t *testing.T) {
	m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
	p := m.start(nil)
	if _, err := m.drive(p, steps("pure")); err != nil {
		t.Fatal(err)
	}
	m.say(journal.Entry{Kind: journal.Late, Step: "s1/1", Name: "http_send", Outcome: journal.OK, Owner: "somebody"})
	if res, err := m.drive(p, steps("pure")); err != nil || res.Late != 1 || !res.Replayed {
		t.Errorf("%+v, %v", res, err)
	}
	if err := p.Acknowledge(t.Context(), "r", "somebody", ""); err != nil {
		t.Fatal(err)
	}
	if res, err := m.drive(p, steps("pure")); err != nil || res.Late != 0 {
		t.Errorf("acknowledged: %+v, %v", res, err)
	}
}
