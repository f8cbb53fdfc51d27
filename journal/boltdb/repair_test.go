package boltdb_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// logs reads every log of a journal.
func logs(t testing.TB, path string) map[string][]journal.Entry {
	t.Helper()
	j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	all := map[string][]journal.Entry{}
	for s, err := range j.List(t.Context(), journal.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range j.Read(t.Context(), s.Run, 0) {
			if err != nil {
				t.Fatal(err)
			}
			all[s.Run] = append(all[s.Run], e)
		}
	}
	return all
}

// repair repairs a journal and checks what has to be true of every copy: the damaged file is as it was, the copy has no faults, each of its
// logs is a beginning of the one that was there, and what is not finished is marked as restored. It returns how many entries are
// missing.
func repair(t *testing.T, name, path string, was map[string][]journal.Entry) (missing int, done boltdb.Repaired) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "repaired.db")
	done, err = boltdb.Repair(t.Context(), path, to, boltdb.RepairOptions{})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return -1, done
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Errorf("%s: the damaged journal was changed", name)
	}
	got, _ := faults(t, to)
	for _, f := range got {
		t.Errorf("%s: the copy: %v", name, f)
	}
	kept := logs(t, to)
	for run, log := range kept {
		for i, e := range log {
			if i == len(log)-1 && e.Kind == journal.Restored {
				continue
			}
			if i >= len(was[run]) || e.Hash != was[run][i].Hash {
				t.Errorf("%s: entry %d of run %s is none that was there: %s", name, i, run, e.Kind)
				break
			}
		}
		if last := log[len(log)-1]; last.Kind != journal.Restored && last.Kind != journal.Finished {
			t.Errorf("%s: run %s goes on as if nothing had happened", name, run)
		}
	}
	dropped := map[string]boltdb.Dropped{}
	for _, d := range done.Dropped {
		dropped[d.Run] = d
	}
	for run, log := range was {
		n := len(kept[run])
		if n > 0 && kept[run][n-1].Kind == journal.Restored {
			n--
		}
		missing += len(log) - n
		if d, said := dropped[run]; n < len(log) && said && d.Kept != uint64(n) {
			t.Errorf("%s: %d entries of %s are kept, it says %d", name, n, run, d.Kept)
		}
	}
	return missing, done
}

func TestAWholeJournalIsCopiedByRepair(t *testing.T) {
	j := fill(t, t.TempDir(), 9)
	was := logs(t, j.Path())
	j.Close()
	missing, done := repair(t, "whole", j.Path(), was)
	if missing != 0 || done.Runs != 9 || done.Entries != 9*22+5+4 || done.Restored != 4 || done.Linked+done.Copied != 9 || len(done.Dropped) != 0 || done.Values != 9 {
		t.Errorf("%d entries are missing; %+v", missing, done)
	}
}

func TestRepairKeepsWhatHolds(t *testing.T) {
	image, _ := sample(t)
	path := filepath.Join(t.TempDir(), "journal.db")
	place(t, path, image)
	was := logs(t, path)
	page := os.Getpagesize()
	used := len(image)/page - 8
	r := rand.New(rand.NewPCG(3, 4))
	lost, found, tried := 0, uint64(0), 0
	try := func(name string, change func(b []byte) []byte) {
		place(t, path, change(bytes.Clone(image)))
		n, done := repair(t, name, path, was)
		lost, found, tried = lost+n, found+done.Found, tried+1
		if n > 70 {
			t.Errorf("%s: %d entries are lost", name, n)
		}
	}
	for i := range used {
		try(fmt.Sprintf("page %d zeroed", i), func(b []byte) []byte { clear(b[i*page : (i+1)*page]); return b })
		try(fmt.Sprintf("page %d overwritten", i), func(b []byte) []byte { copy(b[i*page:(i+1)*page], b[r.IntN(used)*page:]); return b })
	}
	try("both metas zeroed", func(b []byte) []byte { clear(b[:2*page]); return b })
	for _, id := range branches(image) {
		try(fmt.Sprintf("branch page %d zeroed", id), func(b []byte) []byte { clear(b[id*page : (id+1)*page]); return b })
	}
	for i := range 40 {
		at := r.IntN(used * page)
		try(fmt.Sprintf("flip %d of byte %d", i, at), func(b []byte) []byte { b[at] ^= 1 << r.IntN(8); return b })
	}
	for n := used - 4; n < used; n++ {
		try(fmt.Sprintf("cut off after %d pages", n), func(b []byte) []byte { return b[:n*page] })
	}
	if found == 0 {
		t.Error("nothing was ever found outside of the tree")
	}
	t.Logf("%d damaged files of %d entries each: %d entries were lost, %d found outside of the tree", tried, 4*32, lost, found)
}

