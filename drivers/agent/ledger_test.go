package agent_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// three gives three answers of 110 tokens.
const three = `
replies:
  - {when: "${ .turn == 2 }", say: done, usage: {input: 100, output: 10}}
  - {call: shop.send, with: {what: "${ \"\\(.turn)\" }"}, usage: {input: 100, output: 10}}
`

func priced(text string) agent.Agent {
	a := scripted(text)
	a.Model.Prices = &agent.Prices{Input: 1_000_000, Output: 2_000_000}
	return a
}

func unknown() *toolabi.Error {
	e := toolabi.NewError(toolabi.Unavailable, "the connection was closed")
	e.Effect, e.Retry = toolabi.EffectUnknown, toolabi.RetrySafe
	return e
}

func TestTheLedgerOfARunThatNothingHappenedTo(t *testing.T) {
	s := newSite(t)
	a := priced(three)
	if _, err := s.answer(a); err != nil {
		t.Fatal(err)
	}
	l := s.ledger(a)
	want := agent.Tally{Answers: 3, Usage: model.Usage{Input: 300, Output: 30}, Cost: 360}
	if l.Paid != want || l.Served.Answers != 0 || l.Unused.Answers != 0 || len(l.Twice) != 0 || !l.Priced {
		t.Errorf("got %+v", l)
	}
}

func TestAnAnswerThatWasLostMayHaveBeenPaidTwice(t *testing.T) {
	s := newSite(t)
	a := priced(three)
	n := 0
	s.after = func(int) error {
		if n++; n == 2 {
			return unknown()
		}
		return nil
	}
	if _, err := s.answer(a); err != nil {
		t.Fatal(err)
	}
	l := s.ledger(a)
	if l.Paid.Answers != 3 || s.billed() != 4 || len(l.Twice) != 1 || l.Twice[0].Step != "model[1]" || l.Twice[0].Why != "the connection was closed" {
		t.Errorf("the model worked %d times, the ledger is %+v", s.billed(), l)
	}
	if s.bills[l.Twice[0].Key] != 2 {
		t.Errorf("the bills are %v, the ledger doubts %q", s.bills, l.Twice[0].Key)
	}
}

func TestWhatWasRefusedIsNotPaid(t *testing.T) {
	s := newSite(t)
	a := priced(three)
	busy := toolabi.NewError(toolabi.Unavailable, "429")
	busy.Retry = toolabi.RetrySafe
	n := 0
	s.before = func(int) error {
		if n++; n == 2 {
			return busy
		}
		return nil
	}
	if _, err := s.answer(a); err != nil {
		t.Fatal(err)
	}
	if l := s.ledger(a); l.Paid.Answers != 3 || len(l.Twice) != 0 {
		t.Errorf("the ledger is %+v", l)
	}
}

func TestWhatAResumeServesIsSaved(t *testing.T) {
	s := newSite(t)
	a := priced(three)
	a.Limits.Steps = 2
	var over *runtime.BudgetError
	for range 3 {
		if _, err := s.life(nil).run(a, runtime.DriveOptions{}); !errors.As(err, &over) {
			t.Fatal(err)
		}
	}
	if _, err := s.life(nil).run(a, runtime.DriveOptions{Budget: runtime.Budget{Steps: 9}}); err != nil {
		t.Fatal(err)
	}
	l := s.ledger(a)
	if l.Paid.Answers != 3 || l.Served.Answers != 6 || l.Served.Cost != 720 || s.billed() != 3 {
		t.Errorf("the ledger is %+v", l)
	}
}

// The process dies when the model has worked and its answer is not recorded.
func TestACrashWhileTheModelThinksIsInTheLedgerAtOnceAndAfterwards(t *testing.T) {
	s := newSite(t)
	a := priced(three)
	die := func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 3) } // the first answer's
	if _, err := s.life(die).run(a, runtime.DriveOptions{}); err == nil {
		t.Fatal("it did not die")
	}
	if l := s.ledger(a); l.Paid.Answers != 0 || len(l.Twice) != 1 || s.billed() != 1 {
		t.Errorf("before it is resumed the ledger is %+v", l)
	}
	if _, err := s.life(nil).run(a, runtime.DriveOptions{}); err != nil {
		t.Fatal(err)
	}
	l := s.ledger(a)
	if l.Paid.Answers != 3 || len(l.Twice) != 1 || s.bills[l.Twice[0].Key] != 2 {
		t.Errorf("the ledger is %+v, the bills are %v", l, s.bills)
	}
}

