package boltdb_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// faults verifies the journal at path and returns what is wrong with it.
func faults(t testing.TB, path string) (faults []journal.Fault, counts boltdb.Verified) {
	t.Helper()
	counts, err := boltdb.Verify(context.Background(), path, boltdb.VerifyOptions{}, func(f journal.Fault) { faults = append(faults, f) })
	if err != nil {
		t.Fatal(err)
	}
	return faults, counts
}

// fill makes a journal with n runs that have steps, tool state and blobs, of which each second one is finished.
func fill(t testing.TB, dir string, n int) *boltdb.Journal {
	t.Helper()
	j := create(t, dir)
	for i := range n {
		fillRun(t, j, fmt.Sprint("run-", i), i%2 == 0)
	}
	return j
}

func fillRun(t testing.TB, j *boltdb.Journal, run string, finish bool) {
	t.Helper()
	d, size, err := j.Put(t.Context(), strings.NewReader(strings.Repeat(run, 50)))
	if err != nil {
		t.Fatal(err)
	}
	big := created()
	big.Blob, big.Size = d, size
	es := []journal.Entry{big, {Kind: journal.Claimed, Time: 1, Owner: "o"}}
	for n := range 10 {
		step := journal.Step(fmt.Sprint("step", n))
		es = append(es,
			journal.Entry{Kind: journal.Intent, Time: 2, Step: step, Name: "tool", Owner: "o", OnCut: journal.Redo, Request: journal.DigestOf([]byte("request"))},
			journal.Entry{Kind: journal.Result, Time: 2, Step: step, Name: "tool", Owner: "o", Outcome: journal.OK, Body: []byte(strings.Repeat("body ", 40)),
				Writes: []journal.Write{{Space: run, Key: "key", Value: []byte(fmt.Sprint("value", n)), Expect: uint64(n)}}})
	}
	if finish {
		es = append(es, journal.Entry{Kind: journal.Finished, Time: 3, Owner: "o", Outcome: journal.OK})
	}
	if err := j.Append(t.Context(), run, 0, es...); err != nil {
		t.Fatal(err)
	}
}

func TestAWholeJournalHasNoFaults(t *testing.T) {
	j := fill(t, t.TempDir(), 40)
	got, n := faults(t, j.Path())
	for _, f := range got {
		t.Error(f)
	}
	if n.Runs != 40 || n.Entries != 40*22+20 || n.Values != 40 || n.Blobs != 40 || n.Orphans != 0 || n.BlobBytes == 0 || n.Bytes == 0 {
		t.Errorf("counted %+v", n)
	}
}

