package boltdb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

func export(t testing.TB, j *boltdb.Journal, run string) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := j.Export(t.Context(), run, &b, boltdb.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestARunIsImportedWhole(t *testing.T) {
	from := stocked(t, t.TempDir())
	to := create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, to)
	want := look(t, from)
	id, _ := from.ID()
	for _, run := range []string{"run-3", "run-4"} { // finished, and not
		done, err := to.Import(t.Context(), bytes.NewReader(export(t, from, run)), boltdb.ImportOptions{By: "me"})
		if err != nil {
			t.Fatal(err)
		}
		if done.Run != run || done.From != id || done.Finished != (run == "run-3") || done.Blobs != 1 || int(done.Entries) != len(want.Logs[run]) {
			t.Errorf("%+v", done)
		}
		got := look(t, to)
		if n := len(want.Logs[run]); len(got.Logs[run]) != n+1 || got.Logs[run][n-1] != want.Logs[run][n-1] || !got.Blobs["blob of "+run] {
			t.Errorf("%s has %d entries, want %d", run, len(got.Logs[run]), n+1)
		}
		h := new(journal.History)
		for e, err := range to.Read(t.Context(), run, 0) {
			if err != nil {
				t.Fatal(err)
			}
			h.Add(e)
		}
		if origin, elsewhere := h.Origin(0); !elsewhere || origin != id || !h.Imported() {
			t.Errorf("%s is from %s, %t, want %s", run, origin.Short(), elsewhere, id.Short())
		}
		_, err = to.Import(t.Context(), bytes.NewReader(export(t, from, run)), boltdb.ImportOptions{})
		if !errors.Is(err, journal.ErrExists) {
			t.Errorf("once more: %v, want %v", err, journal.ErrExists)
		}
	}
	if _, _, err := to.Get(t.Context(), shared, "key0"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("the state of tools has changed: %v", err)
	}
	for s := range to.List(t.Context(), journal.Query{Unfinished: true}) {
		if s.Run != "run-4" || s.Status() != journal.Elsewhere {
			t.Errorf("%s is %s", s.Run, s.Status())
		}
	}
	err := to.Append(t.Context(), "run-4", uint64(length(t, to, "run-4")), journal.Entry{Kind: journal.Claimed, Time: 1 << 62, Owner: "o"})
	if !errors.Is(err, journal.ErrImported) {
		t.Errorf("claim: %v, want %v", err, journal.ErrImported)
	}
	// What was written under the versions of another journal is no update of this one's.
	if err := begin(t.Context(), to, "mine"); err != nil {
		t.Fatal(err)
	}
	for at := range uint64(3) {
		if err := count(t.Context(), to, "mine", "key0", 2+at); err != nil {
			t.Error(err)
		}
	}
}

func TestAnImportIsRefusedWhereTheIDIsTaken(t *testing.T) {
	from, to := stocked(t, t.TempDir()), create(t, t.TempDir())
	if err := boltdb.Remove(t.Context(), to, "run-3", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Import(t.Context(), bytes.NewReader(export(t, from, "run-3")), boltdb.ImportOptions{}); !errors.Is(err, journal.ErrRemoved) {
		t.Errorf("a removed run: %v, want %v", err, journal.ErrRemoved)
	}
	if _, err := to.Import(t.Context(), bytes.NewReader(backup(t, from)), boltdb.ImportOptions{}); !errors.Is(err, boltdb.ErrOtherBundle) {
		t.Errorf("a backup: %v, want %v", err, boltdb.ErrOtherBundle)
	}
	if _, err := from.Export(t.Context(), "none", &bytes.Buffer{}, boltdb.CopyOptions{}); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("export of no run: %v, want %v", err, journal.ErrNotFound)
	}
	nothingLeft(t, to)
}