func TestWhatTheProviderSentAgainWasPaidOnce(t *testing.T) {
	s := newSite(t)
	a := priced(three)
	die := func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 3) }
	if _, err := s.life(die).run(a, runtime.DriveOptions{}); err == nil {
		t.Fatal("it did not die")
	}
	s.replays = true
	if _, err := s.life(nil).run(a, runtime.DriveOptions{}); err != nil {
		t.Fatal(err)
	}
	if l := s.ledger(a); l.Paid.Answers != 3 || l.Replayed.Answers != 1 || len(l.Twice) != 0 || s.billed() != 3 {
		t.Errorf("the model worked %d times, the ledger is %+v", s.billed(), l)
	}
}

func TestAnAnswerThatCameAfterACancellationIsPaidAndUnused(t *testing.T) {
	s := newSite(t)
	a := priced(three)
	s.after = func(n int) error {
		if n == 2 {
			return s.life(nil).Cancel(context.Background(), "r", "ann", "not needed any more")
		}
		return nil
	}
	_, err := s.answer(a)
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled {
		t.Fatalf("got %v", err)
	}
	if l := s.ledger(a); l.Paid.Answers != 2 || l.Unused.Answers != 1 || len(l.Twice) != 0 || len(s.sent) != 1 || l.Served.Answers != 0 {
		t.Errorf("sent %q, the ledger is %+v", s.sent, l)
	}
}

func TestAForkHasForNothingWhatItsSourcePaid(t *testing.T) {
	s := newSite(t)
	a := priced(three)
	l := s.life(nil)
	if _, err := l.run(a, runtime.DriveOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Fork(t.Context(), "r", "model[2]", "fork", "ann", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Drive(t.Context(), "fork", runtime.DriveOptions{}); err != nil {
		t.Fatal(err)
	}
	s.run = "fork"
	got := s.ledger(a)
	if got.Paid.Answers != 1 || s.billed() != 4 || got.Served.Answers != 2 { // two were copied, and served when it was driven
		t.Errorf("the model worked %d times, the ledger of the fork is %+v", s.billed(), got)
	}
}

func TestWhoSaysWhatBecameOfAnEffectIsServedNothing(t *testing.T) {
	s := newSite(t)
	a := priced(three)
	die := func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 5) } // what was sent first
	if _, err := s.life(die).run(a, runtime.DriveOptions{}); err == nil || len(s.sent) != 1 {
		t.Fatalf("it did not die, and sent %q", s.sent)
	}
	if _, err := s.finish(a); err != nil { // asks, is told, and goes on
		t.Fatal(err)
	}
	if l := s.ledger(a); l.Paid.Answers != 3 || l.Served.Answers != 2 || len(l.Twice) != 0 {
		t.Errorf("the ledger is %+v", l)
	}
}

func TestWhoOnlyClosesARunIsServedNothing(t *testing.T) {
	for name, closes := range map[string]func(*life) error{
		"cancelled": func(l *life) error { return l.Cancel(context.Background(), "r", "ann", "") },
		"abandoned": func(l *life) error { return l.Abandon(context.Background(), "r", "ann", "") },
	} {
		s := newSite(t)
		a := priced(three)
		die := func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 5) }
		if _, err := s.life(die).run(a, runtime.DriveOptions{}); err == nil {
			t.Fatal("it did not die")
		}
		l := s.life(nil)
		if err := closes(l); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name == "cancelled" {
			l.run(a, runtime.DriveOptions{})
		}
		if got := s.ledger(a); got.Paid.Answers != 1 || got.Served.Answers != 0 {
			t.Errorf("%s: the ledger is %+v", name, got)
		}
	}
}

