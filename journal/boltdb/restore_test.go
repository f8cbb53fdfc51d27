package boltdb_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
)

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
func records(t testing.TB, run string, entries ...journal.Entry) (all [][]byte) {
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
		"a blob that no entry names": func(w *bundle.Writer) error {
			return errors.Join(log(0, good...)(w), w.Blob(bundle.Blob{Digest: journal.DigestOf([]byte("b")), Size: 1}, strings.NewReader("b")))
		},
		"another run": func(w *bundle.Writer) error {
			return errors.Join(log(0, good...)(w), w.Log(bundle.Log{Run: "other"}), w.Record(other[0]))
		},
	} {
		h := bundle.Header{Of: bundle.Backup}
		dir := t.TempDir()
		_, err := boltdb.Restore(t.Context(), filepath.Join(dir, "journal.db"), bytes.NewReader(forged(t, h, fill)), boltdb.RestoreOptions{})
		if name != "another run" && name != "a blob that no entry names" && // which a journal may have
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

// A journal that was replaced is kept, and so are its blobs, as long as it lies there: it may have what the backup has not.
func TestTheBlobsOfAReplacedJournalAreNotCollected(t *testing.T) {
	for _, how := range []string{"whole", "damaged"} {
		t.Run(how, func(t *testing.T) {
			j := fill(t, t.TempDir(), 2)
			b := backup(t, j)
			fillRun(t, j, "later", false)
			if _, _, err := j.Put(t.Context(), strings.NewReader("nobody's")); err != nil {
				t.Fatal(err)
			}
			j.Close()
			if how == "damaged" {
				image, err := os.ReadFile(j.Path())
				if err != nil {
					t.Fatal(err)
				}
				clear(image[:2*os.Getpagesize()]) // both headers
				place(t, j.Path(), image)
			}
			done, err := boltdb.Restore(t.Context(), j.Path(), bytes.NewReader(b), boltdb.RestoreOptions{Force: true})
			if err != nil {
				t.Fatal(err)
			}
			put := open(t, j.Path())
			dry := collect(t, put, boltdb.CollectOptions{DryRun: true})
			got := collect(t, put, boltdb.CollectOptions{})
			if !stored(t, put, strings.Repeat("later", 50)) || got.Blobs != 1 || dry.Blobs != 1 || stored(t, put, "nobody's") {
				t.Errorf("got %+v, dry %+v; want the blob of the replaced journal to stay", got, dry)
			}
			if err := os.Remove(done.Kept); err != nil {
				t.Fatal(err)
			}
			if got := collect(t, put, boltdb.CollectOptions{}); got.Blobs != 1 {
				t.Errorf("once it is gone: %+v, want its blob to go", got)
			}
		})
	}
}
