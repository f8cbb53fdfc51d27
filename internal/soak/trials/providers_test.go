package trials_test

import (
	"flag"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// A kill takes most of a second of a processor, all told. From 20 on it is also judged where they land.
var killsPerProvider = flag.Int("kills", 6, "how many processes to kill against each provider")

func TestNoProviderIsChargedTwiceOrAskedAgainInSilence(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for a minute")
	}
	for _, c := range []struct {
		provider string
		doubts   bool // a person was asked
		lookups  bool // a look-up was
	}{
		{"honours", false, false}, {"ignores", true, false}, {"drops", true, false}, {"late", true, false}, {"conflict", true, false},
		{"lookup", false, true}, {"lookup-late", false, true},
	} {
		t.Run(c.provider, func(t *testing.T) {
			t.Parallel()
			kills := *killsPerProvider
			if c.lookups {
				kills = (kills + 1) / 2 // these take longest; the same program is killed against the others
			}
			cfg := config(t, "", kills)
			cfg.Provider = c.provider
			report, err := trials.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + report.String())
			if err := report.Err(); err != nil {
				t.Errorf("seed %d: %v", report.Seed, err)
			}
			if report.Provider != c.provider || report.Kills < kills || report.Uncertain > 0 && !c.doubts {
				t.Errorf("provider %q, %d kills, %d uncertain effects", report.Provider, report.Kills, report.Uncertain)
			}
			if c.lookups != (report.Found+report.NotFound > 0) {
				t.Errorf("%d effects were found by a look-up, and %d were not", report.Found, report.NotFound)
			}
			// A request comes while the one before it is worked on by chance alone, which a few kills on a busy machine may not have.
			const few = 20
			if c.provider == "conflict" && (report.Again == 0 && report.Trials > few || report.Unsettled > max(report.Trials/4, 2)) {
				t.Errorf("%d attempts followed a failed one, and %d of %d runs were left unsettled", report.Again, report.Unsettled, report.Trials)
			}
			if report.Uncertain != report.Happened+report.DidNotHappen || report.Requests < report.Charges {
				t.Errorf("%d uncertain effects, %d and %d of them resolved; %d requests for %d charges",
					report.Uncertain, report.Happened, report.DidNotHappen, report.Requests, report.Charges)
			}
		})
	}
}

// The trials are worth something only if they see what a keyed tool does to a ledger that ignores its key.
func TestAProviderThatOnlySaysItHonoursKeysIsFoundOut(t *testing.T) {
	if err := trials.Misdescribe("lies", "honours", ledger.Behaviour{}); err != nil {
		t.Fatal(err)
	}
	cfg := config(t, "", 50)
	cfg.Provider = "lies"
	report, err := trials.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if report.Err() == nil || report.Repeated == 0 {
		t.Errorf("after %d kills nothing was found:\n%s", report.Kills, report)
	}
}

// A look-up that sees nothing is worth something only once the request has settled, and the trials have to see it when wrun
// does not wait for that.
func TestAProgramThatBelievesALookUpTooSoonIsFoundOut(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program a second time")
	}
	cfg := config(t, "broken_settle", 50)
	cfg.Provider = "lookup-late"
	report, err := trials.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if report.Err() == nil || len(report.Faults) == 0 {
		t.Errorf("after %d kills nothing was found:\n%s", report.Kills, report)
	}
}

func TestAnUnknownProviderIsRefused(t *testing.T) {
	cfg := config(t, "", 1)
	cfg.Provider = "nobody"
	if _, err := trials.Run(t.Context(), cfg); err == nil {
		t.Error("trials were made against nobody")
	}
}

func TestACallThatWasTriedAgainEndsAsItsLastAttempt(t *testing.T) {
	log := []string{
		`{"kind":"result","step":"c01/1","outcome":"ok"}`, `{"kind":"result","step":"c01","outcome":"failed"}`,
		`{"kind":"intent","step":"c01~2"}`, `{"kind":"result","step":"c01~2/1","outcome":"failed"}`,
		`{"kind":"result","step":"c01~2","outcome":"ok"}`, `{"kind":"result","step":"c02","outcome":"failed"}`,
	}
	for call, want := range map[string]string{"c01": "ok", "c02": "failed", "c03": ""} {
		if got, err := trials.LastOutcome(log, call); err != nil || got != want {
			t.Errorf("%s has ended %q, %v; want %q", call, got, err, want)
		}
	}
}

func TestASecondSendIsSilentUnlessTheKeyOrSomebodySaysOtherwise(t *testing.T) {
	acted := func(key string) ledger.Request {
		return ledger.Request{Key: key, Digest: "d", Accepted: time.Unix(1, 0)}
	}
	idle := func(key string) ledger.Request { return ledger.Request{Key: key, Digest: "d"} }
	other := acted("k")
	other.Digest = "e"
	for _, c := range []struct {
		name  string
		sent  []ledger.Request
		keyed bool
		voids int
		want  int
	}{
		{"nothing", nil, false, 0, 0},
		{"one", []ledger.Request{acted("k")}, false, 0, 0},
		{"a second after one that acted", []ledger.Request{acted("k"), acted("k")}, false, 0, 1},
		{"a second after one that acted, although somebody said so", []ledger.Request{acted("k"), idle("k")}, false, 1, 1},
		{"a second that somebody asked for", []ledger.Request{idle("k"), acted("k")}, false, 1, 0},
		{"a second that nobody asked for", []ledger.Request{idle("k"), acted("k")}, false, 0, 1},
		{"again under the key", []ledger.Request{acted("k"), idle("k"), idle("k")}, true, 0, 0},
		{"again under another key", []ledger.Request{acted("k"), idle("l")}, true, 0, 1},
		{"again with another body", []ledger.Request{acted("k"), other}, true, 0, 1},
		{"without a key", []ledger.Request{acted("")}, true, 0, 1},
	} {
		if got := trials.Silently(c.sent, c.keyed, c.voids); got != c.want {
			t.Errorf("%s: %d silent sends, want %d", c.name, got, c.want)
		}
	}
}
