package plan_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

const agreed = `
tools: {shop: shop.wasm}
steps:
  - id: payments
    for_each: ${ .input }
    as: n
    limit: 3
    steps:
      - id: ask
        approve: { text: "pay ${ .n }?", detail: { n: "${ .n }" }, within: 1h }
        on_error: continue
      - { id: pay, tool: shop.send, if: "${ .ask.by }", with: { what: "pay ${ .n }, ${ .ask.by } agreed" } }
  - { id: while, sleep: 90m }
  - { id: end, sleep: { until: "${ .payments | length | 946684800 + 86400 * . | todateiso8601 }" } }
output: ${ [.payments[] | .input.what // .error.code] }
`

// waits goes on with the run, which must then wait, and returns for what and until when.
func (s *site) waits(text, input string) (*runtime.Engine, []journal.Step, time.Time) {
	s.t.Helper()
	e, _, err := s.life(text, input, same)
	var w *runtime.WaitingError
	if !errors.As(err, &w) {
		s.t.Fatalf("got %v, want the run to wait", err)
	}
	steps := append([]journal.Step{w.Step}, w.Also...)
	slices.Sort(steps)
	return e, steps, w.Due
}

func TestARunWaitsForPeopleAndTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const input = "[5, 6, 7, 8]"
		s := newSite(t)
		e, steps, _ := s.waits(agreed, input)
		if want := []journal.Step{"ask[0]", "ask[1]", "ask[2]"}; !reflect.DeepEqual(steps, want) {
			t.Fatalf("waits for %q, want %q: all that the limit lets begin are asked at once", steps, want)
		}
		answer := func(step journal.Step, yes bool) {
			t.Helper()
			if err := e.Answer(t.Context(), "r", step, runtime.Answer{Yes: yes, By: "ada"}); err != nil {
				t.Fatal(err)
			}
		}
		answer("ask[2]", true)
		if e, steps, _ = s.waits(agreed, input); fmt.Sprint(steps, s.sent) != `[ask[0] ask[1]] [{"what":"pay 7, ada agreed"}]` {
			t.Fatalf("waits for %q, sent %q", steps, s.sent)
		}
		answer("ask[0]", false)
		if e, steps, _ = s.waits(agreed, input); fmt.Sprint(steps) != `[ask[1] ask[3]]` {
			t.Fatalf("waits for %q: the denial was handled, so the last is asked", steps)
		}
		answer("ask[1]", true)
		time.Sleep(2 * time.Hour) // nobody answers the last question
		begun := time.Now()
		_, steps, due := s.waits(agreed, input)
		if fmt.Sprint(steps) != "[while]" || !due.Equal(begun.Add(90*time.Minute)) {
			t.Fatalf("waits for %q until %s, want 90 minutes after %s", steps, due, begun)
		}
		time.Sleep(time.Hour)
		if _, _, due = s.waits(agreed, input); !due.Equal(begun.Add(90 * time.Minute)) {
			t.Fatalf("after an hour the pause ends at %s: it began anew", due)
		}
		time.Sleep(time.Hour)
		_, steps, due = s.waits(agreed, input)
		if want := time.Date(2000, 1, 5, 0, 0, 0, 0, time.UTC); fmt.Sprint(steps) != "[end]" || !due.Equal(want) {
			t.Fatalf("waits for %q until %s, want %s", steps, due, want)
		}
		time.Sleep(time.Until(due))
		res, err := s.finish(agreed, input)
		want := `["denied","pay 6, ada agreed","pay 7, ada agreed","denied"]`
		if err != nil || string(res.Output) != want {
			t.Errorf("output %s, %v, want %s", res.Output, err, want)
		}
		if len(s.sent) != 2 {
			t.Errorf("effects %q, want the two that were agreed to", s.sent)
		}
	})
}

func TestACallIsTriedAgainAsThePlanSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		const text = `
tools: {shop: shop.wasm}
steps:
  - { id: x, tool: shop.pure_fail, retry: { attempts: 3, backoff: 100ms }, on_error: continue }
  - { id: y, tool: shop.pure_fail, with: { once: true }, on_error: continue }
output: ${ [.x, .y] | map(.error.message) }
`
		_, _, err := s.life(text, "1", same)
		if err != nil || len(s.inputs["pure_fail"]) != 4 {
			t.Errorf("entered with %q, %v, want the first three times", s.inputs["pure_fail"], err)
		}
	})
}

// patiently goes on with a run as often as it takes, each process with the journal that wrap makes: it says what is asked,
// no to the first question, and lets the time pass.
func (s *site) patiently(text, input string, wrap func(process int, j journaltest.Store) journaltest.Store) (runtime.Result, error) {
	s.t.Helper()
	for process := range 40 {
		e, res, err := s.life(text, input, func(j journaltest.Store) journaltest.Store { return wrap(process, j) })
		var u *runtime.UncertainError
		var w *runtime.WaitingError
		switch {
		case errors.Is(err, journal.ErrUnusable):
		case errors.As(err, &u):
			say := runtime.Resolution{Happened: slices.Contains(s.sent, string(u.Intent.Body)), Reply: []byte("ok"), Now: true, By: "test"}
			if err := e.Resolve(s.t.Context(), "r", u.Step, say); err != nil {
				s.t.Fatal(err)
			}
		case errors.As(err, &w) && w.For == toolabi.FuncApprove:
			err := e.Answer(s.t.Context(), "r", w.Step, runtime.Answer{Yes: w.Step != "ask[0]", By: "ada"})
			if err != nil && !errors.Is(err, journal.ErrUnusable) {
				s.t.Fatal(err)
			}
		case errors.As(err, &w):
			time.Sleep(time.Until(w.Due))
		default:
			return res, err
		}
	}
	s.t.Fatal("the run does not end")
	return runtime.Result{}, nil
}

// A process is killed while it drives the run, or says what was answered.
func TestARunThatWaitsAndIsKilledAnywhereGoesOn(t *testing.T) {
	const input = "[5, 6, 7, 8]"
	const want = `["denied","pay 6, ada agreed","pay 7, ada agreed","pay 8, ada agreed"]`
	kill := func(process, n int, after bool) (killed, begun bool) {
		synctest.Test(t, func(t *testing.T) {
			s := newSite(t)
			var crasher *journaltest.Crasher
			res, err := s.patiently(agreed, input, func(p int, j journaltest.Store) journaltest.Store {
				if p != process {
					return j
				}
				if crasher = journaltest.CrashBefore(j, n); after {
					crasher = journaltest.CrashAfter(j, n)
				}
				return crasher
			})
			if err != nil || string(res.Output) != want || len(s.sent) != 3 {
				t.Errorf("process %d killed at append %d, after %v: output %s, %v, effects %q, want %s", process, n, after, res.Output, err, s.sent, want)
			}
			begun = crasher != nil
			killed = begun && crasher.Crashed()
		})
		return killed, begun
	}
	kills := 0
	for _, after := range []bool{false, true} {
		for process, begun := 0, true; begun; process++ {
			for n, killed := 1, true; killed; n++ {
				if killed, begun = kill(process, n, after); killed {
					kills++
				}
			}
		}
	}
	if kills < 40 {
		t.Errorf("killed %d times, want at least 40 places", kills)
	}
}
