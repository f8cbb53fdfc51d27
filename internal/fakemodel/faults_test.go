package fakemodel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/internal/fakemodel"
)

// paths are where requests go, with a body, streamed and not.
var paths = []struct{ name, path, body string }{
	{"chat", "/v1/chat/completions", chatHello},
	{"chat streamed", "/v1/chat/completions", strings.Replace(chatHello, "{", `{"stream":true,`, 1)},
	{"messages", "/v1/messages", msgsHello},
	{"messages streamed", "/v1/messages", strings.Replace(msgsHello, "{", `{"stream":true,`, 1)},
}

func everyPath(t *testing.T, b fakemodel.Behaviour, test func(t *testing.T, s *fakemodel.Server, url, body string)) {
	for _, p := range paths {
		t.Run(p.name, func(t *testing.T) {
			s := start(t, fakemodel.Config{Behaviour: b})
			test(t, s, s.URL()+p.path, p.body)
		})
	}
}

func TestAConnectionIsDroppedBeforeOrAfterTheBill(t *testing.T) {
	everyPath(t, fakemodel.Behaviour{DropBefore: 1, DropAfter: 1}, func(t *testing.T, s *fakemodel.Server, url, body string) {
		for i, bills := range []int{0, 1} {
			if a, err := ask(t.Context(), "POST", url, body); err == nil {
				t.Errorf("a reply came: %+v", a)
			}
			wantCount(t, s, i+1, bills)
		}
		want(t, 200, "o", "POST", url, body)
		wantCount(t, s, 3, 2)
		if got := s.Bills(); got[0].Fault != fakemodel.DropAfter || got[1].Fault != "" {
			t.Errorf("bills are %+v", got)
		}
	})
}

func TestWhatHangsGoesOnWhenItIsReleased(t *testing.T) {
	everyPath(t, fakemodel.Behaviour{HangBefore: 1, HangAfter: 1}, func(t *testing.T, s *fakemodel.Server, url, body string) {
		done := make(chan int, 1)
		go func() {
			a, _ := ask(t.Context(), "POST", url, body)
			done <- a.status
		}()
		for _, bills := range []int{0, 1} {
			want(t, 200, `{"hanging":1}`, "GET", s.URL()+"/hanging?at_least=1", "")
			if n := s.Count().Bills; n != bills {
				t.Errorf("%d bills while it hangs, want %d", n, bills)
			}
			want(t, 200, `{"released":1}`, "POST", s.URL()+"/release", "")
		}
		if status := <-done; status != 200 {
			t.Errorf("status %d", status)
		}
	})
}

func TestAClientThatGoesAwayBeforeTheBillIsNotBilled(t *testing.T) {
	served := make(chan fakemodel.Served, 1)
	s := start(t, fakemodel.Config{Behaviour: fakemodel.Behaviour{HangBefore: 1}, Observe: func(x fakemodel.Served) { served <- x }})
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := ask(ctx, "POST", s.URL()+"/v1/messages", msgsHello)
		done <- err
	}()
	if err := s.WaitHanging(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	leave()
	if err := <-done; err == nil {
		t.Error("a reply came")
	}
	if x := <-served; x.Bill != nil || x.Status != 0 || x.Fault != fakemodel.HangBefore {
		t.Errorf("served %+v", x)
	}
	if s.Hanging() != 0 || s.Count().Bills != 0 {
		t.Errorf("%d hang, %+v", s.Hanging(), s.Count())
	}
}

func TestRefusalsCostNothingAndSayWhenToComeBack(t *testing.T) {
	everyPath(t, fakemodel.Behaviour{RateLimit: 1, ServerError: 1, Overloaded: 1, RetryAfter: 7}, func(t *testing.T, s *fakemodel.Server, url, body string) {
		overloaded := 503
		if strings.HasSuffix(url, "messages") {
			overloaded = 529
		}
		if got := want(t, 429, "rate_limit", "POST", url, body).header.Get("Retry-After"); got != "7" {
			t.Errorf("Retry-After is %q", got)
		}
		want(t, 500, "error", "POST", url, body)
		want(t, overloaded, "overloaded", "POST", url, body)
		wantCount(t, s, 3, 0)
		want(t, 200, "o", "POST", url, body)
	})
}

func TestAReplyIsCutOffInside(t *testing.T) {
	everyPath(t, fakemodel.Behaviour{Cut: 2}, func(t *testing.T, s *fakemodel.Server, url, body string) {
		whole, err := ask(t.Context(), "POST", url, body)
		if err == nil || whole.status != 200 || whole.body == "" {
			t.Errorf("got %+v, %v: want the beginning and an error", whole, err)
		}
		want(t, 200, `"cut":1`, "POST", s.URL()+"/behaviour", `{"cut_after":10}`)
		if a, err := ask(t.Context(), "POST", url, body); err == nil || len(a.body) != 10 {
			t.Errorf("got %q, %v: want ten bytes and an error", a.body, err)
		}
		if a := want(t, 200, "", "POST", url, body); !strings.HasPrefix(strings.ReplaceAll(a.body, "-3", "-1"), whole.body[:20]) {
			t.Errorf("cut was %q of %q", whole.body, a.body)
		}
		wantCount(t, s, 3, 3)
	})
}

