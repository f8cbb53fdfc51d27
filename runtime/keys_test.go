package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// An effect was cut off and took place. Doing it again fails before anything leaves; the tool is not told that nothing
// happened, and what it sends again has the same key.
func TestAnEffectThatWasCutOffKeepsItsKeyWhateverTheNextAttemptSays(t *testing.T) {
	var told toolabi.EffectState
	m := newMachine(t, map[string]tool{"keyed": func(g *guest, _ string) string {
		if _, err := g.ask(toolabi.FuncHTTPSend, "charge"); err != nil {
			told = err.Effect
			g.must(toolabi.FuncHTTPSend, "charge")
		}
		return `1`
	}})
	h := m.mem.Handle()
	m.world.during = func(string) { m.world.during = nil; h.Kill() }
	if _, err := m.drive(m.process(h, nil), steps("keyed")); err == nil {
		t.Fatal("the kill went by unseen")
	}
	refused := false
	p := m.process(m.mem.Handle(), sending(func(ctx context.Context, c hostfuncs.Call, request []byte) ([]byte, error) {
		if !refused {
			refused = true
			e := toolabi.NewError(toolabi.Unavailable, "connection refused; nothing was sent")
			e.Retry = toolabi.RetrySafe
			return nil, e
		}
		return m.world.send(ctx, c, request)
	}))
	if _, err := m.drive(p, steps("keyed")); err != nil {
		t.Fatal(err)
	}
	if k := m.world.keys["charge"]; len(k) != 2 || k[0] != k[1] || told != toolabi.EffectUnknown {
		t.Errorf("keys %v, and the tool was told effect %s", k, told)
	}
}

// A request that a tool repeats after its key has expired is not sent: it might happen a second time.
func TestAnExpiredKeyIsNotUsedForARepetition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kill func()
		m := newMachine(t, map[string]tool{"keyed": func(g *guest, _ string) string {
			if _, err := g.ask(toolabi.FuncHTTPSend, "charge"); err != nil {
				time.Sleep(time.Second) // of the bubble's time: the outcome is on the disk
				kill()
				_, err = g.ask(toolabi.FuncHTTPSend, "charge")
				if errors.Is(err, toolabi.Expired) && err.Effect == toolabi.EffectUnknown {
					return `"expired"`
				}
			}
			return `"sent"`
		}})
		m.world.drop = 1
		h := m.mem.Handle()
		kill = h.Kill
		if _, err := m.drive(m.process(h, nil), steps("keyed")); err == nil {
			t.Fatal("the kill went by unseen")
		}
		kill = func() {}
		time.Sleep(30 * 24 * time.Hour) // of the bubble's time; the provider remembers keys for an hour
		res, err := m.drive(m.start(nil), steps("keyed"))
		if err != nil || string(res.Output) != `["expired"]` || m.world.count("charge") != 1 {
			t.Errorf("%s, %v, sent %d times", res.Output, err, m.world.count("charge"))
		}
	})
}

// An effect whose key has expired shows as what it is, and a cancellation names it.
func TestAnExpiredEffectIsInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t, map[string]tool{"keyed": one("a")})
		h := m.mem.Handle()
		m.world.during = func(string) { m.world.during = nil; h.Kill() }
		if _, err := m.drive(m.process(h, nil), steps("keyed")); err == nil {
			t.Fatal("the kill went by unseen")
		}
		time.Sleep(48 * time.Hour) // of the bubble's time
		for range 2 {
			var u *runtime.UncertainError
			if _, err := m.drive(m.start(nil), steps("keyed")); !errors.As(err, &u) {
				t.Fatalf("resumed with %v", err)
			}
		}
		for s := range m.mem.List(t.Context(), journal.Query{Run: "r"}) {
			if d := s.InDoubt(); s.Status() != journal.Uncertain || len(d) != 1 || d[0] != "s1/1" {
				t.Errorf("status %s, in doubt %v", s.Status(), d)
			}
		}
		p := m.start(nil)
		if err := p.Cancel(t.Context(), "r", "somebody", ""); err != nil {
			t.Fatal(err)
		}
		m.drive(p, steps("keyed"))
		for e := range m.mem.Read(t.Context(), "r", 0) {
			if e.Kind == journal.Finished && !strings.Contains(e.Note, "s1/1") {
				t.Errorf("the end says %q", e.Note)
			}
		}
	})
}

