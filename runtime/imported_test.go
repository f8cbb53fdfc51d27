package runtime_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// A run that was imported before it was finished is somebody else's to drive, and nobody is asked about it here.
func TestAnImportedRunIsDrivenElsewhere(t *testing.T) {
	for _, toolName := range []string{"nap", "ask"} {
		synctest.Test(t, func(t *testing.T) {
			m := newMachine(t, map[string]tool{
				"nap": napping(t, time.Hour),
				"ask": func(g *guest, _ string) string { return g.must("approve", encoded(t, map[uint64]any{1: "may I?"})) },
			})
			p := m.start(nil)
			if _, err := m.drive(p, steps(toolName)); err == nil {
				t.Fatal("it did not wait")
			}
			run, at := "", uint64(0)
			for s, err := range p.store.List(t.Context(), journal.Query{}) {
				if err != nil {
					t.Fatal(err)
				}
				run, at = s.Run, s.Len
			}
			note := journal.Entry{Kind: journal.Record, Name: journal.RecordImported, Time: math.MaxInt64}
			if err := p.store.Append(t.Context(), run, at, note); err != nil {
				t.Fatal(err)
			}
			if m.status() != journal.Elsewhere {
				t.Errorf("it is %s", m.status())
			}
			time.Sleep(2 * time.Hour) // the bubble's clock
			p = m.start(nil)
			if worked := work(t, p); len(worked) != 0 {
				t.Errorf("it was driven: %v", worked)
			}
			for item, err := range p.Inbox(t.Context()) {
				t.Errorf("the inbox has %+v, %v", item, err)
			}
			if err := p.Await(t.Context(), run); err != nil {
				t.Errorf("await: %v", err)
			}
			_, driven := m.drive(p, steps(toolName))
			for what, err := range map[string]error{
				"drive":  driven,
				"answer": p.Answer(t.Context(), run, "s1/1", runtime.Answer{Yes: true, By: "me"}),
				"cancel": p.Cancel(t.Context(), run, "me", ""),
			} {
				if !errors.Is(err, journal.ErrImported) {
					t.Errorf("%s: %v, want %v", what, err, journal.ErrImported)
				}
			}
			if got := m.log(); got[len(got)-1] != "record imported" && got[len(got)-1] != "record" {
				t.Errorf("the log goes on: %v", got)
			}
		})
	}
}

// A run that was finished where it comes from can be undone there as well: undone in both, it would be undone twice.
func TestAnImportedRunIsUndoneElsewhere(t *testing.T) {
	m := refunding(t)
	p := m.start(nil)
	if _, err := m.drive(p, func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "a", "m.charge", []byte(`"a"`))
	}); err != nil {
		t.Fatal(err)
	}
	at := uint64(len(m.log()))
	note := journal.Entry{Kind: journal.Record, Name: journal.RecordImported, Time: math.MaxInt64}
	if err := p.store.Append(t.Context(), "r", at, note); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Rollback(t.Context(), "r", "ann", ""); !errors.Is(err, journal.ErrImported) {
		t.Errorf("rollback: %v, want %v", err, journal.ErrImported)
	}
	for s, err := range p.store.List(t.Context(), journal.Query{Run: runtime.RollbackOf("r")}) {
		t.Errorf("it was begun: %+v, %v", s, err)
	}
}

// A fork of an imported run is driven here, and knows where what it begins with was made.
func TestAForkOfAnImportedRunSaysWhereItBegan(t *testing.T) {
	m, driver := three(t)
	p := m.start(nil)
	if _, err := m.drive(p, driver); err != nil {
		t.Fatal(err)
	}
	from := journal.Digest{7}
	note := journal.Entry{Kind: journal.Record, Name: journal.RecordImported, Time: time.Now().UnixNano(), Body: from[:]}
	if err := p.store.Append(t.Context(), "r", uint64(len(m.log())), note); err != nil {
		t.Fatal(err)
	}
	of := "r"
	for _, run := range []string{"f", "g"} {
		if _, err := p.Fork(t.Context(), of, "b", run, "ann", ""); err != nil {
			t.Fatal(err)
		}
		of = run
		h, end := new(journal.History), uint64(0)
		for e, err := range p.store.Read(t.Context(), run, 0) {
			if err != nil {
				t.Fatal(err)
			}
			h.Add(e)
			end = e.Seq
		}
		origin, elsewhere := h.Origin(h.Find("a").Intent.Seq)
		if _, here := h.Origin(end); !elsewhere || origin != from || here || h.Imported() {
			t.Errorf("%s: a is from %s, %t; what comes next from elsewhere %t; imported %t", run, origin.Short(), elsewhere, here, h.Imported())
		}
		if _, err := driveFork(t, p, run, driver); err != nil {
			t.Errorf("drive %s: %v", run, err)
		}
	}
}
