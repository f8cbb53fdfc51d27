package runtime_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// beforeAppend calls f once, before the n-th append of a handle.
func beforeAppend(n int, f func()) func(journaltest.Store) journaltest.Store {
	return func(j journaltest.Store) journaltest.Store {
		return journaltest.HookAppends(j, func(i int, committed bool) {
			if i == n && !committed {
				f()
			}
		})
	}
}

func TestASecondProcessIsToldWhoDrives(t *testing.T) {
	m := newMachine(t, nil)
	second := m.start(nil)
	m.tools = map[string]tool{"slow": func(g *guest, _ string) string {
		_, err := second.Drive(g.ctx, "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("slow")}})
		var busy *runtime.BusyError
		if !errors.As(err, &busy) || busy.Who == "" || busy.Unknown {
			t.Errorf("the second process is told %v", err)
		}
		err = second.Resolve(g.ctx, "r", "s1", runtime.Resolution{})
		if !errors.As(err, &busy) {
			t.Errorf("resolving beside a living owner: %v", err)
		}
		return `1`
	}}
	first := m.start(nil)
	if _, err := m.drive(first, steps("slow")); err != nil {
		t.Fatal(err)
	}
}

func TestTheSameProcessDoesNotDriveARunTwiceAtOnce(t *testing.T) {
	m := newMachine(t, nil)
	p := m.start(nil)
	m.tools = map[string]tool{"slow": func(g *guest, _ string) string {
		var busy *runtime.BusyError
		if _, err := p.Drive(g.ctx, "r", runtime.DriveOptions{}); !errors.As(err, &busy) {
			t.Errorf("told %v", err)
		}
		return `1`
	}}
	p.invoker.tools = m.tools
	if _, err := m.drive(p, steps("slow")); err != nil {
		t.Fatal(err)
	}
}

// Entries of others between two of our own leave our results in place, and what the tool's clock was told with them.
func TestResultsAreAppendedAgainBehindWhatOthersWrote(t *testing.T) {
	m := newMachine(t, map[string]tool{"charge": func(g *guest, _ string) string {
		g.must(toolabi.FuncHTTPSend, "a")
		g.must(toolabi.FuncClock, "")
		return `1`
	}})
	note := func() {
		for s, err := range m.mem.List(context.Background(), journal.Query{Run: "r"}) {
			if err != nil {
				t.Error(err)
			}
			e := journal.Entry{Kind: journal.Record, Name: "note", Time: s.Time + 1_000_000_000, By: "someone"}
			if err := m.mem.Append(context.Background(), "r", s.Len, e); err != nil {
				t.Error(err)
			}
		}
	}
	m.world.during = func(string) { note() }
	if _, err := m.drive(m.start(nil), steps("charge")); err != nil {
		t.Fatal(err)
	}
	want := []string{"created", "claimed", "intent s1", "intent s1/1", "record", "result s1/1", "result s1/2", "result s1", "finished"}
	if got := m.log(); !slices.Equal(got, want) {
		t.Errorf("log %v, want %v", got, want)
	}
	for e := range m.mem.Read(t.Context(), "r", 0) {
		if e.Kind == journal.Result && e.Step == "s1/1" && (e.At == 0 || e.At >= e.Time || e.Known() != e.At) {
			t.Errorf("result %+v does not keep what the tool was told", e)
		}
	}
}
