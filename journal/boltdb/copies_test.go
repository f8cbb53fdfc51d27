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
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
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

// childCount makes entries of a run until it is killed; each counts one of four keys that all processes share.
func childCount(ctx context.Context, j *boltdb.Journal, run string) error {
	if err := begin(ctx, j, run); err != nil {
		return err
	}
	for at := uint64(2); ; at++ {
		if err := count(ctx, j, run, fmt.Sprint("load", at%4), at); err != nil {
			return err
		}
		fmt.Println("ACK", at)
	}
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

// Eight processes write, and count keys that they share, while the journal is backed up and compacted again and again.
func TestCopiesUnderLoad(t *testing.T) {
	j := stocked(t, t.TempDir())
	var children []*child
	for i := range 8 {
		children = append(children, start(t, "count", j.Path(), fmt.Sprint("process-", i)))
	}
	acked := make([]int, len(children))
	for i, c := range children {
		acked[i] = number(t, c.expect(t, "ACK"))
	}
	drained := make(chan int, len(children))
	for i, c := range children {
		go func() {
			for c.lines.Scan() {
				if n, ok := strings.CutPrefix(c.lines.Text(), "ACK "); ok {
					fmt.Sscan(n, &acked[i])
				} else {
					c.last = c.lines.Text()
				}
			}
			drained <- i
		}()
	}
	before := 0
	for range 4 {
		other, _ := restored(t, backup(t, j))
		journaltest.Check(t, other)
		keysFollow(t, other)
		n := 0
		for _, log := range look(t, other).Logs {
			n += len(log)
		}
		if n <= before {
			t.Errorf("a backup has %d entries, the one before had %d", n, before)
		}
		before = n
		if _, err := j.Compact(t.Context(), boltdb.CopyOptions{}); err != nil {
			t.Error(err)
		}
	}
	for _, c := range children {
		c.Process.Kill()
	}
	for range children {
		<-drained
	}
	total := 0
	for i, c := range children {
		c.Wait()
		if c.last != "" {
			t.Errorf("process %d said %s", i, c.last)
		}
		if got := length(t, j, fmt.Sprint("process-", i)); got < acked[i]+1 || got > acked[i]+2 {
			t.Errorf("process %d has %d acknowledged, its log %d entries", i, acked[i], got)
		}
		total += acked[i]
	}
	t.Logf("%d entries were acknowledged meanwhile", total)
	journaltest.Check(t, j)
	keysFollow(t, j)
}

func TestCompactGivesBackWhatIsFree(t *testing.T) {
	j := stocked(t, t.TempDir())
	long := journal.Entry{Kind: journal.Record, Time: 3, Name: "x", Body: bytes.Repeat([]byte("x"), journal.MaxInline)}
	for at := range uint64(200) { // rewriting pages leaves free ones behind
		e := long
		if at == 0 {
			e = created()
		}
		if err := j.Append(t.Context(), "long", at, e); err != nil {
			t.Fatal(err)
		}
	}
	want := look(t, j)
	a, _ := j.ID()
	handle := open(t, j.Path())
	done, err := j.Compact(t.Context(), boltdb.CopyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(j.Path())
	if err != nil || info.Size() != done.After || done.After >= done.Before || info.Mode() != 0o600 {
		t.Errorf("%+v, and the file has %d bytes, %v", done, info.Size(), info.Mode())
	}
	t.Logf("%+v", done)
	handles := []*boltdb.Journal{j, handle, open(t, j.Path())}
	for _, h := range handles {
		if got := look(t, h); !got.equal(want) {
			t.Error("it holds something else")
		}
		if b, _ := h.ID(); a != b {
			t.Error("it has another id")
		}
	}
	for _, h := range handles {
		if err := h.Append(t.Context(), "long", uint64(length(t, h, "long")), long); err != nil {
			t.Error(err)
		}
	}
	journaltest.Check(t, j)
}

func TestAJournalThatIsThereIsKept(t *testing.T) {
	b := backup(t, stocked(t, t.TempDir()))
	j := create(t, t.TempDir())
	if err := begin(t.Context(), j, "mine"); err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := boltdb.Restore(t.Context(), j.Path(), bytes.NewReader(b), boltdb.RestoreOptions{}); !errors.Is(err, boltdb.ErrOccupied) {
		t.Errorf("got %v, want %v", err, boltdb.ErrOccupied)
	}
	if now, err := os.ReadFile(j.Path()); err != nil || !bytes.Equal(now, image) {
		t.Errorf("it has changed: %v", err)
	}
	done, err := boltdb.Restore(t.Context(), j.Path(), bytes.NewReader(b), boltdb.RestoreOptions{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(done.Kept); err != nil || !bytes.Equal(kept, image) {
		t.Errorf("%s is not what was there: %v", done.Kept, err)
	}
	// A handle that knows the one before must not go on with this one.
	err = j.Append(t.Context(), "mine", 2, record("x"))
	if !errors.Is(err, journal.ErrForeign) {
		t.Errorf("got %v, want %v", err, journal.ErrForeign)
	}
	other := open(t, j.Path())
	if n := length(t, other, "mine"); n != 0 {
		t.Error("the run of the journal before is there")
	}
	// Neither must one that knows the same journal as it was before it was restored.
	if _, err := boltdb.Restore(t.Context(), j.Path(), bytes.NewReader(b), boltdb.RestoreOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if err := begin(t.Context(), other, "mine"); !errors.Is(err, journal.ErrForeign) {
		t.Errorf("got %v, want %v", err, journal.ErrForeign)
	}
}

func TestWhatIsNoBackupIsNotRestored(t *testing.T) {
	j := stocked(t, t.TempDir())
	b := backup(t, j)
	var run bytes.Buffer
	if _, err := j.Export(t.Context(), "run-3", &run, boltdb.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	try := func(name string, b []byte, wants ...error) {
		t.Helper()
		dir := t.TempDir()
		_, err := boltdb.Restore(t.Context(), filepath.Join(dir, "journal.db"), bytes.NewReader(b), boltdb.RestoreOptions{})
		if !slices.ContainsFunc(wants, func(want error) bool { return errors.Is(err, want) }) {
			t.Errorf("%s: %v, want %v", name, err, wants)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "journal.db"))
		left, _ := filepath.Glob(filepath.Join(dir, ".*"))
		if len(files)+len(left) > 0 {
			t.Errorf("%s: it leaves %v %v", name, files, left)
		}
	}
	try("a run", run.Bytes(), boltdb.ErrOtherBundle)
	try("text", []byte("text"), bundle.ErrForeign)
	for n := 1; n < len(b); n += 1 + len(b)/150 {
		try(fmt.Sprintf("%d of %d bytes", n, len(b)), b[:n], bundle.ErrDamaged)
	}
	for n := len(bundle.Magic); n < len(b); n += 1 + len(b)/150 {
		flipped := bytes.Clone(b)
		flipped[n] ^= 0x10
		try(fmt.Sprintf("byte %d of %d flipped", n, len(b)), flipped, bundle.ErrDamaged, bundle.ErrNewer, journal.ErrDamaged, journal.ErrNewer)
	}
}

// forged is a bundle that no journal wrote: its digest is right, what is in it is not.
func forged(t *testing.T, h bundle.Header, f func(w *bundle.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	h.Journal, h.Schema = journal.DigestOf([]byte("a journal")), cmp(h.Schema, boltdb.Schema)
	w, err := bundle.NewWriter(&b, h)
	if err == nil {
		err = f(w)
	}
	if err == nil {
		_, err = w.End()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func cmp(a, otherwise uint64) uint64 {
	if a == 0 {
		return otherwise
	}
	return a
}

// records are those of a log with these entries.
func records(t *testing.T, run string, entries ...journal.Entry) (all [][]byte) {
	t.Helper()
	before := journal.ChainStart(run)
	for i, e := range entries {
		e.Seq = uint64(i)
		r, err := e.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		all, before = append(all, r), e.Hash
	}
	return all
}

func TestForgedBundlesAreRefused(t *testing.T) {
	good := records(t, "r", created(), record("x"), record("y"))
	other := records(t, "other", created(), record("x"))
	rule := records(t, "r", created(), journal.Entry{Kind: journal.Intent, Time: 1, Step: "s", Owner: "nobody"})
	lacks := records(t, "r", created(), journal.Entry{Kind: journal.Record, Time: 1, Name: "x", Blob: journal.DigestOf([]byte("b")), Size: 1})
	log := func(from uint64, records ...[]byte) func(*bundle.Writer) error {
		return func(w *bundle.Writer) error {
			err := w.Log(bundle.Log{Run: "r", From: from})
			for _, r := range records {
				err = errors.Join(err, w.Record(r))
			}
			return err
		}
	}
	for name, fill := range map[string]func(*bundle.Writer) error{
		"a log with a gap":         log(0, good[0], good[2]),
		"a log without its start":  log(1, good[1]),
		"a record of another run":  log(0, good[0], other[1]),
		"a log that breaks a rule": log(0, rule...),
		"a blob that is missing":   log(0, lacks...),
		"the same again, changed": func(w *bundle.Writer) error {
			return errors.Join(log(0, good...)(w), log(0, other[0])(w))
		},
		"another run": func(w *bundle.Writer) error {
			return errors.Join(log(0, good...)(w), w.Log(bundle.Log{Run: "other"}), w.Record(other[0]))
		},
	} {
		h := bundle.Header{Of: bundle.Backup}
		dir := t.TempDir()
		_, err := boltdb.Restore(t.Context(), filepath.Join(dir, "journal.db"), bytes.NewReader(forged(t, h, fill)), boltdb.RestoreOptions{})
		if name != "another run" && // which a journal may have
			!errors.Is(err, bundle.ErrDamaged) {
			t.Errorf("%s: restore: %v, want that it is damaged", name, err)
		}
		j := create(t, t.TempDir())
		h.Of, h.Run = bundle.Run, "r"
		_, err = j.Import(t.Context(), bytes.NewReader(forged(t, h, fill)), boltdb.ImportOptions{})
		if !errors.Is(err, bundle.ErrDamaged) {
			t.Errorf("%s: import: %v, want that it is damaged", name, err)
		}
		nothingLeft(t, j)
	}
	newer := forged(t, bundle.Header{Of: bundle.Backup, Schema: boltdb.Schema + 1}, log(0, good...))
	if _, err := boltdb.Restore(t.Context(), filepath.Join(t.TempDir(), "journal.db"), bytes.NewReader(newer), boltdb.RestoreOptions{}); !errors.Is(err, bundle.ErrNewer) {
		t.Errorf("got %v, want %v", err, bundle.ErrNewer)
	}
}

// nothingLeft holds that a journal without runs has nothing else.
func nothingLeft(t *testing.T, j *boltdb.Journal) {
	t.Helper()
	marks, entries, err := boltdb.Leftovers(t.Context(), j)
	if n := runs(t, j, journal.Query{}); n != 0 || marks != 0 || entries != 0 || err != nil {
		t.Errorf("left: %d runs, %d marks, %d entries, %v", n, marks, entries, err)
	}
}

// A journal of 200 MB takes no more memory than one of 2.
func TestABackupTakesAsMuchMemoryHoweverLargeTheJournal(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it writes 200 MB")
	}
	j := create(t, t.TempDir())
	large(t, j, 3200)
	if _, _, err := j.Put(t.Context(), io.LimitReader(zeros{}, 40<<20)); err != nil {
		t.Fatal(err)
	}
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	before, most := mem.HeapInuse, uint64(0)
	counter := 0
	opts := boltdb.CopyOptions{Progress: func(boltdb.Progress) {
		runtime.ReadMemStats(&mem)
		most = max(most, mem.HeapInuse)
	}}
	if _, err := j.Backup(t.Context(), writerFunc(func(b []byte) (int, error) { counter += len(b); return len(b), nil }), opts); err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MB in all, %.1f MB of memory at most", float64(counter)/1e6, float64(most-before)/1e6)
	if counter < 200<<20 || most-before > 5*(8<<20) { // it takes about 8 MB
		t.Errorf("%d bytes took %d of memory", counter, most-before)
	}
}

// large makes so many entries of 64 KiB, in runs of 60.
func large(t *testing.T, j *boltdb.Journal, entries int) {
	t.Helper()
	const each = 60
	e := journal.Entry{Kind: journal.Record, Time: 3, Name: "x", Body: bytes.Repeat([]byte("0123456789abcdef"), journal.MaxInline/16)}
	for run := range entries / each {
		es := []journal.Entry{created()}
		for range each {
			es = append(es, e)
		}
		if err := j.Append(t.Context(), fmt.Sprint("large-", run), 0, es...); err != nil {
			t.Fatal(err)
		}
	}
}

// Another process appends while a large journal is backed up and compacted. It may wait as long as people do not notice, and here five
// times as long.
func TestNobodyWaitsForACopy(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it writes 100 MB")
	}
	j := create(t, t.TempDir())
	large(t, j, 1600)
	c := start(t, "append", j.Path(), "theirs", "600")
	c.expect(t, "ACK")
	ended := make(chan int, 1)
	go func() { ended <- c.rest(t) }()
	backups, compactions := 0, 0
	for acked := -1; acked < 0; {
		if _, err := j.Backup(t.Context(), io.Discard, boltdb.CopyOptions{}); err != nil {
			t.Error(err)
		}
		backups++
		select {
		case acked = <-ended:
			if acked != 600 {
				t.Fatalf("%d were acknowledged: %s", acked, c.last)
			}
			continue
		default:
		}
		if _, err := j.Compact(t.Context(), boltdb.CopyOptions{}); err != nil {
			t.Error(err)
		}
		compactions++
	}
	var longest string
	if _, err := fmt.Sscanf(c.last, "LONGEST %s", &longest); err != nil {
		t.Fatalf("%s: %v", c.last, err)
	}
	t.Logf("%d backups, %d compactions; the longest of 600 appends took %s", backups, compactions, longest)
	if d, err := time.ParseDuration(longest); err != nil || d > 5*time.Second {
		t.Errorf("an append took %s, %v", longest, err)
	}
	if got := length(t, j, "theirs"); got != 601 {
		t.Errorf("the log has %d entries, want 601", got)
	}
}

// What is no file is not taken for a journal that may be replaced.
func TestWhatIsNoFileIsNotReplaced(t *testing.T) {
	b := backup(t, stocked(t, t.TempDir()))
	for name, make := range map[string]func(path string) error{
		"a directory":      func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":           func(path string) error { return os.Symlink(filepath.Dir(path), path) },
		"a link to no one": func(path string) error { return os.Symlink(path+".none", path) },
		"a pipe":           mkfifo,
	} {
		path := filepath.Join(t.TempDir(), "journal.db")
		if err := make(path); err != nil {
			t.Logf("SKIPPED: %s: %v", name, err)
			continue
		}
		before, _ := os.Lstat(path)
		for _, force := range []bool{false, true} {
			if _, err := boltdb.Restore(t.Context(), path, bytes.NewReader(b), boltdb.RestoreOptions{Force: force}); !errors.Is(err, journal.ErrForeign) {
				t.Errorf("%s: %v, want %v", name, err, journal.ErrForeign)
			}
		}
		if now, err := os.Lstat(path); err != nil || now.Mode() != before.Mode() {
			t.Errorf("%s is %v now, %v", name, now, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file") // where a directory should be
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := boltdb.Restore(t.Context(), filepath.Join(file, "journal.db"), bytes.NewReader(b), boltdb.RestoreOptions{}); err == nil {
		t.Error("a journal was made below a file")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
