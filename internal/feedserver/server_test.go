package feedserver_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/feedserver"
)

func start(t *testing.T, cfg feedserver.Config) *feedserver.Listening {
	t.Helper()
	s, err := feedserver.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func ask(t *testing.T, s *feedserver.Listening, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestTheFeedHasItsNewestEntryFirst(t *testing.T) {
	s := start(t, feedserver.Config{Token: "t0ken"})
	for _, id := range []string{"a", "b"} {
		if status, body := ask(t, s, "POST", "/entries", `{"id":"`+id+`"}`); status != 204 {
			t.Fatalf("entry %s: %d %s", id, status, body)
		}
	}
	if status, _ := ask(t, s, "GET", "/feed.json", ""); status != 401 {
		t.Errorf("without a token: %d, want 401", status)
	}
	ask(t, s, "POST", "/behaviour", `{"busy":1}`)
	if status, _ := ask(t, s, "GET", "/feed.json", "", "Authorization", "Bearer t0ken"); status != 503 {
		t.Errorf("when it is busy: %d, want 503", status)
	}
	const want = `{"items":[{"id":"b"},{"id":"a"}],"title":"News of the day","version":"https://jsonfeed.org/version/1.1"}`
	if status, body := ask(t, s, "GET", "/feed", "", "Authorization", "Bearer t0ken"); status != 200 || body != want {
		t.Errorf("got %d %s, want %s", status, body, want)
	}
}

func TestTheArchiveHasWhatItTookAndWritesDownTheKeys(t *testing.T) {
	s := start(t, feedserver.Config{})
	for i, status := range []int{201, 204} {
		if got, _ := ask(t, s, "PUT", "/archive/x", "text", "Idempotency-Key", "k"); got != status {
			t.Errorf("put %d: %d, want %d", i, got, status)
		}
	}
	if status, body := ask(t, s, "GET", "/archive/x", ""); status != 200 || body != "text" {
		t.Errorf("got %d %q", status, body)
	}
	requests := s.Requests()
	if len(requests) != 3 || requests[1] != (feedserver.Request{Method: "PUT", Path: "/archive/x", Status: 204, Key: "k"}) {
		t.Errorf("written down: %+v", requests)
	}
}

func TestADownloadHangsInTheMiddleWhenItIsToldTo(t *testing.T) {
	s := start(t, feedserver.Config{})
	ask(t, s, "POST", "/behaviour", `{"hang":"x"}`)
	ctx, gone := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", s.URL()+"/files/x?bytes=100", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	half := make([]byte, 50)
	if _, err := io.ReadFull(res.Body, half); err != nil {
		t.Fatal(err)
	}
	if _, body := ask(t, s, "GET", "/hanging?at_least=1", ""); body != "{\"hanging\":1}\n" {
		t.Errorf("hanging: %s", body)
	}
	gone()
	whole := feedserver.File("x", 100) // and it hangs once
	if _, body := ask(t, s, "GET", "/files/x?bytes=100", ""); body != string(whole) || !bytes.Equal(half, whole[:50]) {
		t.Errorf("the second download is not the first one, whole")
	}
}
