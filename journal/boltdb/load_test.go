package boltdb_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

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

// patient is another handle on a journal, which waits for other processes as long as a busy machine takes.
func patient(t *testing.T, j *boltdb.Journal) *boltdb.Journal {
	t.Helper()
	other, err := boltdb.Open(t.Context(), j.Path(), boltdb.Options{BusyTimeout: patience(true)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	return other
}

// Eight processes write, and count keys that they share, while the journal is backed up and compacted again and again.
func TestCopiesUnderLoad(t *testing.T) {
	j := patient(t, stocked(t, t.TempDir()))
	var children []*child
	for i := range 8 {
		children = append(children, start(t, "patient count", j.Path(), fmt.Sprint("process-", i)))
	}
	acked := make([]int, len(children))
	for i, c := range children {
		acked[i] = number(t, c.expect(t, "ACK"))
	}
	drained, told := make(chan int, len(children)), make(chan bool, 1)
	for i, c := range children {
		go func() {
			for c.lines.Scan() {
				if n, ok := strings.CutPrefix(c.lines.Text(), "ACK "); ok {
					fmt.Sscan(n, &acked[i])
					select {
					case told <- true:
					default:
					}
				} else {
					c.last = c.lines.Text()
				}
			}
			drained <- i
		}()
	}
	before := 0
	for range 4 {
		for range 2 { // of which the first may have been there already
			select {
			case <-told:
			case i := <-drained:
				t.Fatalf("process %d has ended: %s", i, children[i].last)
			}
		}
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

// A journal of 100 MB takes no more memory than one of 2, to back up, to compact and to put back.
func TestACopyTakesAsMuchMemoryHoweverLargeTheJournal(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it writes 100 MB")
	}
	j := create(t, t.TempDir())
	large(t, j, 1600)
	if _, _, err := j.Put(t.Context(), io.LimitReader(zeros{}, 40<<20)); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "all.backup")
	for _, c := range []struct {
		what string
		do   func(boltdb.CopyOptions) error
	}{
		{"back up", func(opts boltdb.CopyOptions) error {
			return bundle.Write(t.Context(), file, false, func(w io.Writer) error {
				counts, err := j.Backup(t.Context(), w, opts)
				if counts.BlobBytes != 40<<20 || counts.Records != 1600/60*61 {
					t.Errorf("it has %+v", counts)
				}
				return err
			})
		}},
		{"compact", func(opts boltdb.CopyOptions) error { _, err := j.Compact(t.Context(), opts); return err }},
		{"restore", func(opts boltdb.CopyOptions) error {
			f, err := os.Open(file)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = boltdb.Restore(t.Context(), filepath.Join(t.TempDir(), "journal.db"), f, boltdb.RestoreOptions{Progress: opts.Progress})
			return err
		}},
	} {
		var mem runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&mem)
		before, most := mem.HeapInuse, uint64(0)
		err := c.do(boltdb.CopyOptions{Progress: func(boltdb.Progress) {
			runtime.ReadMemStats(&mem)
			most = max(most, mem.HeapInuse)
		}})
		if err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		took := int64(most) - int64(before)
		t.Logf("%s: %.1f MB of memory at most", c.what, float64(took)/1e6)
		if took > 64<<20 { // it takes about 8 MB, or 30
			t.Errorf("%s: it took %d bytes of memory", c.what, took)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Size() < 100<<20 {
		t.Errorf("the backup has %d bytes, %v", info.Size(), err)
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
	j = patient(t, j)
	c := start(t, "patient append", j.Path(), "theirs", "600")
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

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
