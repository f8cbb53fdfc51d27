package ledger_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
)

const rent = `{"account":"acme","amount_cents":1250,"reference":"rent-7"}`

func start(t *testing.T, cfg ledger.Config) *ledger.Server {
	t.Helper()
	s, err := ledger.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// ask sends one request on a connection of its own and returns status and body.
func ask(ctx context.Context, method, url, body string, header ...string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		return 0, "", err
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	tr := &http.Transport{DisableKeepAlives: true}
	res, err := tr.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, strings.TrimSpace(string(b)), err
}

func want(t *testing.T, status int, body string, method, url, in string, header ...string) {
	t.Helper()
	gotStatus, gotBody, err := ask(t.Context(), method, url, in, header...)
	if err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	if gotStatus != status || body != "" && gotBody != body {
		t.Errorf("%s %s = %d %s, want %d %s", method, url, gotStatus, gotBody, status, body)
	}
}

func TestChargesAndRefundsAreAcceptedAndListed(t *testing.T) {
	s := start(t, ledger.Config{})
	first := `{"id":"ch_1","account":"acme","amount_cents":1250,"reference":"rent-7"}`
	second := `{"id":"ch_2","account":"zed","amount_cents":1,"reference":"x","idempotency_key":"k1"}`
	refund := `{"id":"re_1","charge":"ch_2"}`
	want(t, 200, `[]`, "GET", s.URL()+"/charges", "")
	want(t, 201, first, "POST", s.URL()+"/charges", rent)
	want(t, 201, second, "POST", s.URL()+"/charges", `{"account":"zed","amount_cents":1,"reference":"x"}`, "Idempotency-Key", "k1")
	want(t, 201, refund, "POST", s.URL()+"/refunds", `{"charge":"ch_2"}`)
	want(t, 404, "", "POST", s.URL()+"/refunds", `{"charge":"ch_3"}`)
	want(t, 200, "["+first+","+second+"]", "GET", s.URL()+"/charges", "")
	want(t, 200, "["+first+"]", "GET", s.URL()+"/charges?reference=rent-7", "")
	want(t, 200, `[]`, "GET", s.URL()+"/charges?reference=other", "")
	want(t, 200, "["+refund+"]", "GET", s.URL()+"/refunds", "")
	want(t, 200, `{"charges":2,"refunds":1,"replayed":0}`, "GET", s.URL()+"/count", "")
}

func TestBadRequestsAreRefusedAndLeaveNothing(t *testing.T) {
	s := start(t, ledger.Config{})
	for name, body := range map[string]string{
		"empty":          ``,
		"not json":       `rent`,
		"array":          `[]`,
		"unknown field":  `{"account":"a","amount_cents":1,"reference":"r","tip":1}`,
		"other case":     `{"Account":"a","amount_cents":1,"reference":"r"}`,
		"given twice":    `{"account":"a","amount_cents":1,"amount_cents":2,"reference":"r"}`,
		"null":           `{"account":null,"amount_cents":1,"reference":"r"}`,
		"trailing":       rent + `{}`,
		"zero":           `{"account":"a","amount_cents":0,"reference":"r"}`,
		"negative":       `{"account":"a","amount_cents":-5,"reference":"r"}`,
		"fraction":       `{"account":"a","amount_cents":1.5,"reference":"r"}`,
		"text amount":    `{"account":"a","amount_cents":"1","reference":"r"}`,
		"huge amount":    `{"account":"a","amount_cents":9223372036854775808,"reference":"r"}`,
		"no account":     `{"amount_cents":1,"reference":"r"}`,
		"invalid utf-8":  "{\"account\":\"\xff\",\"amount_cents\":1,\"reference\":\"r\"}",
		"long reference": `{"account":"a","amount_cents":1,"reference":"` + strings.Repeat("r", 257) + `"}`,
	} {
		t.Run(name, func(t *testing.T) { want(t, 400, "", "POST", s.URL()+"/charges", body) })
	}
	want(t, 413, "", "POST", s.URL()+"/charges", strings.Repeat(" ", 70_000)+rent)
	want(t, 400, "", "POST", s.URL()+"/charges", rent, "Idempotency-Key", "a", "Idempotency-Key", "b")
	want(t, 400, "", "POST", s.URL()+"/behaviour", `{"dorp":1}`)
	if got := s.Count(); got != (ledger.Count{}) {
		t.Errorf("count = %+v, want nothing", got)
	}
}

func TestHonouredKeysGiveTheFirstReplyAgain(t *testing.T) {
	s := start(t, ledger.Config{Behaviour: ledger.Behaviour{HonourKeys: true}})
	first := `{"id":"ch_1","account":"acme","amount_cents":1250,"reference":"rent-7","idempotency_key":"k"}`
	for range 3 {
		want(t, 201, first, "POST", s.URL()+"/charges", rent, "Idempotency-Key", "k")
	}
	want(t, 422, "", "POST", s.URL()+"/charges", strings.Replace(rent, "1250", "1251", 1), "Idempotency-Key", "k")
	want(t, 422, "", "POST", s.URL()+"/refunds", `{"charge":"ch_1"}`, "Idempotency-Key", "k")
	if got, want := s.Count(), (ledger.Count{Charges: 1, Replayed: 2}); got != want {
		t.Errorf("count = %+v, want %+v", got, want)
	}
}

func TestIgnoredKeysTakeTheMoneyTwice(t *testing.T) {
	s := start(t, ledger.Config{})
	for range 2 {
		want(t, 201, "", "POST", s.URL()+"/charges", rent, "Idempotency-Key", "k")
	}
	if got := s.Count(); got.Charges != 2 || s.Charges()[1].Key != "k" {
		t.Errorf("count = %+v, charges = %+v, want 2 with key k", got, s.Charges())
	}
}

func TestDroppedChargesAreTakenWithoutAReply(t *testing.T) {
	s := start(t, ledger.Config{})
	want(t, 200, `{"honour_keys":false,"key_ttl_ms":0,"drop":2,"hang":0,"twice":0,"hang_lists":0,"delay_ms":0,"late":0,"late_ms":0,"decline":0,"conflict":0,"unprocessable":0}`, "POST", s.URL()+"/behaviour", `{"drop":2}`)
	for i := range 2 {
		if status, body, err := ask(t.Context(), "POST", s.URL()+"/charges", rent); err == nil {
			t.Errorf("charge %d was answered with %d %s", i, status, body)
		}
	}
	want(t, 201, "", "POST", s.URL()+"/charges", rent)
	if got := s.Count().Charges; got != 3 {
		t.Errorf("%d charges, want 3", got)
	}
}

func TestDropWorksWhereAConnectionCannotBeTakenOver(t *testing.T) {
	l, err := ledger.New(ledger.Config{Behaviour: ledger.Behaviour{Drop: -1}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p != http.ErrAbortHandler || l.Count().Charges != 1 {
			t.Errorf("recovered %v with %+v, want http.ErrAbortHandler and one charge", p, l.Count())
		}
	}()
	l.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/charges", strings.NewReader(rent)))
}

func TestHeldRepliesGoOnRelease(t *testing.T) {
	s := start(t, ledger.Config{Behaviour: ledger.Behaviour{Hang: 2}})
	answers := make(chan int, 2)
	for range 2 {
		go func() {
			status, _, _ := ask(context.WithoutCancel(t.Context()), "POST", s.URL()+"/charges", rent)
			answers <- status
		}()
	}
	want(t, 200, `{"hanging":2}`, "GET", s.URL()+"/hanging?at_least=2", "")
	if got := s.Count().Charges; got != 2 {
		t.Errorf("%d charges while held, want 2", got)
	}
	select {
	case got := <-answers:
		t.Fatalf("a held charge was answered with %d", got)
	default:
	}
	want(t, 200, `{"released":2}`, "POST", s.URL()+"/release", "")
	for range 2 {
		if got := <-answers; got != 201 {
			t.Errorf("a released charge was answered with %d, want 201", got)
		}
	}
	want(t, 200, `{"hanging":0}`, "GET", s.URL()+"/hanging", "")
	want(t, 201, "", "POST", s.URL()+"/charges", rent)
}

func TestAHeldListGoesOnRelease(t *testing.T) {
	s := start(t, ledger.Config{Behaviour: ledger.Behaviour{HangLists: 1}})
	answer := make(chan string, 1)
	go func() {
		_, body, _ := ask(context.WithoutCancel(t.Context()), "GET", s.URL()+"/charges", "")
		answer <- body
	}()
	want(t, 200, `{"hanging":1}`, "GET", s.URL()+"/hanging?at_least=1", "")
	want(t, 200, `[]`, "GET", s.URL()+"/charges", "")
	select {
	case got := <-answer:
		t.Fatalf("a held list was answered with %s", got)
	default:
	}
	want(t, 200, `{"released":1}`, "POST", s.URL()+"/release", "")
	if got := <-answer; strings.TrimSpace(got) != "[]" {
		t.Errorf("got %q", got)
	}
}

func TestAHeldReplyEndsWithItsClient(t *testing.T) {
	s := start(t, ledger.Config{Behaviour: ledger.Behaviour{Hang: -1}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, _, err := ask(ctx, "POST", s.URL()+"/charges", rent)
		done <- err
	}()
	if err := s.WaitHanging(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the client got %v, want context.Canceled", err)
	}
	// The server learns of it from its own side of the connection.
	poll(t, s.URL()+"/hanging", `{"hanging":0}`)
}

// poll asks again and again until the answer is body.
func poll(t *testing.T, url, body string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		_, got, err := ask(ctx, "GET", url, "")
		if err != nil {
			t.Fatalf("%s did not become %s: %v", url, body, err)
		}
		if got == body {
			return
		}
	}
}

func TestDeclinedChargesTakeNothing(t *testing.T) {
	s := start(t, ledger.Config{Behaviour: ledger.Behaviour{Decline: 1, Drop: 1}})
	want(t, 402, `{"error":"declined"}`, "POST", s.URL()+"/charges", rent)
	if got := s.Count().Charges; got != 0 {
		t.Errorf("%d charges after a decline, want 0", got)
	}
	if got := s.Behaviour(); got.Decline != 0 || got.Drop != 1 {
		t.Errorf("behaviour = %+v, want the decline used up and the drop not", got)
	}
}

func TestADelayedChargeIsTakenBeforeItsReply(t *testing.T) {
	s := start(t, ledger.Config{Behaviour: ledger.Behaviour{DelayMS: 1}})
	want(t, 201, "", "POST", s.URL()+"/charges", rent)
	s.SetBehaviour(ledger.Behaviour{DelayMS: 3_600_000})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, _, err := ask(ctx, "POST", s.URL()+"/charges", rent)
		done <- err
	}()
	poll(t, s.URL()+"/count", `{"charges":2,"refunds":0,"replayed":0}`)
	cancel()
	if err := <-done; err == nil {
		t.Error("a reply delayed by an hour came at once")
	}
}

func TestAcceptedChargesSurviveARestart(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ledger.jsonl")
	cfg := ledger.Config{File: name, Behaviour: ledger.Behaviour{HonourKeys: true}}
	s, err := ledger.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	want(t, 201, "", "POST", s.URL()+"/charges", rent, "Idempotency-Key", "k")
	want(t, 201, "", "POST", s.URL()+"/refunds", `{"charge":"ch_1"}`)
	before := s.Charges()
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Errorf("close twice: %v", err)
	}

	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"charge":{"id":"ch_2","acc`); err != nil { // what a kill in the middle of a write leaves
		t.Fatal(err)
	}
	f.Close()

	s = start(t, cfg)
	if got := s.Charges(); len(got) != 1 || got[0] != before[0] {
		t.Errorf("charges = %+v, want %+v", got, before)
	}
	want(t, 201, `{"id":"ch_1","account":"acme","amount_cents":1250,"reference":"rent-7","idempotency_key":"k"}`,
		"POST", s.URL()+"/charges", rent, "Idempotency-Key", "k")
	want(t, 201, "", "POST", s.URL()+"/charges", rent)
	if got, want := s.Count(), (ledger.Count{Charges: 2, Refunds: 1, Replayed: 1}); got != want {
		t.Errorf("count = %+v, want %+v", got, want)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %s is not JSON", line)
		}
	}
	if len(lines) != 3 {
		t.Errorf("%d lines, want 3", len(lines))
	}
}

