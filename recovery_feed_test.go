package wrun_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/feedserver"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
)

// The process that reads a feed dies at any append. While it is dead another run reads the feed, which has one entry more by then.
// When all of them have ended, each entry was returned once.
func TestEachEntryOfAFeedIsReturnedOnceWhereverItsReaderDies(t *testing.T) {
	k := newKit(t, "tools/feed")
	last := readFeed(t, k, 0, false)
	readFeed(t, k, 1, false)
	for n := 1; n <= last; n++ {
		readFeed(t, k, n, true)
	}
	if last < 5 {
		t.Errorf("only %d appends: two entries, the state, claim and end have one each", last)
	}
}

// readFeed has a reader die at its n-th append, none for 0, and returns how many there were.
func readFeed(t *testing.T, k *kit, n int, after bool) (appends int) {
	t.Helper()
	s, err := feedserver.Start(feedserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	publish(t, s, "a")
	publish(t, s, "b")
	file := filepath.Join(t.TempDir(), "journal.db")
	crasher := journaltest.CrashBefore(openBolt(t, file), n)
	if after {
		crasher = journaltest.CrashAfter(openBolt(t, file), n)
	}
	_, err = newEntries(t, k, crasher, s, "first")
	if crasher.Crashed() != errors.Is(err, journal.ErrUnusable) || !crasher.Crashed() && err != nil {
		t.Fatalf("crashed at %d, after %v: %v", n, after, err)
	}
	if err := crasher.Close(); err != nil {
		t.Fatal(err)
	}
	publish(t, s, "c")
	store := openBolt(t, file)
	var all []string
	for _, run := range []string{"second", "first", "third"} {
		ids, err := newEntries(t, k, store, s, run)
		if err != nil {
			t.Errorf("crashed at %d, after %v: run %s: %v", n, after, run, err)
		}
		all = append(all, ids...)
	}
	if slices.Sort(all); !slices.Equal(all, []string{"a", "b", "c"}) {
		t.Errorf("crashed at %d, after %v: returned were %q, want each of a, b and c once", n, after, all)
	}
	journaltest.Check(t, store)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return crasher.Appends()
}

// newEntries drives a run of feed.new to its end, and returns the ids that it returned.
func newEntries(t *testing.T, k *kit, store journaltest.Store, s *feedserver.Listening, run string) ([]string, error) {
	t.Helper()
	e, err := runtime.New(runtime.Config{
		Journal: store, Invoker: k.sandbox, Funcs: hostfuncs.Standard(hostfuncs.Config{}), Drivers: map[string]runtime.DriverInfo{call.Name: call.Driver()},
	})
	if err != nil {
		t.Fatal(err)
	}
	origin, err := hostfuncs.ParseOrigin(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	spec := runtime.Spec{
		Driver: call.Name, Version: call.Version, Plan: []byte("feed.new"), Modules: k.modules("feed"),
		Input: []byte(fmt.Sprintf(`{"url":"%s/feed.json"}`, s.URL())),
	}
	spec.Grants = hostfuncs.Grants{HTTP: []string{origin}, KV: []hostfuncs.KVGrant{{Store: "feed", Write: true}}}
	if _, err := e.Start(t.Context(), run, spec, k.wasm, true); err != nil {
		return nil, err
	}
	res, err := e.Drive(t.Context(), run, runtime.DriveOptions{})
	if err != nil {
		return nil, err
	}
	var out struct{ Entries []struct{ ID string } }
	if err := json.Unmarshal(res.Output, &out); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, entry := range out.Entries {
		ids = append(ids, entry.ID)
	}
	return ids, nil
}

func publish(t *testing.T, s *feedserver.Listening, id string) {
	t.Helper()
	res, err := http.Post(s.URL()+"/entries", "application/json", strings.NewReader(`{"id":"`+id+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusNoContent {
		t.Fatalf("publish %s: %s", id, res.Status)
	}
}
