package runtime_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// An answer that comes while another branch is still under way finds a run that is about to be released as waiting.
func TestAnAnswerThatComesWhileTheRunIsDrivenIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := agreeing(t)
		m.tools["work"] = func(g *guest, _ string) string { return `"` + g.must(toolabi.FuncHTTPSend, "work") + `"` }
		other := m.start(nil)
		m.world.during = func(string) {
			m.world.during = nil
			if err := other.Answer(t.Context(), "r", "a", runtime.Answer{Yes: true, By: "ann"}); err != nil {
				t.Error(err)
			}
		}
		driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			_, first := r.Call(ctx, "a", "m.pay", []byte(`1`))
			_, second := r.Call(ctx, "b", "m.work", []byte(`1`))
			return []byte(`1`), errors.Join(first, second)
		}
		var w *runtime.WaitingError
		if _, err := m.drive(m.start(nil), driver); !errors.As(err, &w) {
			t.Fatalf("ended with %v", err)
		}
		p := m.process(m.mem.Handle(), func(c *runtime.Config) {
			c.Drivers = map[string]runtime.DriverInfo{"test": {Drive: driver}}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of the bubble's time
		defer cancel()
		if err := p.Await(ctx, "r"); err != nil {
			t.Errorf("waiting for it ended with %v", err)
		}
		if got := work(t, p); !slices.Equal(got, []string{"r"}) || m.status() != journal.Done || m.world.count("pay 1") != 1 {
			t.Errorf("drove %v, status %s, effects %v", got, m.status(), m.world.effects)
		}
		if got := work(t, p); len(got) != 0 {
			t.Errorf("drove %v once more", got)
		}
	})
}

// A log whose time lies beyond the end of a yes, and a clock that was set back to before it: the log's time counts.
func TestAClockThatWasSetBackDoesNotBringAnApprovalBack(t *testing.T) {
	for _, answered := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := agreeing(t)
			p := m.start(nil)
			spec, modules := m.spec(`{}`)
			if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
				t.Fatal(err)
			}
			opts := runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: pays(`1`)}, ApproveBy: time.Now().Add(time.Hour)}
			if _, err := p.Drive(t.Context(), "r", opts); err == nil {
				t.Fatal("it did not wait")
			}
			yes := runtime.Answer{Yes: true, By: "ann"}
			if answered {
				if err := p.Answer(t.Context(), "r", "a", yes); err != nil {
					t.Fatal(err)
				}
			}
			m.append(journal.Entry{Kind: journal.Record, Name: "note", Time: time.Now().Add(2 * time.Hour).UnixNano()})
			if !answered {
				var refused *runtime.JournalError
				if err := p.Answer(t.Context(), "r", "a", yes); !errors.Is(err, journal.ErrExpired) || errors.As(err, &refused) {
					t.Errorf("answered with %v", err)
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			looks := 0
			p = m.process(m.mem.Handle(), func(c *runtime.Config) {
				c.Now = func() time.Time {
					if looks++; looks == 1000 {
						cancel() // it goes round in circles
					}
					return time.Now()
				}
			})
			if _, err := p.Drive(ctx, "r", opts); !errors.Is(err, toolabi.Denied) || m.world.total() != 0 {
				t.Errorf("ended with %v after %d looks at the clock", err, looks)
			}
		})
	}
}

// append appends an entry to the log of run r, as another process may.
func (m *machine) append(e journal.Entry) {
	m.t.Helper()
	for s, err := range m.mem.List(context.Background(), journal.Query{Run: "r"}) {
		if err != nil {
			m.t.Fatal(err)
		}
		e.Time = max(e.Time, s.Time)
		if err := m.mem.Append(context.Background(), "r", s.Len, e); err != nil {
			m.t.Fatal(err)
		}
	}
}

// A no that comes at the very moment at which the question expires is what is recorded, so it is what the tool is told.
func TestWhoAsksIsToldTheAnswerThatTheLogHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ask := encoded(t, toolabi.ApproveRequest{Text: "ok?", ExpiresMS: 3_600_000})
		m := newMachine(t, map[string]tool{"ask": func(g *guest, _ string) string {
			_, err := g.ask(toolabi.FuncApprove, ask)
			g.must(toolabi.FuncHTTPSend, err.Message)
			return `1`
		}})
		if _, err := m.drive(m.start(nil), steps("ask")); err == nil {
			t.Fatal("it did not wait")
		}
		time.Sleep(2 * time.Hour)
		no := func() {
			if err := m.start(nil).Answer(t.Context(), "r", "s1/1", runtime.Answer{By: "bob"}); err != nil {
				t.Error(err)
			}
		}
		h := m.mem.Handle()
		m.world.during = func(string) { h.Kill() }
		p := m.start(func(journaltest.Store) journaltest.Store { return beforeAppend(2, no)(h) }) // 1 is claimed
		if _, err := m.drive(p, steps("ask")); !errors.Is(err, journal.ErrUnusable) {
			t.Fatalf("the kill shows as %v", err)
		}
		m.world.during = nil
		var u *runtime.UncertainError
		if _, err := m.drive(m.start(nil), steps("ask")); !errors.As(err, &u) || m.world.count("bob said no") != 1 {
			t.Errorf("ended with %v, effects %v", err, m.world.effects)
		}
	})
}

