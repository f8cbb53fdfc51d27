package sdks_test

import (
	"reflect"
	"testing"

	"github.com/wrun-dev/wrun/internal/fakemodel"
)

func TestATextArrivesWhole(t *testing.T) {
	cfg := fakemodel.Config{
		Script: replies(t, `replies: [{say: "Grüße, ${ .task } und ${ .instructions } 😀", usage: {input: 120, output: 30}}]`), Key: "let-me-in",
	}
	everyWay(t, cfg, func(t *testing.T, s *fakemodel.Server, c client, a asking) {
		got, err := c.talk(t.Context(), a)
		want := said{text: "Grüße, x und be kind 😀", stop: map[string]string{"openai": "stop", "anthropic": "end_turn"}[c.name], input: 120, output: 30}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	})
}

func TestAToolIsCalledAndItsResultSeen(t *testing.T) {
	cfg := fakemodel.Config{Script: replies(t, `
replies:
  - when: .results | length > 0
    say: "The balance is ${ .results[0].output.balance } of ${ .results | length }."
  - say: I look it up.
    calls:
      - { tool: accounts.balance, with: { account: ada } }
      - { tool: accounts.balance, with: { account: "${ .tools[0] }" } }
`)}
	everyWay(t, cfg, func(t *testing.T, s *fakemodel.Server, c client, a asking) {
		got, err := c.talk(t.Context(), a)
		if err != nil || got.text != "The balance is 7 of 2." {
			t.Errorf("got %+v, %v", got, err)
		}
		if want := []string{`accounts_balance {"account":"ada"}`, `accounts_balance {"account":"accounts_balance"}`}; !reflect.DeepEqual(got.calls, want) {
			t.Errorf("calls are %q, want %q", got.calls, want)
		}
		if n := s.Count().Bills; n != 2 {
			t.Errorf("%d bills, want 2", n)
		}
	})
}

func TestRefusalsAreUnderstood(t *testing.T) {
	cfg := fakemodel.Config{Key: "let-me-in", Behaviour: fakemodel.Behaviour{RateLimit: 1, RetryAfter: 7, ServerError: 1, Overloaded: 1}}
	everyWay(t, cfg, func(t *testing.T, s *fakemodel.Server, c client, a asking) {
		overloaded := map[string]int{"openai": 503, "anthropic": 529}[c.name]
		stranger := a
		stranger.apiKey = "other"
		for i, want := range []struct {
			asking
			status     int
			retryAfter string
		}{{stranger, 401, ""}, {a, 429, "7"}, {a, 500, ""}, {a, overloaded, ""}} {
			_, err := c.talk(t.Context(), want.asking)
			if status, after := c.status(err); status != want.status || after != want.retryAfter {
				t.Errorf("request %d: status %d after %q (%v), want %d after %q", i+1, status, after, err, want.status, want.retryAfter)
			}
		}
		if n := s.Count().Bills; n != 0 {
			t.Errorf("%d bills", n)
		}
	})
}

func TestAnAnswerThatDoesNotArriveWholeIsAnError(t *testing.T) {
	cfg := fakemodel.Config{Behaviour: fakemodel.Behaviour{DropBefore: 1, DropAfter: 1, Cut: 1, InvalidJSON: 1}}
	everyWay(t, cfg, func(t *testing.T, s *fakemodel.Server, c client, a asking) {
		for i, what := range []string{"drop before the bill", "drop after the bill", "cut", "invalid JSON"} {
			if got, err := c.talk(t.Context(), a); err == nil {
				t.Errorf("%s: got %+v", what, got)
			}
			if n := s.Count(); n.Requests != i+1 || n.Bills != i {
				t.Errorf("%s: %+v", what, n)
			}
		}
		if got, err := c.talk(t.Context(), a); err != nil || got.text != "hello" {
			t.Errorf("afterwards %+v, %v", got, err)
		}
	})
}

// What the clients do by themselves is why wrun does not use them: an answer that was lost is paid for twice.
func TestTheirRetriesArePaidForUnlessKeysAreHonoured(t *testing.T) {
	for _, honour := range []bool{false, true} {
		cfg := fakemodel.Config{Behaviour: fakemodel.Behaviour{DropAfter: 1, HonourKeys: honour}}
		everyWay(t, cfg, func(t *testing.T, s *fakemodel.Server, c client, a asking) {
			a.retries, a.key = 2, "k"
			if got, err := c.talk(t.Context(), a); err != nil || got.text != "hello" {
				t.Errorf("got %+v, %v", got, err)
			}
			want := fakemodel.Count{Requests: 2, Bills: 2, Keys: 1}
			if honour {
				want.Bills, want.Replayed = 1, 1
			}
			got := s.Count()
			if got.Tokens = 0; got != want {
				t.Errorf("count is %+v, want %+v", got, want)
			}
		})
	}
}
