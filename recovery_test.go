package wrun_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
)

const (
	// longer than a sleep, a pause between attempts, and the time in which a request settles
	later = 2 * time.Hour
	// longer than the time for which a key is remembered
	muchLater = 48 * time.Hour
)

// How many cells there are, and how many of them can exist.
const (
	allCells     = 1701
	visitedCells = 802
)

// Every cell of the recovery table, with real modules, a real server and a journal in memory.
func TestEveryCellOfTheRecoveryTable(t *testing.T) {
	k := newKit(t, "recovery")
	found := make([]int, len(rules))
	all, visited := cells(), 0
	t.Run("cells", func(t *testing.T) {
		for _, c := range all {
			i := ruleOf(c)
			if i < 0 {
				t.Errorf("%s: no rule fits", c)
				continue
			}
			found[i]++
			if rules[i].want == impossible {
				continue
			}
			visited++
			if testing.Short() && found[i] > 1 {
				continue // one cell for each rule
			}
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				mem := journaltest.NewMem()
				journaltest.CheckOnCleanup(t, mem)
				newScene(t, k, c, func() journaltest.Store { return mem.Handle() }).visit(rules[i].want)
			})
		}
	})
	if len(all) != allCells || visited != visitedCells {
		t.Errorf("%d cells, %d of them visited, want %d and %d", len(all), visited, allCells, visitedCells)
	}
	for i, r := range rules {
		if found[i] != r.count {
			t.Errorf("rule %d (%s | %s | %s | %s | %s): %d cells, want %d", i, r.promise, r.function, r.moment, r.attempt, r.said, found[i], r.count)
		}
	}
}

// onBolt says how many cells are visited on a journal in a file too: one for each rule.
const onBolt = 64

// The same with a journal in a file, for the first cell of every rule.
func TestTheRecoveryTableHoldsInAFile(t *testing.T) {
	k := newKit(t, "recovery")
	seen := map[int]bool{}
	visited := 0
	for _, c := range cells() {
		i := ruleOf(c)
		if i < 0 || seen[i] || rules[i].want == impossible {
			continue
		}
		seen[i] = true
		visited++
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "journal.db")
			newScene(t, k, c, func() journaltest.Store { return openBolt(t, file) }).visit(rules[i].want)
			store := openBolt(t, file)
			defer store.Close()
			journaltest.Check(t, store)
		})
	}
	if visited != onBolt {
		t.Errorf("%d cells were visited, want %d", visited, onBolt)
	}
}

