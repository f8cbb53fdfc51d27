package ledger_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// inside makes a ledger for use inside a synctest bubble, where connections have no place.
func inside(t *testing.T, cfg ledger.Config) *ledger.Ledger {
	t.Helper()
	l, err := ledger.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

// post sends a request without a connection, and returns status and body.
func post(ctx context.Context, l *ledger.Ledger, path, body, key string) (int, string) {
	r := httptest.NewRequestWithContext(ctx, "POST", path, strings.NewReader(body))
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	l.ServeHTTP(w, r)
	return w.Code, strings.TrimSpace(w.Body.String())
}

func wantPost(t *testing.T, l *ledger.Ledger, status int, body, key string) {
	t.Helper()
	if got, said := post(t.Context(), l, "/charges", body, key); got != status {
		t.Errorf("charge with key %q = %d %s, want %d", key, got, said, status)
	}
}

func TestAKeyInWorkIsAConflictAndThenGivesTheFirstReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := inside(t, ledger.Config{Behaviour: ledger.Behaviour{HonourKeys: true, Late: -1, LateMS: 1000}})
		first := make(chan string)
		go func() {
			status, body := post(t.Context(), l, "/charges", rent, "k")
			if status != 201 {
				t.Errorf("the first request = %d %s, want 201", status, body)
			}
			first <- body
		}()
		synctest.Wait()
		wantPost(t, l, 409, rent, "k")
		wantPost(t, l, 422, strings.Replace(rent, "1250", "1251", 1), "k")
		if got := l.Count().Charges; got != 0 {
			t.Errorf("%d charges while the first is in work, want 0", got)
		}
		body := <-first
		if status, again := post(t.Context(), l, "/charges", rent, "k"); status != 201 || again != body {
			t.Errorf("the key afterwards = %d %s, want 201 %s", status, again, body)
		}
		if got, want := l.Count(), (ledger.Count{Charges: 1, Replayed: 1}); got != want {
			t.Errorf("count = %+v, want %+v", got, want)
		}
	})
}

func TestALateChargeIsAcceptedThoughItsClientIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := inside(t, ledger.Config{Behaviour: ledger.Behaviour{Late: -1, LateMS: 1000}})
		ctx, leave := context.WithCancel(t.Context())
		go post(ctx, l, "/charges", rent, "")
		synctest.Wait()
		leave()
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if got := l.Count().Charges; got != 0 {
			t.Errorf("%d charges before their time, want 0", got)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if got := l.Count().Charges; got != 1 {
			t.Errorf("%d charges after their time, want 1", got)
		}
		q := l.Requests()
		if len(q) != 1 || q[0].Accepted.Sub(q[0].Arrived) != time.Second || q[0].ID != "ch_1" {
			t.Errorf("requests = %+v, want one that was accepted a second after it arrived", q)
		}
	})
}

func TestAClosedLedgerAcceptsNothingLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := inside(t, ledger.Config{Behaviour: ledger.Behaviour{Late: -1, LateMS: 1000}})
		status := make(chan int)
		go func() {
			got, _ := post(t.Context(), l, "/charges", rent, "")
			status <- got
		}()
		synctest.Wait()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got := <-status; got != 500 || l.Count().Charges != 0 {
			t.Errorf("status %d with %+v, want 500 and nothing", got, l.Count())
		}
	})
}

func TestAKeyIsForgottenAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := ledger.Config{
			File: filepath.Join(t.TempDir(), "ledger.jsonl"), Behaviour: ledger.Behaviour{HonourKeys: true, KeyTTLMS: 60_000},
		}
		l := inside(t, cfg)
		wantPost(t, l, 201, rent, "k")
		time.Sleep(59 * time.Second)
		wantPost(t, l, 201, rent, "k")
		if got, want := l.Count(), (ledger.Count{Charges: 1, Replayed: 1}); got != want {
			t.Errorf("count inside the time = %+v, want %+v", got, want)
		}
		time.Sleep(time.Second)
		wantPost(t, l, 201, rent, "k")
		if got := l.Count().Charges; got != 2 {
			t.Errorf("%d charges after the time, want 2", got)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = inside(t, cfg) // which key is how old survives
		status, body := post(t.Context(), l, "/charges", rent, "k")
		if status != 201 || !strings.Contains(body, `"ch_2"`) || l.Count().Charges != 2 {
			t.Errorf("after a restart = %d %s with %+v, want the reply of the second charge", status, body, l.Count())
		}
	})
}

func TestRefusedChargesTakeNothingAndLeaveNoKey(t *testing.T) {
	l := inside(t, ledger.Config{Behaviour: ledger.Behaviour{HonourKeys: true, Conflict: 1, Unprocessable: 1}})
	wantPost(t, l, 409, rent, "k")
	wantPost(t, l, 422, rent, "k")
	if got := l.Count(); got != (ledger.Count{}) {
		t.Errorf("count = %+v, want nothing", got)
	}
	wantPost(t, l, 201, rent, "k")
	if got, want := l.Count(), (ledger.Count{Charges: 1}); got != want {
		t.Errorf("count = %+v, want %+v", got, want)
	}
}

func TestEveryRequestThatArrivedIsToldApart(t *testing.T) {
	s := start(t, ledger.Config{Behaviour: ledger.Behaviour{HonourKeys: true, Drop: 1}})
	_, _, _ = ask(t.Context(), "POST", s.URL()+"/charges", rent, "Idempotency-Key", "k") // its reply is dropped
	want(t, 201, "", "POST", s.URL()+"/charges", rent, "Idempotency-Key", "k")
	want(t, 400, "", "POST", s.URL()+"/charges", `{}`)
	want(t, 201, "", "POST", s.URL()+"/refunds", `{"charge":"ch_1"}`)
	_, body, err := ask(t.Context(), "GET", s.URL()+"/requests", "")
	if err != nil {
		t.Fatal(err)
	}
	var got []ledger.Request
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 {
		t.Fatalf("%d requests, want 4: %s", len(got), body)
	}
	for i, want := range []struct {
		kind, reference, key, id string
		status                   int
		accepted, replayed       bool
	}{
		{"charge", "rent-7", "k", "ch_1", 201, true, false},
		{"charge", "rent-7", "k", "ch_1", 201, false, true},
		{"charge", "", "", "", 400, false, false},
		{"refund", "ch_1", "", "re_1", 201, true, false},
	} {
		q := got[i]
		if q.Kind != want.kind || q.Reference != want.reference || q.Key != want.key || q.ID != want.id || q.Status != want.status ||
			q.Accepted.IsZero() == want.accepted || q.Replayed != want.replayed || q.Arrived.IsZero() {
			t.Errorf("request %d = %+v, want %+v", i, q, want)
		}
	}
	if got[0].Digest != got[1].Digest || got[0].Digest == got[2].Digest || len(got[0].Digest) != 64 {
		t.Errorf("digests %s, %s and %s: want the first two equal", got[0].Digest, got[1].Digest, got[2].Digest)
	}
}
