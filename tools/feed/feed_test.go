package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// paper serves a feed with some entries at /feed.json, and leads there from elsewhere.
type paper struct {
	ids   []string
	token string // that readers have to have
	busy  int    // how often it says that it wants to be left alone
	after string // for how long, as Retry-After
	read  int    // how often the whole feed was read
}

func (p *paper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	etag := fmt.Sprintf(`"%d"`, len(p.ids))
	switch {
	case p.busy > 0:
		p.busy--
		w.Header().Set("Retry-After", p.after)
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == "/old":
		http.Redirect(w, r, "/feed.json", http.StatusMovedPermanently)
	case p.token != "" && r.Header.Get("Authorization") != "Bearer "+p.token:
		http.Error(w, "who are you?", http.StatusUnauthorized)
	case r.Header.Get("If-None-Match") == etag:
		w.WriteHeader(http.StatusNotModified)
	default:
		p.read++
		var items []string
		for _, id := range p.ids {
			items = append(items, fmt.Sprintf(`{"id":%s,"url":"https://news.test/%s","title":"Entry %[2]s","unknown":[1]}`, id, strings.Trim(id, `"`)))
		}
		w.Header().Set("ETag", etag)
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprintf(z, `{"version":"https://jsonfeed.org/version/1.1","title":"News","items":[%s]}`, strings.Join(items, ","))
		z.Close()
	}
}

// reader is a world that reads p.
func reader(p *paper) *sdktest.World {
	return &sdktest.World{
		HTTP: p, KV: map[string]map[string][]byte{"feed": {}}, Secrets: map[string]string{}, Config: map[string]string{"url": "https://news.test/feed.json"},
		Clock: func() time.Time { return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) },
	}
}

// wantNew calls new and wants these entries.
func wantNew(t *testing.T, w *sdktest.World, input string, more bool, want ...string) {
	t.Helper()
	text, err := sdktest.Call(t, w, "new", input)
	if err != nil {
		t.Fatal(err)
	}
	var out NewOut
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, e := range out.Entries {
		got = append(got, string(e.ID))
	}
	if !slices.Equal(got, append([]string{}, want...)) || out.More != more {
		t.Errorf("new %s returned %q, more %v; want %q, %v", input, got, out.More, want, more)
	}
}

func TestEachEntryIsReturnedOnce(t *testing.T) {
	p := &paper{ids: []string{`"c"`, `2`, `"a"`}}
	w := reader(p)
	wantNew(t, w, `{}`, false, "c", "2", "a")
	wantNew(t, w, `{}`, false)
	if p.read != 1 {
		t.Errorf("the feed was read %d times, though it was as before", p.read)
	}
	p.ids = append([]string{`"d"`}, p.ids...)
	wantNew(t, w, `{}`, false, "d")
}

func TestALongFeedIsReturnedInPages(t *testing.T) {
	w := reader(&paper{ids: []string{`"e"`, `"d"`, `"c"`, `"b"`, `"a"`}})
	w.Config["page"] = "2"
	wantNew(t, w, `{}`, true, "e", "d")
	wantNew(t, w, `{"limit":1}`, true, "c")
	wantNew(t, w, `{}`, false, "b", "a")
	wantNew(t, w, `{}`, false)
}

func TestAnEntryThatAnotherRunTakesMeanwhileIsNotReturned(t *testing.T) {
	p := &paper{ids: []string{`"b"`, `"a"`}}
	w := reader(p)
	w.Clock = func() time.Time { // between the reading and the taking
		w.KV["feed"][entryKey("https://news.test/feed.json", "b")] = []byte(`{}`)
		return time.Unix(0, 0)
	}
	wantNew(t, w, `{}`, false, "a")
	other := reader(p)
	other.KV = w.KV
	wantNew(t, other, `{"url":"https://news.test/feed.json"}`, false)
}

func TestWhatWasTakenIsReturnedThoughTheStoreIsFullThen(t *testing.T) {
	w := reader(&paper{ids: []string{`"c"`, `"b"`, `"a"`}})
	size := 0
	w.KV["feed"]["ballast"] = nil
	for n := 0; size < toolabi.MaxKVStore-220; n++ { // room for one entry
		key := fmt.Sprintf("ballast/%04d", n)
		value := make([]byte, min(toolabi.MaxKVValue, toolabi.MaxKVStore-220-size))
		w.KV["feed"][key] = value
		size += len(key) + len(value)
	}
	wantNew(t, w, `{}`, true, "c")
	if _, err := sdktest.Call(t, w, "new", `{}`); !errors.Is(err, toolabi.TooLarge) {
		t.Errorf("with a full store: %v, want too_large", err)
	}
	for key := range maps.Clone(w.KV["feed"]) {
		if strings.HasPrefix(key, "ballast") {
			delete(w.KV["feed"], key)
		}
	}
	wantNew(t, w, `{}`, false, "b", "a")
}

func TestTheTokenIsSentWhereThereIsOne(t *testing.T) {
	p := &paper{ids: []string{`"a"`}, token: "t0ken"}
	w := reader(p)
	_, err := sdktest.Call(t, w, "new", `{"url":"https://news.test/old"}`)
	wantFailure(t, err, "refused", toolabi.RetryNever)
	w.Secrets["feed"] = "t0ken"
	wantNew(t, w, `{"url":"https://news.test/old"}`, false, "a")
	for _, r := range w.Requests {
		for _, h := range r.Headers {
			if strings.Contains(h.Value, "t0ken") {
				t.Errorf("the tool knows the token: %s", h.Value)
			}
		}
	}
}

