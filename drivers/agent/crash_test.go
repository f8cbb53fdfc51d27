package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
)

// shapes are agents with known effects and a known number of answers.
var shapes = map[string]struct {
	agent   agent.Agent
	sent    []string
	answers int
}{
	"durability": {scripted(`
replies:
  - {when: "${ .turn > 0 }", say: done}
  - {call: shop.send, with: {what: rent}}`), []string{`{"what":"rent"}`}, 2},
	"approval": {scripted(`
replies:
  - {when: "${ .turn > 0 }", say: done}
  - {call: shop.ask, with: {what: rent}}`), []string{`{"what":"rent"}`}, 2},
	"parallel": {scripted(`
replies:
  - {when: "${ .turn > 1 }", say: done}
  - calls: [{tool: shop.send, with: {what: "${ \"a\\(.turn)\" }"}}, {tool: shop.echo}, {tool: shop.ask, with: {what: "${ \"b\\(.turn)\" }"}}, {tool: shop.fail}]`),
		[]string{`{"what":"a0"}`, `{"what":"a1"}`, `{"what":"b0"}`, `{"what":"b1"}`}, 3},
}

func TestNoCrashPointRepeatsAnEffectOrHidesAPayment(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, crash := range []struct {
				when string
				at   func(journaltest.Store, int) *journaltest.Crasher
			}{{"before", journaltest.CrashBefore}, {"after", journaltest.CrashAfter}} {
				for n := 1; ; n++ {
					s := newSite(t)
					var c *journaltest.Crasher
					s.life(func(j journaltest.Store) journaltest.Store {
						c = crash.at(j, n)
						return c
					}).run(shape.agent, runtime.DriveOptions{})
					crashed := c.Crashed()
					s.settled(fmt.Sprintf("%s append %d", crash.when, n), shape.agent, shape.sent, shape.answers)
					if !crashed {
						break
					}
				}
			}
		})
	}
}

// settled brings the run to its end and holds the world and the provider's bills against the log.
func (s *site) settled(where string, a agent.Agent, sent []string, answers int) {
	s.t.Helper()
	res, err := s.finish(a)
	if err != nil || textOf(s.t, res.Output) != "done" {
		s.t.Errorf("%s: it ended with %s, %v", where, res.Output, err)
		return
	}
	slices.Sort(s.sent)
	if !slices.Equal(s.sent, sent) {
		s.t.Errorf("%s: %q took place, want %q", where, s.sent, sent)
	}
	l := s.ledger(a)
	if l.Paid.Answers != answers {
		s.t.Errorf("%s: %d answers are paid, want %d", where, l.Paid.Answers, answers)
	}
	said := map[string]int{}
	for _, u := range l.Twice {
		said[u.Key]++
	}
	unanswered := s.unanswered()
	for key, n := range s.bills {
		if n > 1+said[key] {
			s.t.Errorf("%s: %s was worked on %d times, the ledger doubts %d", where, key, n, said[key])
		}
	}
	for key, n := range said {
		if n > unanswered[key] {
			s.t.Errorf("%s: the ledger doubts %s %d times, and %d were without an answer", where, key, n, unanswered[key])
		}
	}
}

// unanswered counts, from the log alone, how often a process ended between a request and its answer, by keys.
func (s *site) unanswered() map[string]int {
	open, ends := map[journal.Step]string{}, map[string]int{}
	for _, e := range s.entries() {
		switch {
		case e.Kind == journal.Claimed:
			for _, key := range open {
				ends[key]++
			}
		case e.Name == agent.StepName && e.Kind == journal.Intent:
			open[e.Step] = e.Key
		case e.Name == agent.StepName && e.Kind == journal.Result:
			delete(open, e.Step)
		}
	}
	return ends
}

// Another process takes the run over while the model thinks: what the model then answers is paid, and decides nothing.
func TestADecisionOfAProcessThatWasTakenOverDecidesNothing(t *testing.T) {
	s := newSite(t)
	a := shapes["durability"].agent
	s.after = func(n int) error {
		if n == 1 {
			s.takeOver()
		}
		return nil
	}
	l := s.life(nil)
	_, err := l.run(a, runtime.DriveOptions{})
	var busy *runtime.BusyError
	if !errors.As(err, &busy) || !slices.Equal(busy.Late, []journal.Step{"model[0]"}) || len(s.sent) != 0 {
		t.Fatalf("the first process got %v, and sent %q", err, s.sent)
	}
	if err := l.Acknowledge(t.Context(), "r", "ann", "seen"); err != nil {
		t.Fatal(err)
	}
	res, err := s.finish(a)
	if err != nil || textOf(t, res.Output) != "done" {
		t.Fatalf("the second process got %s, %v", res.Output, err)
	}
	got := s.ledger(a) // the one that died may have asked as well
	if len(s.sent) != 1 || got.Paid.Answers != 3 || got.Unused.Answers != 1 || len(got.Twice) != 1 || s.billed() != 3 {
		t.Errorf("sent %q, billed %d, the ledger is %+v", s.sent, s.billed(), got)
	}
}

// takeOver claims the run for a process that dies at once.
func (s *site) takeOver() {
	h := s.mem.Handle()
	owner, err := h.Owner()
	if err != nil {
		s.t.Fatal(err)
	}
	all := s.entries()
	last := all[len(all)-1]
	if err := h.Append(s.t.Context(), "r", uint64(len(all)), journal.Entry{Kind: journal.Claimed, Owner: owner, Time: last.Time}); err != nil {
		s.t.Fatal(err)
	}
	h.Kill()
}