// A run of which nothing is left, not even by its first entry, keeps its id.
func TestALostRunKeepsItsID(t *testing.T) {
	j := fill(t, t.TempDir(), 4)
	was := logs(t, j.Path())
	j.Close()
	image, err := os.ReadFile(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	first, err := (&was["run-2"][0]).Marshal(journal.ChainStart("run-2"))
	if err != nil {
		t.Fatal(err)
	}
	for at := bytes.Index(image, first); at >= 0; at = bytes.Index(image, first) {
		image[at+40] ^= 1 // on the page and on all stale ones
	}
	place(t, j.Path(), image)
	to := filepath.Join(t.TempDir(), "repaired.db")
	done, err := boltdb.Repair(t.Context(), j.Path(), to, boltdb.RepairOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(done.Dropped) != 1 || done.Dropped[0].Run != "run-2" || done.Dropped[0].Kept != 0 || done.Dropped[0].Of != 23 {
		t.Errorf("dropped %+v", done.Dropped)
	}
	if got, n := faults(t, to); len(got) != 0 || n.Runs != 3 || n.Removed != 1 {
		t.Errorf("%v, %+v", got, n)
	}
	copied, err := boltdb.Open(t.Context(), to, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	var gone *journal.Removed
	if err := copied.Append(t.Context(), "run-2", 0, created()); !errors.Is(err, journal.ErrRemoved) || !errors.As(err, &gone) || !gone.Lost {
		t.Errorf("its id is free: %v", err)
	}
	old, err := boltdb.Open(t.Context(), j.Path(), boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	a, _ := old.ID()
	if b, _ := copied.ID(); a != b {
		t.Error("the copy has another id")
	}
}

// Blobs that are gone are said; the log that names them is kept.
func TestRepairSaysWhichBlobsAreMissing(t *testing.T) {
	j := fill(t, t.TempDir(), 3)
	j.Close()
	d := journal.DigestOf([]byte(strings.Repeat("run-1", 50)))
	if err := os.Remove(filepath.Join(j.Path()+".blobs", d.String()[:2], d.String())); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "repaired.db")
	done, err := boltdb.Repair(t.Context(), j.Path(), to, boltdb.RepairOptions{})
	if err != nil || len(done.Blobs) != 1 || done.Blobs[0].Run != "run-1" || done.Blobs[0].Digest != d || done.Runs != 3 || done.Linked+done.Copied != 2 {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestRepairReplacesNothing(t *testing.T) {
	j := fill(t, t.TempDir(), 1)
	j.Close()
	to := filepath.Join(t.TempDir(), "there")
	place(t, to, []byte("something"))
	for _, to := range []string{to, j.Path()} {
		before, _ := os.ReadFile(to)
		if _, err := boltdb.Repair(t.Context(), j.Path(), to, boltdb.RepairOptions{}); !errors.Is(err, os.ErrExist) {
			t.Errorf("got %v, want %v", err, os.ErrExist)
		}
		if after, _ := os.ReadFile(to); !bytes.Equal(before, after) {
			t.Error("what was there has changed")
		}
	}
}

// FuzzRepair changes a journal's file in one place and cuts it off. What can be repaired is whole then, and has nothing that was not there.
func FuzzRepair(f *testing.F) {
	image, _ := sample(f)
	dir := f.TempDir()
	path := filepath.Join(dir, "journal.db")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		f.Fatal(err)
	}
	was := logs(f, path)
	page := os.Getpagesize()
	f.Add(uint32(0), []byte{}, 0)
	f.Add(uint32(page), make([]byte, 100), 0)
	f.Add(uint32(2*page), make([]byte, 2*page), 9*page)
	for _, id := range branches(image) {
		f.Add(uint32(id*page+8), []byte{2, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, 0)
	}
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, cut int) {
		b := bytes.Clone(image)
		copy(b[int(at)%len(b):], patch)
		b = b[:len(b)-min(max(cut, 0), len(b))]
		path, to := filepath.Join(t.TempDir(), "journal.db"), filepath.Join(t.TempDir(), "copy.db")
		place(t, path, b)
		if _, err := boltdb.Repair(t.Context(), path, to, boltdb.RepairOptions{}); err != nil {
			if !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrForeign) && !errors.Is(err, journal.ErrNewer) {
				t.Errorf("got %v, want that it is damaged", err)
			}
			return
		}
		whole(t, to)
		for run, log := range logs(t, to) {
			for i, e := range log {
				if e.Kind != journal.Restored && (i >= len(was[run]) || e.Hash != was[run][i].Hash) {
					t.Errorf("entry %d of run %s is none that was there", i, run)
				}
			}
		}
	})
}

// spoiled repairs a journal of which an entry of a run can be read nowhere, and returns the copy's path.
func spoiled(t *testing.T, j *boltdb.Journal, run string, which func(journal.Entry) bool) string {
	t.Helper()
	image, err := os.ReadFile(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	before := journal.ChainStart(run)
	found := false
	for e, err := range j.Read(t.Context(), run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		record, err := (&e).Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		before = e.Hash
		if !which(e) {
			continue
		}
		for at := bytes.Index(image, record); at >= 0; at = bytes.Index(image, record) {
			image[at+40] ^= 1 // on the page and on all stale ones
			found = true
		}
	}
	if !found {
		t.Fatal("there is no such entry")
	}
	j.Close()
	place(t, j.Path(), image)
	to := filepath.Join(t.TempDir(), "repaired.db")
	if _, err := boltdb.Repair(t.Context(), j.Path(), to, boltdb.RepairOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := faults(t, to); len(got) != 0 {
		t.Fatalf("the copy has faults: %v", got)
	}
	return to
}

// A repaired journal has values whose logs are lost. What is made of it is as sound as it is.
func TestWhatIsMadeOfARepairedJournalIsSound(t *testing.T) {
	j := fill(t, t.TempDir(), 3)
	copied := open(t, spoiled(t, j, "run-1", func(e journal.Entry) bool { return len(e.Writes) > 0 }))
	b := backup(t, copied)
	if _, err := copied.Compact(t.Context(), boltdb.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := faults(t, copied.Path()); len(got) != 0 {
		t.Errorf("compacted it has faults: %v", got)
	}
	back, _ := restored(t, b)
	if got, _ := faults(t, back.Path()); len(got) != 0 {
		t.Errorf("restored it has faults: %v", got)
	}
	again, _ := restored(t, backup(t, back))
	if got, _ := faults(t, again.Path()); len(got) != 0 {
		t.Errorf("restored twice it has faults: %v", got)
	}
}

// A run that is driven elsewhere is not driven here because the record that says so was lost.
func TestAnImportedRunIsNotDrivenOnceItIsRepaired(t *testing.T) {
	for name, end := range map[string]bool{"unfinished": false, "finished": true} {
		t.Run(name, func(t *testing.T) {
			from := create(t, t.TempDir())
			fillRun(t, from, "run-x", end)
			b := export(t, from, "run-x")
			for what, which := range map[string]func(journal.Entry) bool{
				"the record":        func(e journal.Entry) bool { return e.Name == journal.RecordImported },
				"an entry before":   func(e journal.Entry) bool { return e.Seq == 12 },
				"the one before it": func(e journal.Entry) bool { return e.Seq == 21 },
			} {
				t.Run(what, func(t *testing.T) {
					j := fill(t, t.TempDir(), 3)
					if _, err := j.Import(t.Context(), bytes.NewReader(b), boltdb.ImportOptions{By: "me"}); err != nil {
						t.Fatal(err)
					}
					copied := open(t, spoiled(t, j, "run-x", which))
					if v, _, err := copied.Get(t.Context(), "run-x", "key"); what != "the record" && !errors.Is(err, journal.ErrNotFound) {
						t.Errorf("the state of the other journal came with it: %q, %v", v, err)
					}
					for s, err := range copied.List(t.Context(), journal.Query{Run: "run-x"}) {
						if err != nil {
							t.Fatal(err)
						}
						if s.Finished {
							return
						}
						claim := journal.Entry{Kind: journal.Claimed, Time: s.Time, Owner: "me"}
						confirm := journal.Entry{Kind: journal.Record, Name: journal.RecordConfirmed, Time: s.Time}
						if err := copied.Append(t.Context(), "run-x", s.Len, confirm, claim); !errors.Is(err, journal.ErrImported) {
							t.Errorf("claimed: %v, want %v", err, journal.ErrImported)
						}
					}
				})
			}
		})
	}
}

// Wherever a journal is cut off, its repair says what is missing, or at least that something may be.
func TestARepairOfWhatIsCutOffSaysSo(t *testing.T) {
	image, _ := sample(t)
	page := os.Getpagesize()
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.db")
	place(t, path, image)
	was := logs(t, path)
	unread := 0
	for n := 3; n < len(image)/page; n++ {
		cut := filepath.Join(t.TempDir(), "journal.db")
		place(t, cut, image[:n*page])
		to := filepath.Join(t.TempDir(), "copy.db")
		done, err := boltdb.Repair(t.Context(), cut, to, boltdb.RepairOptions{})
		if errors.Is(err, journal.ErrDamaged) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for run := range logs(t, to) {
			if _, ok := was[run]; ok {
				kept++
			}
		}
		if kept+len(done.Dropped) < len(was) && !done.Unread {
			t.Errorf("%d pages of %d: %d runs are kept, %d dropped, of %d, and nothing says that some are missing", n, len(image)/page, kept, len(done.Dropped), len(was))
		}
		if done.Unread {
			unread++
		}
	}
	if unread == 0 {
		t.Error("no cut leaves anything unread: this test shows nothing")
	}
}

// A bit of what a journal calls itself is no reason to say that it is none.
func TestAJournalWhoseNameHasRottenIsDamaged(t *testing.T) {
	j := fill(t, t.TempDir(), 2)
	was := logs(t, j.Path())
	j.Close()
	path := j.Path()
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, name := range []string{"wrun", "mark", "wrun journal"} {
		for at := 0; ; at++ {
			next := bytes.Index(image[at:], []byte(name))
			if next < 0 {
				break
			}
			at += next
			rotten := bytes.Clone(image)
			rotten[at] ^= 4
			place(t, path, rotten)
			j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
			if err == nil { // on a page that is not used any more
				j.Close()
				continue
			}
			if refused++; !errors.Is(err, journal.ErrDamaged) {
				t.Errorf("%s at %d: %v, want %v", name, at, err, journal.ErrDamaged)
			}
			if missing, _ := repair(t, name, path, was); missing != 0 {
				t.Errorf("%s at %d: %d entries are missing from the copy", name, at, missing)
			}
		}
	}
	if refused < 3 {
		t.Errorf("%d were refused, want one for each name", refused)
	}
}
