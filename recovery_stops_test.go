package wrun_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// story is a row of the table that is about a whole run.
type story struct {
	row    string
	before func(*scene, *life)                // what is said before the run is resumed
	drive  func(*scene, *life) runtime.Driver // another driver than the run began with; nil for the same
	ends   func(error) bool
	after  func(*scene, *life) error // what lets the run go on; nil where nothing can
}

var stories = []story{
	{row: rowOther, drive: func(s *scene, _ *life) runtime.Driver {
		return func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			return r.Call(ctx, "call", "recovery.once", []byte(`{"script":[]}`))
		}
	}, ends: diverged, after: func(*scene, *life) error { return nil }},
	{row: rowUnasked, drive: func(*scene, *life) runtime.Driver {
		return func(context.Context, *runtime.Run) ([]byte, error) { return []byte(`1`), nil }
	}, ends: diverged, after: func(*scene, *life) error { return nil }},
	{row: rowRestored, before: func(s *scene, _ *life) { s.append(journal.Entry{Kind: journal.Restored}) }, ends: func(err error) bool {
		var u *runtime.UnconfirmedError
		return errors.As(err, &u)
	}, after: func(s *scene, l *life) error { return l.Confirm(s.t.Context(), "r", "somebody", "") }},
	{row: rowLate, before: func(s *scene, _ *life) {
		s.append(journal.Entry{Kind: journal.Late, Step: "call/1", Name: toolabi.FuncHTTPSend, Outcome: journal.OK, Owner: "somebody"})
	}, ends: func(err error) bool {
		var l *runtime.LateError
		return errors.As(err, &l)
	}, after: func(s *scene, l *life) error { return l.Acknowledge(s.t.Context(), "r", "somebody", "") }},
	{row: rowCancel, before: func(s *scene, l *life) {
		if err := l.Cancel(s.t.Context(), "r", "somebody", ""); err != nil {
			s.t.Fatal(err)
		}
	}, ends: func(err error) bool {
		var f *runtime.FailedError
		return errors.As(err, &f) && f.Outcome == journal.Cancelled
	}},
}

func diverged(err error) bool {
	var d *runtime.DivergedError
	return errors.As(err, &d)
}

// A call that was cut off before it sent is not gone on with while one of these stands against it, and nothing is
// executed until that is settled.
func TestWhatStopsARunBeforeItSends(t *testing.T) {
	k := newKit(t, "recovery")
	for _, st := range stories {
		t.Run(st.row, func(t *testing.T) {
			t.Parallel()
			mem := journaltest.NewMem()
			journaltest.CheckOnCleanup(t, mem)
			s := newScene(t, k, cell{promise: "once", function: "send", moment: "announcing", attempt: "first"}, func() journaltest.Store { return mem.Handle() })
			cut := s.start()
			cut.at = func(use string, _ bool) { // in the call, before it sends
				if use == "before" {
					cut.flushed()
				}
			}
			if how, err := cut.drive(); how != "killed" {
				t.Fatalf("cut off: %s (%v)", how, err)
			}
			l := s.start()
			defer l.Close()
			if st.before != nil {
				st.before(s, l)
			}
			for range 2 {
				if st.drive != nil {
					l.driver = st.drive(s, l)
				}
				if _, err := l.drive(); !st.ends(err) {
					t.Fatalf("ended with %v", err)
				}
			}
			if s.world.count() != 0 || strings.Contains(s.about(0), "intent") {
				t.Errorf("%d requests, log %q", s.world.count(), s.about(0))
			}
			if st.after == nil {
				return
			}
			l.driver = nil
			if err := st.after(s, l); err != nil {
				t.Fatal(err)
			}
			if how, err := l.drive(); how != "done" || s.world.count() != 1 {
				t.Errorf("ended with %s (%v) after %d requests", how, err, s.world.count())
			}
		})
	}
}

// The question comes before the call: the module is entered once somebody has agreed, and not before.
func TestACallThatNobodyHasAgreedToIsNotEntered(t *testing.T) {
	k := newKit(t, "recovery")
	m := k.byName["recovery"]
	m.Manifest.Tools = slices.Clone(m.Manifest.Tools)
	for i := range m.Manifest.Tools {
		m.Manifest.Tools[i].Approval = m.Manifest.Tools[i].Name == "once"
	}
	k.byName["recovery"] = m
	mem := journaltest.NewMem()
	journaltest.CheckOnCleanup(t, mem)
	s := newScene(t, k, cell{promise: "once", function: "send", moment: "announcing", attempt: "first"}, func() journaltest.Store { return mem.Handle() })
	for range 2 {
		l := s.start()
		if how, err := l.drive(); how != "waiting" || len(l.entered) > 0 {
			t.Errorf("%s: ended with %s (%v), entered %v", rowAgree, how, err, l.entered)
		}
		l.Close()
	}
	l := s.start()
	defer l.Close()
	if err := l.Answer(t.Context(), "r", "call", runtime.Answer{Yes: true, By: "somebody"}); err != nil {
		t.Fatal(err)
	}
	if how, err := l.drive(); how != "done" || s.world.count() != 1 || l.entered["once"] != 1 {
		t.Errorf("ended with %s (%v) after %d requests, entered %v", how, err, s.world.count(), l.entered)
	}
}

// append says something at the end of the log, as another process would.
func (s *scene) append(e journal.Entry) {
	s.t.Helper()
	store := s.open()
	defer store.Close()
	for state, err := range store.List(s.t.Context(), journal.Query{Run: "r"}) {
		if err != nil {
			s.t.Fatal(err)
		}
		e.Time = state.Time
		if err := store.Append(s.t.Context(), "r", state.Len, e); err != nil {
			s.t.Fatal(err)
		}
	}
}
