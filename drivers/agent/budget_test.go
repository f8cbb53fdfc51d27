package agent_test

import (
	"errors"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// counting asks for a call in each turn up to the n-th.
const counting = `
replies:
  - when: ${ .turn == 6 }
    say: done
  - call: shop.send
    with: { what: "${ .turn | tostring }" }
    usage: { input: 100, output: 10 }
`

func TestARunOverItsBudgetStopsAndGoesOnWithMore(t *testing.T) {
	for what, c := range map[string]struct {
		limits      agent.Limits
		more        runtime.Budget
		used, limit string
		answers     int
	}{
		"steps":  {agent.Limits{Steps: 4}, runtime.Budget{Steps: 7}, "4", "4", 4},
		"tokens": {agent.Limits{Tokens: 300}, runtime.Budget{Tokens: 1000}, "330", "300", 3},
		"cost":   {agent.Limits{Cost: 700}, runtime.Budget{Cost: 10_000}, "0.0008", "0.0007", 2},
	} {
		t.Run(what, func(t *testing.T) {
			s := newSite(t)
			a := scripted(counting)
			a.Limits = c.limits
			a.Model.Prices = &agent.Prices{Input: 3_000_000, Output: 10_000_000}
			for range 2 { // once more with the same budget changes nothing
				_, err := s.life(nil).run(a, runtime.DriveOptions{})
				var over *runtime.BudgetError
				if !errors.As(err, &over) || over.What != what || over.Used != c.used || over.Limit != c.limit {
					t.Fatalf("got %v", err)
				}
			}
			if s.billed() != c.answers || len(s.sent) != c.answers {
				t.Errorf("the model worked %d times, sent %q", s.billed(), s.sent)
			}
			last := s.entries()[len(s.entries())-1]
			if last.Kind != journal.Released || last.Name != "limit" {
				t.Errorf("the log ends with %s %q", last.Kind, last.Name)
			}
			res, err := s.life(nil).run(a, runtime.DriveOptions{Budget: c.more})
			if err != nil || textOf(t, res.Output) != "done" || s.billed() != 7 || len(s.sent) != 6 {
				t.Errorf("got %s, %v; the model worked %d times, sent %q", res.Output, err, s.billed(), s.sent)
			}
		})
	}
}

func TestWhatIsRecordedIsServedUnderALowerBudget(t *testing.T) {
	s := newSite(t)
	a := scripted(counting)
	a.Limits.Steps = 5
	if _, err := s.life(nil).run(a, runtime.DriveOptions{}); err == nil {
		t.Fatal("it has no limit")
	}
	_, err := s.life(nil).run(a, runtime.DriveOptions{Budget: runtime.Budget{Steps: 2}})
	var over *runtime.BudgetError
	if !errors.As(err, &over) || over.Used != "5" || over.Limit != "2" || s.billed() != 5 {
		t.Errorf("got %v", err)
	}
}

func TestTheTimeOfEarlierDrivingsCounts(t *testing.T) {
	s := newSite(t)
	a := scripted(counting)
	a.Limits = agent.Limits{Steps: 3, TimeMS: int64(time.Hour / time.Millisecond)}
	if _, err := s.life(nil).run(a, runtime.DriveOptions{}); err == nil {
		t.Fatal("it has no limit")
	}
	_, err := s.life(nil).run(a, runtime.DriveOptions{Budget: runtime.Budget{Steps: 100, Time: time.Nanosecond}})
	var over *runtime.BudgetError
	if !errors.As(err, &over) || over.What != "time" || s.billed() != 3 {
		t.Errorf("got %v after %d answers", err, s.billed())
	}
}

func TestACostBeyondAllNumbersIsOverEveryLimit(t *testing.T) {
	s := newSite(t)
	a := scripted(`replies: [{call: shop.echo, with: {n: "${ .turn }"}, usage: {input: 9007199254740992, output: 9007199254740992}}]`)
	a.Model.Prices = &agent.Prices{Input: 999_999_999_000_000, Output: 999_999_999_000_000}
	a.Limits.Cost, a.Limits.Steps = 1<<62, 4
	var over *runtime.BudgetError
	if _, err := s.answer(a); !errors.As(err, &over) || over.What != "cost" || s.billed() != 1 {
		t.Errorf("got %v after %d answers", err, s.billed())
	}
	a.Limits.Cost = 0
	s = newSite(t)
	if _, err := s.answer(a); !errors.As(err, &over) || over.What != "steps" {
		t.Errorf("got %v", err)
	}
	if l := s.ledger(a); l.Paid.Cost <= 0 {
		t.Errorf("the ledger has a cost of %d", l.Paid.Cost)
	}
}