// A request that nobody answered is one request, however the run is closed.
func TestWhoOnlyClosesARunHasSentNothing(t *testing.T) {
	for name, closes := range map[string]func(*site, agent.Agent){
		"cancelled": func(s *site, a agent.Agent) {
			if err := s.life(nil).Cancel(t.Context(), "r", "ann", ""); err != nil {
				t.Fatal(err)
			}
			s.life(nil).run(a, runtime.DriveOptions{})
		},
		"abandoned": func(s *site, _ agent.Agent) {
			if err := s.life(nil).Abandon(t.Context(), "r", "ann", ""); err != nil {
				t.Fatal(err)
			}
		},
	} {
		s := newSite(t)
		a := priced(three)
		die := func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 3) } // the first answer's
		if _, err := s.life(die).run(a, runtime.DriveOptions{}); err == nil {
			t.Fatal("it did not die")
		}
		closes(s, a)
		if l := s.ledger(a); len(l.Twice) != 1 || s.billed() != 1 {
			t.Errorf("%s: the model worked %d times, the ledger doubts %+v", name, s.billed(), l.Twice)
		}
	}
}

// Whoever stops at a limit before the request is sent again has not sent it.
func TestWhoStopsBeforeTheRequestHasNotSentIt(t *testing.T) {
	s := newSite(t)
	a := priced(three)
	die := func(j journaltest.Store) journaltest.Store { return journaltest.CrashBefore(j, 3) }
	if _, err := s.life(die).run(a, runtime.DriveOptions{}); err == nil {
		t.Fatal("it did not die")
	}
	for range 2 {
		var over *runtime.BudgetError
		if _, err := s.life(nil).run(a, runtime.DriveOptions{Budget: runtime.Budget{Time: 1}}); !errors.As(err, &over) {
			t.Fatal(err)
		}
	}
	if l := s.ledger(a); len(l.Twice) != 1 || s.billed() != 1 {
		t.Errorf("the model worked %d times, the ledger doubts %+v", s.billed(), l.Twice)
	}
}

// A request that is refused before it is announced, as one with a secret in it is, was never sent.
func TestWhatWasNeverAnnouncedIsNotInDoubt(t *testing.T) {
	a := priced(three)
	b := agent.NewBookkeeper("r", &a, func(_ context.Context, e journal.Entry) ([]byte, error) { return e.Body, nil })
	body, err := toolabi.Encode(toolabi.NewError(toolabi.Denied, "it holds a secret"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []journal.Entry{
		{Kind: journal.Created}, {Kind: journal.Claimed},
		{Kind: journal.Result, Step: "model[0]", Name: agent.StepName, Outcome: journal.Denied, Body: body},
	} {
		if err := b.Add(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if l := b.Close(false); len(l.Twice) != 0 {
		t.Errorf("the ledger doubts %+v", l.Twice)
	}
}

// What was paid after a backup was made is in no log.
func TestWhatIsAskedAfterARestoreMayHaveBeenPaidBefore(t *testing.T) {
	s := newSite(t)
	a := priced(three)
	a.Limits.Steps = 1
	var over *runtime.BudgetError
	if _, err := s.life(nil).run(a, runtime.DriveOptions{}); !errors.As(err, &over) {
		t.Fatal(err)
	}
	if l := s.ledger(a); len(l.Twice) != 0 {
		t.Fatalf("the ledger doubts %+v", l.Twice)
	}
	all := s.entries()
	last := all[len(all)-1]
	if err := s.mem.Append(t.Context(), "r", last.Seq+1, journal.Entry{Kind: journal.Restored, Time: last.Time, After: last.Hash}); err != nil {
		t.Fatal(err)
	}
	l := s.life(nil)
	if err := l.Confirm(t.Context(), "r", "ann", "nothing was sent"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.run(a, runtime.DriveOptions{Budget: runtime.Budget{Steps: 9}}); err != nil {
		t.Fatal(err)
	}
	if got := s.ledger(a); got.Paid.Answers != 3 || len(got.Twice) != 1 || got.Twice[0].Step != "model[1]" {
		t.Errorf("the ledger is %+v", got)
	}
}
