package boltdb_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// sample returns the bytes of a journal with several runs and keys, up to a few pages behind the last one that was ever
// written, and the ends of its logs.
func sample(t testing.TB) (image []byte, heads map[string]journal.Digest) {
	t.Helper()
	j := create(t, t.TempDir())
	for i := range 4 {
		run := fmt.Sprint("run-", i)
		es := []journal.Entry{created(), {Kind: journal.Claimed, Time: 1, Owner: "o"}}
		for n := range 30 {
			es = append(es, journal.Entry{
				Kind: journal.Intent, Time: 2, Step: journal.Step(fmt.Sprint("step", n)), Name: "tool", Owner: "o", OnCut: journal.Redo,
				Request: journal.DigestOf([]byte("request")), Body: []byte(strings.Repeat("body ", 40)),
				Writes: []journal.Write{{Space: run, Key: fmt.Sprint("key", n), Value: []byte("value")}},
			})
		}
		for at := 0; at < len(es); at += 8 {
			if err := j.Append(t.Context(), run, uint64(at), es[at:min(at+8, len(es))]...); err != nil {
				t.Fatal(err)
			}
		}
	}
	heads = map[string]journal.Digest{}
	for s, err := range j.List(t.Context(), journal.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		heads[s.Run] = s.Head
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	used := len(image) / page
	for used > 0 && strings.Trim(string(image[(used-1)*page:used*page]), "\x00") == "" {
		used--
	}
	return image[:min(len(image), (used+8)*page)], heads
}

// use opens a damaged journal, reads all of it, verifies it and appends to it. That may fail, with an error that says
// so; it must not end the process. It returns the ends of the logs, nil when something was found to be wrong.
func use(t *testing.T, path string) map[string]journal.Digest {
	t.Helper()
	wrong := 0
	_, err := boltdb.Verify(t.Context(), path, boltdb.VerifyOptions{}, func(f journal.Fault) {
		wrong++
		if !errors.Is(f, journal.ErrDamaged) && !errors.Is(f, journal.ErrNewer) {
			t.Errorf("verify: %v, want that it is damaged", f)
		}
	})
	if err != nil && !errors.Is(err, journal.ErrForeign) && !errors.Is(err, journal.ErrNewer) {
		t.Errorf("verify: %v", err)
	}
	found := wrong > 0 || err != nil
	j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
	if err != nil {
		if !found {
			t.Errorf("open: %v, and verify found nothing", err)
		}
		if !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrForeign) && !errors.Is(err, journal.ErrNewer) {
			t.Errorf("open: %v, want that it is damaged", err)
		}
		return nil
	}
	defer j.Close()
	heads := map[string]journal.Digest{}
	if found {
		heads = nil
	}
	for fault := range journal.Verify(t.Context(), j) {
		heads = nil
		if !found {
			t.Errorf("%v, and verify of the file found nothing", fault)
		}
		if !errors.Is(fault, journal.ErrDamaged) && !errors.Is(fault, journal.ErrUnusable) && !errors.Is(fault, journal.ErrNewer) {
			t.Errorf("verify: %v, want that it is damaged", fault)
		}
	}
	for s, err := range j.List(t.Context(), journal.Query{}) {
		if err != nil {
			heads = nil
		} else if heads != nil {
			heads[s.Run] = s.Head
		}
	}
	for i := range 4 {
		for _, err := range j.Scan(t.Context(), fmt.Sprint("run-", i), "", "") {
			if err != nil {
				heads = nil
			}
		}
	}
	err = j.Append(t.Context(), "run-new", 0, created(), journal.Entry{Kind: journal.Claimed, Time: 1, Owner: "o"})
	if err != nil && !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrUnusable) {
		t.Errorf("append: %v", err)
	}
	return heads
}

