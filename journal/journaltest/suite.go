package journaltest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

// Maker makes the journals that the suite tests.
type Maker struct {
	// Open opens the journal in a directory, and makes it when it is not there yet. The suite opens one directory
	// several times at once, as several processes would, and again after everyone has closed it.
	Open func(t *testing.T, dir string) Store
}

// Run holds a journal to everything that the interfaces of package journal say.
func Run(t *testing.T, m Maker) {
	t.Run("Append", m.testAppend)
	t.Run("Read", m.testRead)
	t.Run("List", m.testList)
	t.Run("Labels", m.testLabels)
	t.Run("KV", m.testKV)
	t.Run("Blobs", m.testBlobs)
	t.Run("Owners", m.testOwners)
	t.Run("Identity", m.testIdentity)
	t.Run("Room", m.testRoom)
	t.Run("Size", m.testSize)
	t.Run("Many", m.testMany)
	t.Run("Reopen", m.testReopen)
	t.Run("Close", m.testClose)
}

// open returns a handle on a journal of its own, which is checked at the end of the test.
func (m Maker) open(t *testing.T) Store {
	t.Helper()
	return m.openDir(t, t.TempDir())
}

func (m Maker) openDir(t *testing.T, dir string) Store {
	t.Helper()
	j := m.Open(t, dir)
	t.Cleanup(func() { j.Close() })
	CheckOnCleanup(t, j)
	return j
}

const owner = "0123456789abcdef"

// The entries that the suite is made of, each the smallest that the rules allow.

func created(now int64) journal.Entry {
	return journal.Entry{Kind: journal.Created, Time: now, Name: "test", Body: []byte("made of")}
}

func claimed(now int64) journal.Entry {
	return journal.Entry{Kind: journal.Claimed, Time: now, Owner: owner}
}

func intent(now int64, step journal.Step, cut journal.OnCut) journal.Entry {
	return journal.Entry{
		Kind: journal.Intent, Time: now, Step: step, Name: "tool", OnCut: cut, Owner: owner,
		Request: journal.DigestOf([]byte(step)), Key: "key of " + string(step), SendBy: 1 << 62, Body: []byte("request"),
	}
}

func result(now int64, step journal.Step) journal.Entry {
	return journal.Entry{
		Kind: journal.Result, Time: now, Step: step, Owner: owner, Outcome: journal.OK,
		Effect: journal.EffectApplied, Body: []byte("reply"),
	}
}

func record(now int64, name string, writes ...journal.Write) journal.Entry {
	return journal.Entry{Kind: journal.Record, Time: now, Name: name, Writes: writes}
}

// begin makes a run that is claimed, 2 entries long.
func begin(t *testing.T, j journal.Journal, run string) {
	t.Helper()
	mustAppend(t, j, run, 0, created(1), claimed(2))
}

func mustAppend(t *testing.T, j journal.Journal, run string, at uint64, entries ...journal.Entry) {
	t.Helper()
	if err := j.Append(t.Context(), run, at, entries...); err != nil {
		t.Fatalf("append %d entries to %s at %d: %v", len(entries), run, at, err)
	}
}

// refuse asserts that an append fails with an error, and that the log stays as it was.
func refuse(t *testing.T, j journal.Journal, want error, run string, at uint64, entries ...journal.Entry) {
	t.Helper()
	before := length(t, j, run)
	if err := j.Append(t.Context(), run, at, entries...); !errors.Is(err, want) {
		t.Errorf("append to %s at %d: got %v, want %v", run, at, err, want)
	}
	if after := length(t, j, run); after != before {
		t.Errorf("a refused append made %s %d entries long, it had %d", run, after, before)
	}
}

// length returns a log's length, from its entries and from its listing, which must agree.
func length(t *testing.T, j journal.Journal, run string) uint64 {
	t.Helper()
	var n uint64
	for _, err := range j.Read(t.Context(), run, 0) {
		if errors.Is(err, journal.ErrNotFound) {
			break
		}
		if err != nil {
			t.Fatalf("read %s: %v", run, err)
		}
		n++
	}
	if s := state(t, j, run); s.Len != n {
		t.Fatalf("%s has %d entries and is listed with %d", run, n, s.Len)
	}
	return n
}

func state(t *testing.T, j journal.Journal, run string) journal.State {
	t.Helper()
	for s, err := range j.List(t.Context(), journal.Query{Run: run}) {
		if err != nil {
			t.Fatalf("list %s: %v", run, err)
		}
		return s
	}
	return journal.State{Run: run}
}

func entries(t *testing.T, j journal.Journal, run string, from uint64) []journal.Entry {
	t.Helper()
	var all []journal.Entry
	for e, err := range j.Read(t.Context(), run, from) {
		if err != nil {
			t.Fatalf("read %s from %d: %v", run, from, err)
		}
		all = append(all, e)
	}
	return all
}

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func runName(i int) string { return fmt.Sprintf("run-%04d", i) }