func TestABundleThatIsCutOffImportsNothing(t *testing.T) {
	from, to := stocked(t, t.TempDir()), create(t, t.TempDir())
	b := export(t, from, "run-5")
	for n := 1; n < len(b); n += 1 + len(b)/100 {
		if _, err := to.Import(t.Context(), bytes.NewReader(b[:n]), boltdb.ImportOptions{}); !errors.Is(err, bundle.ErrDamaged) {
			t.Errorf("%d of %d bytes: %v, want %v", n, len(b), err, bundle.ErrDamaged)
		}
		flipped := bytes.Clone(b)
		flipped[n] ^= 4
		if _, err := to.Import(t.Context(), bytes.NewReader(flipped), boltdb.ImportOptions{}); err == nil {
			t.Errorf("byte %d of %d flipped: it was imported", n, len(b))
		}
		nothingLeft(t, to)
	}
}

func TestALongLogIsCarriedElsewhere(t *testing.T) {
	from, to := create(t, t.TempDir()), create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, to)
	const n = 5000
	for at := uint64(0); at < n; at += 1000 {
		es := make([]journal.Entry, 1000)
		for i := range es {
			es[i] = record(fmt.Sprint(i))
		}
		if at == 0 {
			es[0] = created()
		}
		if err := from.Append(t.Context(), "long", at, es...); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	boltdb.OnPoint(to, func(point string) {
		if point == "part" {
			seen++
			if got := runs(t, to, journal.Query{}); got != 0 {
				t.Error("it is listed before all of it is there")
			}
			if err := begin(t.Context(), to, "long"); !errors.Is(err, journal.ErrBusy) {
				t.Errorf("another run of this id: %v, want %v", err, journal.ErrBusy)
			}
		}
	})
	if _, err := to.Import(t.Context(), bytes.NewReader(export(t, from, "long")), boltdb.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := length(t, to, "long"); got != n+1 || seen < 4 {
		t.Errorf("it has %d entries, want %d; it came in %d parts", got, n+1, seen)
	}
}

// FuzzImport takes records that somebody made up, in a bundle whose digests are right: they are refused and leave nothing, or are a
// log that passes verification.
func FuzzImport(f *testing.F) {
	claim := journal.Entry{Kind: journal.Claimed, Time: 1, Owner: "o"}
	step := journal.Entry{Kind: journal.Intent, Time: 2, Step: "s", Name: "tool", Owner: "o", OnCut: journal.Redo, Request: journal.DigestOf([]byte("r"))}
	blob := journal.Entry{Kind: journal.Record, Time: 2, Name: "x", Blob: journal.DigestOf([]byte("b")), Size: 1}
	for run, log := range map[string][]journal.Entry{"a": {created(), record("x")}, "b": {created(), claim, step}, "c": {created(), blob}} {
		var seed []byte
		for _, r := range records(f, run, log...) {
			seed = append(binary.BigEndian.AppendUint16(seed, uint16(len(r))), r...)
		}
		f.Add(run, seed)
	}
	to := create(f, f.TempDir())
	f.Fuzz(func(t *testing.T, run string, b []byte) {
		var out bytes.Buffer
		w, err := bundle.NewWriter(&out, bundle.Header{Of: bundle.Run, Run: run, Journal: journal.DigestOf(b), Schema: boltdb.Schema})
		err = errors.Join(err, w.Log(bundle.Log{Run: run}))
		for len(b) >= 2 {
			n := min(int(binary.BigEndian.Uint16(b)), len(b)-2)
			err = errors.Join(err, w.Record(b[2:2+n]))
			b = b[2+n:]
		}
		if _, ferr := w.End(); errors.Join(err, ferr) != nil {
			t.Fatal(err, ferr)
		}
		before := runs(t, to, journal.Query{})
		_, err = to.Import(t.Context(), &out, boltdb.ImportOptions{})
		marks, entries, lerr := boltdb.Leftovers(t.Context(), to)
		if marks != 0 || entries != 0 || lerr != nil {
			t.Fatalf("left: %d marks, %d entries, %v", marks, entries, lerr)
		}
		if err == nil || runs(t, to, journal.Query{}) != before {
			for fault := range journal.Verify(t.Context(), to) {
				t.Errorf("%v, and %v", err, fault)
			}
			return
		}
		if !errors.Is(err, bundle.ErrDamaged) && !errors.Is(err, bundle.ErrNewer) && !errors.Is(err, journal.ErrExists) {
			t.Errorf("an error without a name: %v", err)
		}
	})
}