// place writes an image of a journal where it can be opened.
func place(t *testing.T, path string, image []byte) {
	t.Helper()
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestATruncatedJournalIsDamaged(t *testing.T) {
	image, heads := sample(t)
	path := filepath.Join(t.TempDir(), "journal.db")
	page := os.Getpagesize()
	var sizes []int
	for n := 0; n <= 4*page; n += 512 {
		sizes = append(sizes, n)
	}
	for n := 4 * page; n <= len(image); n += page {
		sizes = append(sizes, n-1, n, n+1)
	}
	refused, whole := 0, 0
	for _, n := range sizes {
		if n > len(image) {
			continue
		}
		place(t, path, image[:n])
		switch got := use(t, path); {
		case got == nil:
			refused++
		case maps.Equal(got, heads):
			whole++ // only what was never written is missing
		default:
			t.Errorf("cut off after %d of %d bytes it looks whole, and is not", n, len(image))
		}
	}
	if refused < 40 || whole == 0 {
		t.Errorf("of %d truncations %d were found and %d cut off nothing", len(sizes), refused, whole)
	}
}

func TestDamagedPagesAreFoundOrHarmless(t *testing.T) {
	image, heads := sample(t)
	path := filepath.Join(t.TempDir(), "journal.db")
	page := os.Getpagesize()
	used := len(image)/page - 8 // behind that sample leaves some that were never written
	r := rand.New(rand.NewPCG(1, 2))
	try := func(name string, metas bool, change func(b []byte)) {
		b := append([]byte(nil), image...)
		change(b)
		place(t, path, b)
		got := use(t, path)
		// Without its newer meta page a file of bbolt is what it was one transaction earlier.
		if got != nil && !metas && !maps.Equal(got, heads) {
			t.Errorf("%s: it looks whole, and is not", name)
		}
	}
	for i := range used {
		try(fmt.Sprintf("page %d zeroed", i), i < 2, func(b []byte) { clear(b[i*page : (i+1)*page]) })
		try(fmt.Sprintf("page %d overwritten", i), i < 2, func(b []byte) { copy(b[i*page:(i+1)*page], b[r.IntN(used)*page:]) })
	}
	try("both metas zeroed", true, func(b []byte) { clear(b[:2*page]) })
	try("metas swapped", true, func(b []byte) {
		other := append([]byte(nil), b[:page]...)
		copy(b, b[page:2*page])
		copy(b[page:], other)
	})
	for i := range 80 {
		at := 2*page + r.IntN((used-2)*page)
		try(fmt.Sprintf("flip %d of byte %d", i, at), false, func(b []byte) { b[at] ^= 1 << r.IntN(8) })
	}
	for i := range 50 {
		at := r.IntN(2)*page + r.IntN(80)
		try(fmt.Sprintf("flip %d of byte %d", i, at), true, func(b []byte) { b[at] ^= 1 << r.IntN(8) })
	}
	for i := range used {
		at := i*page + r.IntN(16)
		try(fmt.Sprintf("header of page %d", i), i < 2, func(b []byte) { b[at] = byte(r.IntN(256)) })
	}
}

// A header page that was put in the place of the other one is whole by its checksum, and older: what was committed last would be gone.
func TestAHeaderPageInThePlaceOfTheOtherIsFound(t *testing.T) {
	image, _ := sample(t)
	page := os.Getpagesize()
	path := filepath.Join(t.TempDir(), "journal.db")
	for from := range 2 {
		b := append([]byte(nil), image...)
		copy(b[(1-from)*page:(2-from)*page], image[from*page:])
		place(t, path, b)
		if j, err := boltdb.Open(t.Context(), path, boltdb.Options{}); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("page %d in the place of the other: %v, want %v", from, err, journal.ErrDamaged)
			if err == nil {
				j.Close()
			}
		}
	}
}

// A folded log that cannot be read is an error of every way to use its run, and of a listing of all: the run is not taken for one that is
// not there.
func TestAFoldedLogThatCannotBeReadIsNotPassedOver(t *testing.T) {
	j := fill(t, t.TempDir(), 3)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	edit(t, j.Path(), func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte("states"))
		v := bytes.Clone(b.Get([]byte("run-1")))
		v[len(v)-1] ^= 1
		return b.Put([]byte("run-1"), v)
	})
	j = open(t, j.Path())
	defer j.Close()
	for _, q := range []journal.Query{{}, {Run: "run-1"}, {Unfinished: true}} {
		var last error
		for _, err := range j.List(t.Context(), q) {
			last = err
		}
		if !errors.Is(last, journal.ErrDamaged) {
			t.Errorf("list %+v: %v, want %v", q, last, journal.ErrDamaged)
		}
	}
	for _, err := range j.Read(t.Context(), "run-1", 0) {
		if !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("read: %v, want %v", err, journal.ErrDamaged)
		}
	}
	if err := j.Append(t.Context(), "run-1", 0, created()); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("begin it again: %v, want %v", err, journal.ErrDamaged)
	}
}

// A run whose folded log has lost its key is not one that does not exist: what was executed in it would be executed again.
func TestARunWithoutItsFoldedLogIsDamaged(t *testing.T) {
	j := fill(t, t.TempDir(), 2)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	edit(t, j.Path(), func(tx *bbolt.Tx) error { return tx.Bucket([]byte("states")).Delete([]byte("run-1")) })
	j = open(t, j.Path())
	defer j.Close()
	var listed error
	for _, err := range j.List(t.Context(), journal.Query{Run: "run-1"}) {
		listed = err
	}
	if !errors.Is(listed, journal.ErrDamaged) {
		t.Errorf("list: %v, want %v", listed, journal.ErrDamaged)
	}
	for _, err := range j.Read(t.Context(), "run-1", 0) {
		if !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("read: %v, want %v", err, journal.ErrDamaged)
		}
	}
	if err := j.Append(t.Context(), "run-1", 0, created()); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("begin it again: %v, want %v", err, journal.ErrDamaged)
	}
	for _, err := range j.Read(t.Context(), "run-", 0) { // of which there are no entries
		if !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("read a run that is not there: %v, want %v", err, journal.ErrNotFound)
		}
	}
}