// edit changes the buckets of a journal behind its back.
func edit(t *testing.T, path string, fn func(tx *bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(fn), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyFindsWhatDoesNotBelongTogether(t *testing.T) {
	key := func(run string, seq uint64) []byte { return binary.BigEndian.AppendUint64([]byte(run+"\x00"), seq) }
	for name, c := range map[string]struct {
		change func(tx *bbolt.Tx) error
		run    string
		want   string
	}{
		"an entry is missing":       {func(tx *bbolt.Tx) error { return tx.Bucket([]byte("entries")).Delete(key("run-3", 7)) }, "run-3", "an entry is missing"},
		"the last entry is missing": {func(tx *bbolt.Tx) error { return tx.Bucket([]byte("entries")).Delete(key("run-3", 21)) }, "run-3", "folded log says 22"},
		"entries of another run": {func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte("entries"))
			return b.Put(key("run-3", 7), append([]byte(nil), b.Get(key("run-5", 7))...))
		}, "run-3", "chain"},
		"a log goes on": {func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte("entries"))
			return b.Put(key("run-3", 22), append([]byte(nil), b.Get(key("run-3", 21))...))
		}, "run-3", "chain"},
		"entries without a folded log": {func(tx *bbolt.Tx) error { return tx.Bucket([]byte("states")).Delete([]byte("run-3")) }, "run-3", "no folded log"},
		"a folded log without entries": {func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte("entries"))
			for i := range 22 {
				if err := b.Delete(key("run-3", uint64(i))); err != nil {
					return err
				}
			}
			return nil
		}, "run-3", "the log has 0 entries"},
		"an older folded log": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("states")).Put([]byte("run-3"), boltdb.Reseal([]byte("run-3"), state(t, "run-3")))
		}, "run-3", "folded log says"},
		"a key is missing": {func(tx *bbolt.Tx) error { return tx.Bucket([]byte("keys")).Delete([]byte("run-3\x00step4\x00\x03")) }, "run-3", "the key of the intent of step4 is missing"},
		"a key leads elsewhere": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("keys")).Put([]byte("run-3\x00step4\x00\x03"), make([]byte, 8))
		}, "run-3", "leads to entry 0"},
		"a key too many": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("keys")).Put([]byte("run-3\x00step99\x00\x03"), make([]byte, 8))
		}, "run-3", "21 keys"},
		"keys of no run": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("keys")).Put([]byte("run-x\x00step99\x00\x03"), make([]byte, 8))
		}, "run-x", "no folded log"},
		"a key that names no run": {func(tx *bbolt.Tx) error { return tx.Bucket([]byte("keys")).Put([]byte("RUN\x00"), nil) }, "", "names no run"},
		"an older value": {func(tx *bbolt.Tx) error {
			return putValue(tx, "run-3", "key", 9, "value8")
		}, "run-3", "whose version is 9"},
		"another value": {func(tx *bbolt.Tx) error {
			return putValue(tx, "run-3", "key", 10, "forged")
		}, "run-3", "does not have the value"},
		"a value is missing": {func(tx *bbolt.Tx) error { return tx.Bucket([]byte("kv")).Delete(kvKey("run-3", "key")) }, "run-3", "no trace"},
		"a value of no log":  {func(tx *bbolt.Tx) error { return putValue(tx, "other", "key", 1, "x") }, "", "no log made"},
		"a value's seal": {func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("kv")).Put(kvKey("run-3", "key"), []byte("????123456789"))
		}, "run-3", "checksum"},
		"unsettled by mistake": {func(tx *bbolt.Tx) error { return tx.Bucket([]byte("unsettled")).Put([]byte("run-4"), nil) }, "run-4", "unsettled"},
		"unsettled, not there": {func(tx *bbolt.Tx) error { return tx.Bucket([]byte("unsettled")).Put([]byte("run-x"), nil) }, "run-x", "unsettled"},
		"not listed":           {func(tx *bbolt.Tx) error { return tx.Bucket([]byte("unsettled")).Delete([]byte("run-3")) }, "run-3", "unsettled"},
		"removed and there": {func(tx *bbolt.Tx) error {
			b, err := journal.MarshalRemoved(&journal.Removed{Run: "run-3", Len: 1})
			return errors.Join(err, tx.Bucket([]byte("gone")).Put([]byte("run-3"), boltdb.Reseal([]byte("run-3"), b)))
		}, "run-3", "was removed"},
		"a bucket is missing": {func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("gone")) }, "", "gone are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			j := fill(t, t.TempDir(), 6)
			j.Close()
			edit(t, j.Path(), c.change)
			got, _ := faults(t, j.Path())
			if len(got) == 0 {
				t.Fatal("nothing was found")
			}
			found := false
			for _, f := range got {
				if f.Run != c.run && !strings.Contains(f.Error(), "checksum") { // which is said of the value too
					t.Errorf("reported of run %q: %v", f.Run, f)
				}
				if !errors.Is(f, journal.ErrDamaged) {
					t.Errorf("not as damage: %v", f)
				}
				found = found || strings.Contains(f.Error(), c.want)
			}
			if !found {
				t.Errorf("got %v, want %q", got, c.want)
			}
		})
	}
}

// state is the folded log of a run as it was after created.
func state(t *testing.T, run string) []byte {
	t.Helper()
	s := &journal.State{Run: run}
	e := created()
	if _, err := e.Marshal(journal.ChainStart(run)); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(e); err != nil {
		t.Fatal(err)
	}
	b, err := journal.MarshalState(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func kvKey(space, key string) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(space))), space+key...)
}

func putValue(tx *bbolt.Tx, space, key string, version uint64, value string) error {
	k := kvKey(space, key)
	return tx.Bucket([]byte("kv")).Put(k, boltdb.Reseal(k, append(append(binary.BigEndian.AppendUint64(nil, version), 1), value...)))
}

// Blobs that entries name: missing, cut off, changed, another sort of file in their place; and those that nobody names.
func TestVerifyReadsBlobs(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"missing":   os.Remove,
		"truncated": func(path string) error { return os.Truncate(path, 7) },
		"emptied":   func(path string) error { return os.Truncate(path, 0) },
		"flipped": func(path string) error {
			b, err := os.ReadFile(path)
			b[3] ^= 1
			return errors.Join(err, os.WriteFile(path, b, 0o600))
		},
		"longer": func(path string) error {
			b, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, append(b, 0), 0o600))
		},
		"a directory": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"a symbolic link": func(path string) error {
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := fill(t, t.TempDir(), 3)
			j.Close()
			d := journal.DigestOf([]byte(strings.Repeat("run-1", 50))).String()
			if err := change(filepath.Join(j.Path()+".blobs", d[:2], d)); err != nil {
				t.Skip("not possible here: ", err)
			}
			got, n := faults(t, j.Path())
			if len(got) != 1 || got[0].Run != "run-1" || got[0].Seq != 0 || !errors.Is(got[0], journal.ErrDamaged) || n.Blobs != 2 {
				t.Errorf("got %v, %d blobs", got, n.Blobs)
			}
		})
	}
	t.Run("extra", func(t *testing.T) {
		j := fill(t, t.TempDir(), 3)
		if _, _, err := j.Put(t.Context(), strings.NewReader("nobody's")); err != nil {
			t.Fatal(err)
		}
		if got, n := faults(t, j.Path()); len(got) != 0 || n.Orphans != 1 {
			t.Errorf("got %v, %d orphans, want 1", got, n.Orphans)
		}
	})
}