func TestAReplyIsDamaged(t *testing.T) {
	everyPath(t, fakemodel.Behaviour{Short: 1, InvalidJSON: 1, InvalidUTF8: 1}, func(t *testing.T, s *fakemodel.Server, url, body string) {
		valid := func(body string) bool {
			for line := range strings.Lines(body) {
				line = strings.TrimSpace(line)
				data, event := strings.CutPrefix(line, "data: ")
				if (event || strings.HasPrefix(line, "{")) && data != "[DONE]" && !json.Valid([]byte(data)) {
					return false
				}
			}
			return true
		}
		short := want(t, 200, "", "POST", url, body)
		if ended := strings.Contains(short.body, "stop\"") || strings.Contains(short.body, "[DONE]"); ended && valid(short.body) {
			t.Errorf("it came whole: %s", short.body)
		}
		if a := want(t, 200, "", "POST", url, body); valid(a.body) {
			t.Errorf("it is JSON: %s", a.body)
		}
		if a := want(t, 200, "", "POST", url, body); !valid(a.body) || utf8.ValidString(a.body) {
			t.Errorf("it is no JSON, or UTF-8: %q", a.body)
		}
		if a := want(t, 200, "", "POST", url, body); !valid(a.body) || !utf8.ValidString(a.body) {
			t.Errorf("it is still damaged: %q", a.body)
		}
		wantCount(t, s, 4, 4)
	})
}

func TestAKeyIsHonouredOnlyWhenTold(t *testing.T) {
	everyPath(t, fakemodel.Behaviour{DropAfter: 1}, func(t *testing.T, s *fakemodel.Server, url, body string) {
		_, _ = ask(t.Context(), "POST", url, body, "Idempotency-Key", "k")
		want(t, 200, "o", "POST", url, body, "Idempotency-Key", "k")
		wantCount(t, s, 2, 2)
		want(t, 200, `"honour_keys":true`, "POST", s.URL()+"/behaviour", `{"honour_keys":true,"drop_after":1}`)
		first := want(t, 200, "o", "POST", url, body, "Idempotency-Key", "k") // no bill, so nothing is dropped
		if first.header.Get("Idempotent-Replayed") != "true" || !strings.Contains(first.body, "-1\"") && !strings.Contains(first.body, "_1\"") {
			t.Errorf("got %+v, want the first answer again", first)
		}
		want(t, 422, "used for another request", "POST", url, strings.Replace(body, `"x"`, `"y"`, 1), "Idempotency-Key", "k")
		if got, want := s.Count(), (fakemodel.Count{Requests: 4, Bills: 2, Replayed: 1, Keys: 1, Tokens: s.Bills()[0].Tokens * 2}); got != want {
			t.Errorf("count is %+v, want %+v", got, want)
		}
	})
}

func TestRandomFaultsAreTheSameForTheSameSeed(t *testing.T) {
	run := func(seed uint64, faults ...fakemodel.Fault) string {
		var b strings.Builder
		f, err := fakemodel.New(fakemodel.Config{
			Behaviour: fakemodel.Behaviour{Random: 0.5, Seed: seed, RandomFaults: faults},
			Observe:   func(x fakemodel.Served) { fmt.Fprintf(&b, "%d:%s ", x.Status, x.Fault) },
		})
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			func() {
				defer func() { _ = recover() }() // a connection that is broken off
				f.ServeHTTP(&deaf{header: http.Header{}}, request(t))
			}()
		}
		return b.String()
	}
	first := run(1)
	if again := run(1); again != first {
		t.Errorf("first\n%s\nthen\n%s", first, again)
	}
	if run(2) == first || !strings.Contains(first, "200: ") || !strings.Contains(first, "drop_after") || strings.Contains(first, "hang") {
		t.Errorf("faults are %s", first)
	}
	if only := strings.NewReplacer("200: ", "", "500:server_error ", "").Replace(run(1, fakemodel.ServerError)); only != "" {
		t.Errorf("other faults: %s", only)
	}
}

// deaf is a client that hears nothing.
type deaf struct{ header http.Header }

func (d *deaf) Header() http.Header         { return d.header }
func (d *deaf) Write(b []byte) (int, error) { return len(b), nil }
func (d *deaf) WriteHeader(int)             {}
func (d *deaf) Flush()                      {}

func request(t *testing.T) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", "/v1/chat/completions", strings.NewReader(chatHello))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestABehaviourThatThereIsNotIsRefused(t *testing.T) {
	s := start(t, fakemodel.Config{Behaviour: fakemodel.Behaviour{RandomFaults: []fakemodel.Fault{fakemodel.Cut}}})
	before := s.Behaviour()
	for _, body := range []string{`{"drop":1}`, `{"random":2}`, `{"random_faults":["no"]}`, `{"cut_after":-1}`, `{} {}`, `[]`} {
		want(t, 400, "error", "POST", s.URL()+"/behaviour", body)
	}
	if got := s.Behaviour(); !reflect.DeepEqual(got, before) {
		t.Errorf("behaviour is %+v, want %+v", got, before)
	}
	for _, f := range fakemodel.Faults {
		if before.Left(f.Fault) == nil {
			t.Errorf("%s has no count", f.Fault)
		}
	}
}