func TestADamagedFileIsRefused(t *testing.T) {
	for _, content := range []string{"x\n", "{}\n", `{"charge":{"id":"ch_1"},"refund":{"id":"re_1"}}` + "\n", `{"charge":{"id":"a"},"digest":"AA=="}` + "\n"} {
		name := filepath.Join(t.TempDir(), "ledger.jsonl")
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ledger.New(ledger.Config{File: name}); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("a file with %q was opened with %v, want an error that names line 1", content, err)
		}
		if b, _ := os.ReadFile(name); string(b) != content {
			t.Errorf("a refused file was changed to %q", b)
		}
	}
}

func TestAChargeThatCannotBeKeptIsNotTaken(t *testing.T) {
	s := start(t, ledger.Config{})
	l, err := ledger.New(ledger.Config{File: filepath.Join(t.TempDir(), "l")})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	l.ServeHTTP(w, httptest.NewRequest("POST", "/charges", strings.NewReader(rent)))
	if w.Code != 500 || l.Count().Charges != 0 {
		t.Errorf("status %d with %+v, want 500 and nothing", w.Code, l.Count())
	}
	if _, err := ledger.Start(ledger.Config{Addr: strings.TrimPrefix(s.URL(), "http://")}); err == nil {
		t.Error("a second ledger listens on a port in use")
	}
}