func TestAServerThatIsBusyIsLeftAlone(t *testing.T) {
	w := reader(&paper{ids: []string{`"a"`}, busy: 2, after: "90"})
	wantNew(t, w, `{}`, false, "a")
	if want := []time.Duration{90 * time.Second, 90 * time.Second}; !slices.Equal(w.Sleeps, want) {
		t.Errorf("it slept %v, want %v", w.Sleeps, want)
	}
	for after, sleeps := range map[string]int{"90": 2, "7200": 0, "": 0} {
		w := reader(&paper{busy: 5, after: after})
		_, err := sdktest.Call(t, w, "new", `{}`)
		wantFailure(t, err, "refused", toolabi.RetryAfter)
		if len(w.Sleeps) != sleeps || len(w.KV["feed"]) > 0 {
			t.Errorf("Retry-After %q: slept %v, wrote %d keys", after, w.Sleeps, len(w.KV["feed"]))
		}
	}
}

func TestSeenListsAndForgetLetsReturnAgain(t *testing.T) {
	p := &paper{ids: []string{`"b"`, `"a"`}}
	w := reader(p)
	wantNew(t, w, `{}`, false, "b", "a")
	text, err := sdktest.Call(t, w, "seen", `{"limit":1}`)
	var first, second SeenOut
	if err != nil || json.Unmarshal([]byte(text), &first) != nil || len(first.Entries) != 1 || first.Next == "" {
		t.Fatalf("seen: %s, %v", text, err)
	}
	text, err = sdktest.Call(t, w, "seen", fmt.Sprintf(`{"url":"https://news.test/feed.json","after":%q}`, first.Next))
	if err != nil || json.Unmarshal([]byte(text), &second) != nil || len(second.Entries) != 1 || second.Next != "" {
		t.Fatalf("seen: %s, %v", text, err)
	}
	got := map[name]string{}
	for _, e := range append(first.Entries, second.Entries...) {
		got[e.ID] = e.Title + " " + e.At
	}
	if want := map[name]string{"a": "Entry a 2026-03-01T08:00:00Z", "b": "Entry b 2026-03-01T08:00:00Z"}; !maps.Equal(got, want) {
		t.Errorf("seen: %q, want %q", got, want)
	}
	if text, err := sdktest.Call(t, w, "forget", `{"ids":["b","z"]}`); err != nil || text != `{"forgotten":1}` {
		t.Errorf("forget: %s, %v", text, err)
	}
	wantNew(t, w, `{}`, false, "b")
}

// A run that read the feed before an entry was forgotten must not write down that all of it was returned.
func TestWhatIsForgottenWhileTheFeedIsReadIsNotLost(t *testing.T) {
	p := &paper{ids: []string{`"a"`}}
	w := reader(p)
	wantNew(t, w, `{}`, false, "a")
	p.ids = append(p.ids, `"b"`)
	key := stateKey("https://news.test/feed.json")
	w.Clock = func() time.Time { // what forget does last
		w.KV["feed"][key] = []byte(`{}`)
		return time.Unix(0, 0)
	}
	wantNew(t, w, `{}`, false, "b")
	if got := string(w.KV["feed"][key]); got != `{}` {
		t.Errorf("the state is %s, though an entry was forgotten", got)
	}
}

func TestWhatIsNoFeedIsRefused(t *testing.T) {
	for _, body := range []string{`not JSON`, `{}`, `{"version":"https://jsonfeed.org/version/2","items":[]}`, `{"version":"https://jsonfeed.org/version/1","items":[{"id":{}}]}`} {
		w := reader(nil)
		w.HTTP = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		_, err := sdktest.Call(t, w, "new", `{}`)
		wantFailure(t, err, "unreadable", toolabi.RetryNever)
	}
	w := reader(&paper{})
	w.Config = map[string]string{}
	_, err := sdktest.Call(t, w, "new", `{}`)
	wantFailure(t, err, "no_feed", toolabi.RetryNever)
	for _, page := range []string{"0", "101", "many"} {
		w := reader(&paper{})
		w.Config["page"] = page
		_, err := sdktest.Call(t, w, "new", `{}`)
		wantFailure(t, err, "bad_setting", toolabi.RetryNever)
	}
}

func TestEntriesThatCannotBeToldApartAreLeftOut(t *testing.T) {
	p := &paper{ids: []string{`""`, `null`, `"` + strings.Repeat("x", maxID+1) + `"`, `"a"`, `"a"`}}
	wantNew(t, reader(p), `{}`, false, "a")
}

func wantFailure(t *testing.T, err error, detail string, retry toolabi.Retry) {
	t.Helper()
	var e *toolabi.Error
	if !errors.As(err, &e) || e.Code != toolabi.Failed || e.Detail != detail || e.Retry != retry {
		t.Errorf("got %v (%+v), want failed (%s)", err, e, detail)
	}
}

func TestTheManifestAsksForWhatItsStoreIsCalled(t *testing.T) {
	m := sdktest.Manifest(t)
	if m.Name != store {
		t.Errorf("the module is called %s, and its requests leave the store's name out, which is %s", m.Name, store)
	}
	want := map[string]toolabi.Idempotency{"new": toolabi.Idempotent, "seen": toolabi.ReadOnly, "forget": toolabi.Idempotent}
	for _, tool := range m.Tools {
		if got := tool.Declared(); got != want[tool.Name] {
			t.Errorf("%s promises %s, want %s", tool.Name, got, want[tool.Name])
		}
	}
}