func openBolt(t *testing.T, file string) journaltest.Store {
	t.Helper()
	j, err := boltdb.Create(context.Background(), file, boltdb.Options{BusyTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// ruleOf returns the rule that holds for a cell, -1 for none.
func ruleOf(c cell) int {
	for i, r := range rules {
		if r.fits(c) {
			return i
		}
	}
	return -1
}

func newScene(t *testing.T, k *kit, c cell, open func() journaltest.Store) *scene {
	return &scene{cell: c, t: t, kit: k, open: open, world: newWorld(t), base: c.step()}
}

// visit cuts the run off as the cell says, resumes it, lets be said what is to be said, resumes it again, and holds what
// it finds against what is wanted.
func (s *scene) visit(w want) {
	t := s.t
	s.prepare()
	from := uint64(len(s.entriesIfAny()))
	s.world.set(func() { s.world.reached = 0 })

	cut := s.cutOff()
	if cut.how != w.cut {
		t.Fatalf("cut off: ended with %s (%v), want %s", cut.how, cut.err, w.cut)
	}
	entered, looked := 0, cut.entered["seen"]
	s.pass()
	resume := func(want, name string) (*life, error) {
		t.Helper()
		l := s.start()
		how, err := l.drive()
		if how != want {
			t.Fatalf("%s: ended with %s (%v), want %s; log %q", name, how, err, want, s.about(from))
		}
		entered += l.entered[s.tool()]
		looked += l.entered["seen"]
		return l, err
	}
	l, err := resume(w.resume, "resume")
	s.judge(err)
	if w.end != "" {
		s.say(l, w.resume)
		l.Close()
		l, _ = resume(w.end, "resume after something was said")
	}
	l.Close()
	got := want{
		cut: cut.how, resume: w.resume, end: w.end, saw: s.saw(), reached: s.world.count(), keys: s.keys(),
		entered: entered, looked: looked, log: s.about(from),
	}
	if got != w {
		t.Errorf("got  %+v\nwant %+v", got, w)
	}
	s.again(w, from)
}

// judge holds what a resume says of an effect in doubt against what is known.
func (s *scene) judge(err error) {
	s.t.Helper()
	var u *runtime.UncertainError
	if !errors.As(err, &u) {
		return
	}
	if u.Step != s.base || (u.Evidence != nil) != (s.moment == "lost") {
		s.t.Errorf("uncertain about %s with evidence %+v, want %s", u.Step, u.Evidence, s.base)
	}
}

// say lets somebody or the clock say what the run waits for.
func (s *scene) say(l *life, how string) {
	s.t.Helper()
	res := runtime.Resolution{By: "somebody", NewKey: s.said == "says so with another key", Now: s.said == "says so with another key"}
	switch {
	case s.said == "says nothing":
		return
	case s.function == "approve":
		if err := l.Answer(s.t.Context(), "r", s.base, runtime.Answer{Yes: s.said == "yes", By: "somebody"}); err != nil {
			s.t.Fatal(err)
		}
		return
	case how == "waiting":
		s.advance(later)
		return
	}
	s.world.mu.Lock()
	res.Happened = s.world.acted
	s.world.mu.Unlock()
	if res.Happened {
		reply, err := hostfuncs.ParseSaidReply([]byte(`{"status":201}`))
		if err != nil {
			s.t.Fatal(err)
		}
		res.Reply = reply
	}
	err := l.Resolve(s.t.Context(), "r", s.base, res)
	var soon *runtime.TooSoonError
	settled := s.sender() == "keyed too late" && !s.expired() // else the last request may have left just now
	if errors.As(err, &soon) != (!res.Happened && !res.Now && !settled) {
		s.t.Errorf("it did not happen, said at once: %v", err)
	}
	if soon != nil {
		s.advance(later)
		err = l.Resolve(s.t.Context(), "r", s.base, res)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// expired says whether the log holds that the step's key is not remembered any more.
func (s *scene) expired() bool {
	return slices.ContainsFunc(s.entries(0), func(e journal.Entry) bool {
		return e.Kind == journal.Record && e.Name == journal.RecordExpired && e.Step == s.base
	})
}

// saw is what the tool saw of the function, as the output tells; "" for a run that has none, and for the call itself.
func (s *scene) saw() string {
	s.t.Helper()
	all := s.entries(0)
	last := all[len(all)-1]
	if last.Kind != journal.Finished || last.Outcome != journal.OK || s.function == "nothing but itself" {
		return ""
	}
	var saw []string
	if err := json.Unmarshal(last.Body, &saw); err != nil {
		s.t.Fatalf("output %s: %v", last.Body, err)
	}
	if s.attempt == "after a retry" {
		saw = saw[1:]
	}
	return strings.Join(saw[1:len(saw)-1], ", ") // between what it said before and after
}

// again resumes the run once more: a closed one returns what it returned, any other stops where it stopped, and nothing
// is executed.
func (s *scene) again(w want, from uint64) {
	s.t.Helper()
	how := w.end
	if how == "" {
		how = w.resume
	}
	before, length := s.about(from), len(s.entries(0))
	l := s.start()
	defer l.Close()
	got, err := l.drive()
	if got != how {
		s.t.Errorf("resumed once more: ended with %s (%v), want %s", got, err, how)
	}
	if s.world.count() != w.reached || s.about(from) != before {
		s.t.Errorf("resumed once more: %d requests, log %q, before that %d and %q", s.world.count(), s.about(from), w.reached, before)
	}
	if closed := how == "done" || how == "failed"; closed && (len(l.entered) > 0 || len(s.entries(0)) != length) {
		s.t.Errorf("resumed once more: entered %v, %d entries, %d before", l.entered, len(s.entries(0)), length)
	}
}