// The moment until which an effect may leave is looked at last, because the look at the journal can take long.
func TestSendByIsLookedAtLast(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	now := time.Now()
	slow := lookedAt{Store: m.mem.Handle(), on: func() { now = now.Add(time.Hour) }}
	_, err := m.drive(m.process(slow, func(c *runtime.Config) { c.Now = func() time.Time { return now } }), steps("x"))
	if !errors.Is(err, toolabi.Failed) || m.world.count("a") != 0 {
		t.Errorf("ended with %v, sent %d times", err, m.world.count("a"))
	}
}

// A keyed effect is done again under its key while the provider remembers it, and is uncertain afterwards.
func TestAKeyExpires(t *testing.T) {
	for _, late := range []bool{false, true} {
		t.Run(fmt.Sprint("late ", late), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t, map[string]tool{"keyed": one("k")})
				h := m.mem.Handle()
				p := m.start(func(journaltest.Store) journaltest.Store { return h })
				m.world.during = func(string) { h.Kill() }
				if _, err := m.drive(p, steps("keyed")); err == nil {
					t.Fatal("the kill went by unseen")
				}
				m.world.during = nil
				if late {
					time.Sleep(time.Hour) // of the bubble's time: the key's whole life
				}
				_, err := m.drive(m.start(nil), steps("keyed"))
				var u *runtime.UncertainError
				if late {
					if !errors.As(err, &u) || u.Why == "" || m.world.count("k") != 1 {
						t.Errorf("ended with %v after %d sends", err, m.world.count("k"))
					}
					_, _, err = m.finish(steps("keyed"))
				}
				if err != nil {
					t.Error(err)
				}
				if keys := m.world.keys["k"]; len(keys) == 2 && keys[0] != keys[1] {
					t.Errorf("keys %v", keys)
				}
			})
		})
	}
}

// A keyed tool that repeats a request because its outcome is unknown repeats its key.
func TestAToolsOwnRepetitionHasTheSameKey(t *testing.T) {
	m := newMachine(t, map[string]tool{"keyed": func(g *guest, _ string) string {
		if _, err := g.ask(toolabi.FuncHTTPSend, "k"); err != nil {
			g.must(toolabi.FuncHTTPSend, "k")
		}
		g.must(toolabi.FuncHTTPSend, "k") // this one is meant as another
		return `1`
	}})
	m.world.drop = 1
	if _, err := m.drive(m.start(nil), steps("keyed")); err != nil {
		t.Fatal(err)
	}
	if k := m.world.keys["k"]; len(k) != 3 || k[0] != k[1] || k[1] == k[2] {
		t.Errorf("keys %v, want the first two to be the same and the third another", k)
	}
}

// What was once in doubt because its key might have expired stays so, also when the clock says otherwise afterwards.
func TestDoubtAboutAKeyStays(t *testing.T) {
	m := newMachine(t, map[string]tool{"keyed": one("charge")})
	h := m.mem.Handle()
	m.world.during = func(string) { m.world.during = nil; h.Kill() }
	if _, err := m.drive(m.process(h, nil), steps("keyed")); err == nil {
		t.Fatal("the kill went by unseen")
	}
	now := time.Now()
	for _, off := range []time.Duration{-time.Minute, time.Minute, time.Minute} {
		p := m.process(m.mem.Handle(), func(c *runtime.Config) { c.Now = func() time.Time { return now.Add(off) } })
		var u *runtime.UncertainError
		if _, err := m.drive(p, steps("keyed")); !errors.As(err, &u) || u.Why == "" {
			t.Errorf("with a clock that is off by %s: %v", off, err)
		}
	}
	if n := m.world.count("charge"); n != 1 {
		t.Errorf("sent %d times", n)
	}
}

// An intent that was taken back because the log had moved did not use its key.
func TestAKeyThatWasTakenBackIsUnused(t *testing.T) {
	m := newMachine(t, map[string]tool{"keyed": one("charge")})
	store := journaltest.HookAppends(m.mem.Handle(), func(n int, committed bool) {
		if n == 2 && !committed { // instead of the intents
			m.say(journal.Entry{Kind: journal.Record, Name: "note", By: "somebody"})
		}
	})
	p := m.process(store, nil)
	spec, modules := m.spec(`{}`)
	spec.Modules[0].Manifest.Tools[0].KeyTTLMS = 20_000 // shorter than a request may take
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	res, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("keyed")}})
	if err != nil || string(res.Output) != `["done charge"]` {
		t.Errorf("%s, %v", res.Output, err)
	}
}