// The same, where the question is whether a call may begin, and is put again because more was granted.
func TestANoThatComesWhileTheQuestionIsPutAgainCounts(t *testing.T) {
	m := agreeing(t)
	_, _ = m.drive(m.start(nil), pays(`1`))
	no := func() {
		if err := m.start(nil).Answer(t.Context(), "r", "a", runtime.Answer{By: "bob"}); err != nil {
			t.Error(err)
		}
	}
	opts := runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: pays(`1`)}}
	opts.Grants.HTTP = []string{"https://example.com"}
	_, err := m.start(beforeAppend(3, no)).Drive(t.Context(), "r", opts) // 1 is claimed, 2 the grants
	if !errors.Is(err, toolabi.Denied) || !strings.Contains(err.Error(), "bob said no") {
		t.Errorf("ended with %v, log %v", err, m.log())
	}
}

// damagedRun is a journal in which one run cannot be read.
type damagedRun struct {
	journaltest.Store
	run string
}

func (d damagedRun) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	if run == d.run {
		return func(yield func(journal.Entry, error) bool) { yield(journal.Entry{}, journal.ErrDamaged) }
	}
	return d.Store.Read(ctx, run, from)
}

func TestADamagedRunDoesNotHideWhatOthersWaitFor(t *testing.T) {
	m := agreeing(t)
	spec, modules := m.spec(`{}`)
	p := m.start(nil)
	for _, run := range []string{"a", "b", "c"} {
		if _, err := p.Start(t.Context(), run, spec, modules, false); err != nil {
			t.Fatal(err)
		}
		if _, err := driveFork(t, p, run, pays(`1`)); err == nil {
			t.Fatal("it did not wait")
		}
	}
	var found, damaged []string
	for item, err := range m.start(func(s journaltest.Store) journaltest.Store { return damagedRun{s, "b"} }).Inbox(t.Context()) {
		switch {
		case errors.Is(err, journal.ErrDamaged):
			damaged = append(damaged, item.Run)
		case err != nil:
			t.Error(err)
		default:
			found = append(found, item.Run)
		}
	}
	if !slices.Equal(found, []string{"a", "c"}) || !slices.Equal(damaged, []string{"b"}) {
		t.Errorf("found %v, damaged %v", found, damaged)
	}
}

// Whoever waits for a run is told when another process left it to somebody.
func TestWhoeverWaitsIsToldThatTheRunBecameUncertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := agreeing(t)
		p := m.start(nil)
		if _, err := m.drive(p, pays(`1`)); err == nil {
			t.Fatal("it did not wait")
		}
		m.world.drop = 1
		if err := p.Answer(t.Context(), "r", "a", runtime.Answer{Yes: true}); err != nil {
			t.Fatal(err)
		}
		var u *runtime.UncertainError
		if _, err := m.drive(m.start(nil), pays(`1`)); !errors.As(err, &u) {
			t.Fatalf("ended with %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // of the bubble's time
		defer cancel()
		if err := p.Await(ctx, "r"); err != nil {
			t.Errorf("waiting for it ended with %v", err)
		}
	})
}

// A run that is cancelled while another process drives it can go on once that process has let go of it, and not before.
func TestWhoeverWaitsForACancelledRunIsNotTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"charge": one("a")})
		p := m.start(nil)
		driven := true
		m.world.during = func(string) {
			if err := p.Cancel(t.Context(), "r", "ann", ""); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute) // of the bubble's time
			driven = false
		}
		done := make(chan error)
		go func() {
			_, err := m.drive(m.start(nil), steps("charge", "charge"))
			done <- err
		}()
		time.Sleep(time.Second)
		if err := p.Await(t.Context(), "r"); err != nil || driven {
			t.Errorf("waiting for it ended with %v while it is driven: %v", err, driven)
		}
		if err := <-done; err == nil {
			t.Error("it was not cancelled")
		}
	})
}

// A cancellation that lands before the release of a run that waits closes the run, and nobody has to come back for that.
func TestACancellationThatMeetsTheReleaseClosesTheRun(t *testing.T) {
	m := agreeing(t)
	other := m.start(nil)
	p := m.start(beforeAppend(2, func() { // 1 is the claim, 2 the question with the release
		if err := other.Cancel(t.Context(), "r", "somebody", ""); err != nil {
			t.Error(err)
		}
	}))
	_, err := m.drive(p, pays(`1`))
	var f *runtime.FailedError
	if !errors.As(err, &f) || f.Outcome != journal.Cancelled || m.status() != journal.CancelledUp {
		t.Errorf("ended with %v, status %s, log %v", err, m.status(), m.log())
	}
}
