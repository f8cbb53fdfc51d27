package boltdb_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

const shared = "kv:shared"

// count appends an entry to a run that adds one to a key which all runs share, and is tried until it is in. It returns the entry's
// position.
func count(ctx context.Context, j *boltdb.Journal, run, key string, at uint64) error {
	for {
		v, version, err := j.Get(ctx, shared, key)
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			return err
		}
		n := uint64(0)
		if err == nil {
			n = binary.BigEndian.Uint64(v)
		} else {
			version = 0
		}
		e := journal.Entry{
			Kind: journal.Result, Time: 2, Owner: "o", Step: journal.Step(fmt.Sprint("step", at)), Name: "kv_put", OnCut: journal.Redo,
			Request: journal.DigestOf([]byte("x")), Outcome: journal.OK,
			Writes: []journal.Write{{Space: shared, Key: key, Value: binary.BigEndian.AppendUint64(nil, n+1), Expect: version}},
		}
		if err := j.Append(ctx, run, at, e); !errors.Is(err, journal.ErrStale) {
			return err
		}
	}
}

func begin(ctx context.Context, j *boltdb.Journal, run string) error {
	return j.Append(ctx, run, 0, created(), journal.Entry{Kind: journal.Claimed, Time: 1, Owner: "o"})
}

// stocked is a journal with everything that one can have: runs of every length, finished and not, keys that live and do not, a removed
// run, and blobs.
func stocked(t testing.TB, dir string) *boltdb.Journal {
	t.Helper()
	j := create(t, dir)
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		run := fmt.Sprint("run-", i)
		check(begin(ctx, j, run))
		at := uint64(2)
		for range i {
			check(count(ctx, j, run, fmt.Sprint("key", i%4), at))
			at++
		}
		d, n, err := j.Put(ctx, strings.NewReader(fmt.Sprint("blob of ", run)))
		check(err)
		check(j.Append(ctx, run, at, journal.Entry{Kind: journal.Record, Time: 3, Name: "x", Blob: d, Size: n}))
		if i%3 == 0 {
			check(j.Append(ctx, run, at+1, journal.Entry{Kind: journal.Finished, Time: 4, Owner: "o", Outcome: journal.OK}))
		}
	}
	_, version, err := j.Get(ctx, shared, "key3")
	check(err)
	check(begin(ctx, j, "deletes"))
	check(j.Append(ctx, "deletes", 2, journal.Entry{
		Kind: journal.Result, Time: 2, Owner: "o", Step: "s", Name: "kv_delete", OnCut: journal.Redo, Request: journal.DigestOf([]byte("x")),
		Outcome: journal.OK, Writes: []journal.Write{{Space: shared, Key: "key3", Delete: true, Expect: version}},
	}))
	check(boltdb.Remove(ctx, j, "removed", []byte("what is kept")))
	return j
}

// inside is all that a journal holds, but what a restore adds.
type inside struct {
	Logs  map[string][]journal.Digest
	Keys  map[string]string
	Blobs map[string]bool
	Kept  string
}

func look(t testing.TB, j *boltdb.Journal) inside {
	t.Helper()
	in := inside{map[string][]journal.Digest{}, map[string]string{}, map[string]bool{}, ""}
	for s, err := range j.List(t.Context(), journal.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range j.Read(t.Context(), s.Run, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind != journal.Restored {
				in.Logs[s.Run] = append(in.Logs[s.Run], e.Hash)
			}
			if !e.Blob.IsZero() {
				b, err := journal.ReadBlob(t.Context(), j, e.Blob)
				if err != nil {
					t.Error(err)
				}
				in.Blobs[string(b)] = true
			}
		}
	}
	for i := range 5 {
		v, version, err := j.Get(t.Context(), shared, fmt.Sprint("key", i))
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			t.Fatal(err)
		}
		in.Keys[fmt.Sprint("key", i)] = fmt.Sprintf("%x, version %d, %t", v, version, err == nil)
	}
	in.Kept, _ = boltdb.Kept(t.Context(), j, "removed")
	return in
}