func TestAReplyCanComeTwice(t *testing.T) {
	s := start(t, ledger.Config{Behaviour: ledger.Behaviour{Twice: 1}})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /charges HTTP/1.1\r\nHost: ledger\r\nContent-Length: %d\r\n\r\n%s", len(rent), rent)
	replies := bufio.NewReader(conn)
	for n := range 2 {
		res, err := http.ReadResponse(replies, nil)
		if err != nil {
			t.Fatalf("reply %d: %v", n+1, err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 201 || !strings.Contains(string(body), `"ch_1"`) {
			t.Errorf("reply %d: %d %s, %v, want 201 with ch_1", n+1, res.StatusCode, body, err)
		}
	}
	if got := s.Count().Charges; got != 1 {
		t.Errorf("%d charges, want 1", got)
	}
}

func TestRequestsCanBeThoseAboutOneThing(t *testing.T) {
	s := start(t, ledger.Config{})
	want(t, 201, "", "POST", s.URL()+"/charges", rent)
	for about, n := range map[string]int{"": 1, "rent-": 1, "rent-7": 1, "rent-70": 0} {
		_, body, err := ask(t.Context(), "GET", s.URL()+"/requests?about="+about, "")
		if err != nil || strings.Count(body, `"kind"`) != n {
			t.Errorf("about %q: %s, %v, want %d requests", about, body, err, n)
		}
	}
}