// What an imported run wrote is of another journal; one that is being imported does not count yet, and neither does what a cut-off import
// has left. Repair keeps to that.
func TestVerifyKnowsImports(t *testing.T) {
	from, to := fill(t, t.TempDir(), 2), create(t, t.TempDir())
	points := 0
	boltdb.OnPoint(to, func(point string) {
		points++
		if got, n := faults(t, to.Path()); len(got) > 0 || n.Runs != 0 {
			t.Errorf("at %s: %v, %d runs", point, got, n.Runs)
		}
		copied := filepath.Join(t.TempDir(), "copy.db")
		if done, err := boltdb.Repair(t.Context(), to.Path(), copied, boltdb.RepairOptions{}); err != nil || done.Runs != 0 || len(done.Dropped) > 0 {
			t.Errorf("at %s: %+v, %v", point, done, err)
		}
	})
	for _, run := range []string{"run-0"} {
		if _, err := to.Import(t.Context(), bytes.NewReader(export(t, from, run)), boltdb.ImportOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	boltdb.OnPoint(to, nil)
	if got, n := faults(t, to.Path()); len(got) > 0 || n.Runs != 1 || points == 0 {
		t.Errorf("%v, %+v, %d points", got, n, points)
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	if _, err := boltdb.Repair(t.Context(), to.Path(), copied, boltdb.RepairOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, n := faults(t, copied); len(got) > 0 || n.Runs != 1 || n.Values != 0 {
		t.Errorf("repaired: %v, %+v", got, n)
	}
}

// The entries of a run that is being imported come before its blobs, which are not missing yet.
func TestVerifyWhileALongRunIsImported(t *testing.T) {
	from, to := create(t, t.TempDir()), create(t, t.TempDir())
	d, n, err := from.Put(t.Context(), strings.NewReader("a body"))
	if err != nil {
		t.Fatal(err)
	}
	es := []journal.Entry{created()}
	es[0].Blob, es[0].Size = d, n
	for range 1500 {
		es = append(es, record("x"))
	}
	if err := from.Append(t.Context(), "long", 0, es...); err != nil {
		t.Fatal(err)
	}
	parts := 0
	boltdb.OnPoint(to, func(point string) {
		if got, _ := faults(t, to.Path()); len(got) > 0 {
			t.Errorf("at %s: %v", point, got)
		}
		if point == "part" {
			parts++
		}
	})
	if _, err := to.Import(t.Context(), bytes.NewReader(export(t, from, "long")), boltdb.ImportOptions{}); err != nil || parts < 2 {
		t.Errorf("%v, in %d parts, want at least 2", err, parts)
	}
}

// A journal can be verified while others write, and while its file is replaced.
func TestVerifyWhileOthersWork(t *testing.T) {
	j := fill(t, t.TempDir(), 20)
	stop, done := make(chan struct{}), make(chan error, 2)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if _, err := j.Compact(context.Background(), boltdb.CopyOptions{}); err != nil {
				done <- err
				return
			}
		}
	}()
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			fillRun(t, j, fmt.Sprint("more-", i), i%2 == 0)
		}
	}()
	for range 8 {
		got, n := faults(t, j.Path())
		for _, f := range got {
			t.Error(f)
		}
		if n.Runs < 20 {
			t.Errorf("%d runs", n.Runs)
		}
	}
	close(stop)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A file of an older schema is verified as it is, and its repaired copy has the present one.
func TestVerifyReadsOlderFiles(t *testing.T) {
	path, image := schema1(t)
	was, err := boltdb.Verify(t.Context(), path, boltdb.VerifyOptions{}, func(f journal.Fault) {
		if !strings.Contains(f.Error(), "blob") { // the fixture has none
			t.Error(f)
		}
	})
	if err != nil || was.Runs != 4 {
		t.Errorf("%+v, %v", was, err)
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	done, err := boltdb.Repair(t.Context(), path, to, boltdb.RepairOptions{})
	if err != nil || done.Runs != 4 || done.Restored != 2 || len(done.Dropped) > 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, image) {
		t.Error("the older file was changed")
	}
	if n := len(logs(t, to)); n != 4 {
		t.Errorf("the copy has %d runs, want 4", n)
	}
}