func (in inside) equal(other inside) bool {
	return maps.EqualFunc(in.Logs, other.Logs, slices.Equal) && maps.Equal(in.Keys, other.Keys) && maps.Equal(in.Blobs, other.Blobs) &&
		in.Kept == other.Kept
}

func backup(t testing.TB, j *boltdb.Journal) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := j.Backup(t.Context(), &b, boltdb.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// restored puts a backup back in a directory of its own.
func restored(t testing.TB, b []byte) (*boltdb.Journal, boltdb.Restored) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "there", "journal.db")
	done, err := boltdb.Restore(t.Context(), path, bytes.NewReader(b), boltdb.RestoreOptions{By: "me", Note: "a test"})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, path), done
}

func open(t testing.TB, path string) *boltdb.Journal {
	t.Helper()
	j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// keysFollow holds the keys of tool state against the writes of all logs.
func keysFollow(t testing.TB, j *boltdb.Journal) {
	t.Helper()
	last := map[string]journal.Write{}
	writes := 0
	for s, err := range j.List(t.Context(), journal.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range j.Read(t.Context(), s.Run, 0) {
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range e.Writes {
				if before, ok := last[w.Key]; !ok || !before.Delete && (w.Expect > before.Expect || w.Delete) {
					last[w.Key] = w
				}
				writes++
			}
		}
	}
	for key, w := range last {
		if w.Delete {
			continue // nothing writes it after that
		}
		v, version, err := j.Get(t.Context(), shared, key)
		if err != nil || version != w.Expect+1 || !bytes.Equal(v, w.Value) {
			t.Errorf("%s is %x, version %d, %v; its last write made it %x, version %d", key, v, version, err, w.Value, w.Expect+1)
		}
	}
	if writes == 0 {
		t.Error("there are no writes")
	}
}

func TestABackupIsPutBackWhole(t *testing.T) {
	j := stocked(t, t.TempDir())
	want := look(t, j)
	at := map[string]uint64{}
	other, done := restored(t, backup(t, j))
	if got := look(t, other); !got.equal(want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if want.Kept != "what is kept" || len(want.Blobs) != 30 {
		t.Errorf("the journal itself: %+v", want)
	}
	journaltest.Check(t, other)
	a, _ := j.ID()
	if b, err := other.ID(); err != nil || a != b {
		t.Errorf("its id is %v, %v, want %v", b, err, a)
	}
	if done.Unfinished != 21 || done.Kept != "" || done.Counts.Blobs != 30 {
		t.Errorf("%+v", done)
	}
	for s := range other.List(t.Context(), journal.Query{}) {
		if s.Finished == s.Unconfirmed || !s.Finished && s.Owner != "" {
			t.Errorf("run %s: finished %t, unconfirmed %t, owner %q", s.Run, s.Finished, s.Unconfirmed, s.Owner)
		}
		at[s.Run] = s.Len
	}
	for e, err := range other.Read(t.Context(), "deletes", at["deletes"]-1) {
		if err != nil || e.Kind != journal.Restored || e.By != "me" || e.Note != "a test" {
			t.Errorf("%+v, %v", e, err)
		}
	}
}

// What changes while the copy is made is in it, up to its last moment.
func TestABackupIsOfOneMoment(t *testing.T) {
	j := stocked(t, t.TempDir())
	ctx := t.Context()
	points := 0
	boltdb.OnPoint(j, func(point string) {
		if point == "logs written" {
			return
		}
		points++
		// A run that was copied already, one that is new, and a key that was.
		err := count(ctx, j, "deletes", "key1", uint64(length(t, j, "deletes")))
		for i := range 300 {
			run := fmt.Sprintf("new-%d-%d", points, i)
			err = errors.Join(err, begin(ctx, j, run), count(ctx, j, run, "key2", 2))
		}
		if err != nil {
			t.Error(err)
		}
	})
	b := backup(t, j)
	if points != 2 {
		t.Errorf("there were %d points, want 2", points)
	}
	other, _ := restored(t, b)
	if got, want := look(t, other), look(t, j); !got.equal(want) {
		t.Errorf("%d logs, want %d; keys %v, want %v", len(got.Logs), len(want.Logs), got.Keys, want.Keys)
	}
	if marks, entries, err := boltdb.Leftovers(ctx, j); marks != 0 || entries != 0 || err != nil {
		t.Errorf("left: %d marks, %d entries, %v", marks, entries, err)
	}
}

func TestABackupThatFailsLeavesNothing(t *testing.T) {
	j := stocked(t, t.TempDir())
	broken := errors.New("the disk is broken")
	if _, err := j.Backup(t.Context(), writerFunc(func([]byte) (int, error) { return 0, broken }), boltdb.CopyOptions{}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	ctx, cancel := context.WithCancel(t.Context())
	boltdb.OnPoint(j, func(string) { cancel() })
	if _, err := j.Backup(ctx, io.Discard, boltdb.CopyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if marks, entries, err := boltdb.Leftovers(t.Context(), j); marks != 0 || entries != 0 || err != nil {
		t.Errorf("left: %d marks, %d entries, %v", marks, entries, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// Of what is damaged there is no backup that looks whole.
func TestWhatIsDamagedHasNoBackup(t *testing.T) {
	j := stocked(t, t.TempDir())
	blobs, err := filepath.Glob(j.Path() + ".blobs/*/*")
	if err != nil || len(blobs) == 0 {
		t.Fatal(blobs, err)
	}
	for name, damage := range map[string]func() error{
		"cut off":   func() error { return os.Truncate(blobs[0], 1) },
		"changed":   func() error { return os.WriteFile(blobs[0], []byte("something else"), 0o600) },
		"a new end": func() error { return os.WriteFile(blobs[0], []byte("blob of run-1 "), 0o600) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Backup(t.Context(), io.Discard, boltdb.CopyOptions{}); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("%s: %v, want %v", name, err, journal.ErrDamaged)
		}
	}
}

// A record that has changed is carried nowhere, and is said by run and entry.
func TestADamagedLogIsCarriedNowhere(t *testing.T) {
	j := stocked(t, t.TempDir())
	if err := boltdb.Spoil(t.Context(), j, "run-7", 3); err != nil {
		t.Fatal(err)
	}
	_, backup := j.Backup(t.Context(), io.Discard, boltdb.CopyOptions{})
	_, compact := j.Compact(t.Context(), boltdb.CopyOptions{})
	_, export := j.Export(t.Context(), "run-7", io.Discard, boltdb.CopyOptions{})
	for what, err := range map[string]error{"backup": backup, "compact": compact, "export": export} {
		if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), "run run-7, entry 3") {
			t.Errorf("%s: %v, want that entry 3 of run-7 is damaged", what, err)
		}
	}
	if marks, entries, err := boltdb.Leftovers(t.Context(), j); marks != 0 || entries != 0 || err != nil {
		t.Errorf("left: %d marks, %d entries, %v", marks, entries, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(j.Path()), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := j.Export(t.Context(), "run-8", io.Discard, boltdb.CopyOptions{}); err != nil {
		t.Errorf("another run: %v", err)
	}
	if err := begin(t.Context(), j, "later"); err != nil {
		t.Errorf("the journal itself: %v", err)
	}
}

func TestABackupSaysOfHowMuchItIsHowFar(t *testing.T) {
	j := fill(t, t.TempDir(), 6)
	var last boltdb.Progress
	counts, err := j.Backup(t.Context(), io.Discard, boltdb.CopyOptions{Progress: func(p boltdb.Progress) { last = p }})
	if err != nil {
		t.Fatal(err)
	}
	if last.Entries != counts.Records || last.OfEntries != counts.Records || last.Blobs != 6 || last.OfBlobs != 6 {
		t.Errorf("told %+v of %+v", last, counts)
	}
}
