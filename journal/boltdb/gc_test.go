package boltdb_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// always removes whatever is finished.
var always = map[journal.Status]time.Duration{journal.Done: 0, journal.Failed: 0, journal.CancelledUp: 0}

func collect(t testing.TB, j *boltdb.Journal, opts boltdb.CollectOptions) boltdb.Collected {
	t.Helper()
	done, err := j.Collect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func stored(t testing.TB, j *boltdb.Journal, text string) bool {
	t.Helper()
	_, err := j.Stat(t.Context(), journal.DigestOf([]byte(text)))
	if err != nil && !errors.Is(err, journal.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

func whole(t testing.TB, path string) boltdb.Verified {
	t.Helper()
	got, n := faults(t, path)
	for _, f := range got {
		t.Error(f)
	}
	return n
}

func TestRemovedRunsKeepTheirIDs(t *testing.T) {
	j := fill(t, t.TempDir(), 6)
	was := logs(t, j.Path())
	if done := collect(t, j, boltdb.CollectOptions{}); done != (boltdb.Collected{}) {
		t.Errorf("without being asked to it removed %+v", done)
	}
	var would []string
	dry := collect(t, j, boltdb.CollectOptions{Keep: always, DryRun: true, OnRemove: func(s *journal.State) { would = append(would, s.Run) }})
	if got := len(logs(t, j.Path())); got != 6 {
		t.Errorf("a dry run left %d runs of 6", got)
	}
	done := collect(t, j, boltdb.CollectOptions{Keep: always})
	if done.Runs != 3 || done.Entries != 3*23 || done.Blobs != 3 || done.BlobBytes == 0 || done != dry {
		t.Errorf("removed %+v, a dry run said %+v", done, dry)
	}
	if fmt.Sprint(would) != "[run-0 run-2 run-4]" {
		t.Errorf("a dry run would remove %v", would)
	}
	if n := whole(t, j.Path()); n.Runs != 3 || n.Removed != 3 || n.Values != 6 || n.Orphans != 0 {
		t.Errorf("left: %+v", n)
	}
	for run, log := range was {
		finished := log[len(log)-1].Kind == journal.Finished
		var gone *journal.Removed
		err := j.Append(t.Context(), run, 0, created())
		if errors.As(err, &gone) != finished || finished && (!errors.Is(err, journal.ErrRemoved) || gone.Len != uint64(len(log)) || gone.Head != log[len(log)-1].Hash || gone.Ended != 3 || gone.Outcome != journal.OK) {
			t.Errorf("a second run %s: %v, %+v", run, err, gone)
		}
		for _, err := range j.Read(t.Context(), run, 0) {
			if errors.Is(err, journal.ErrRemoved) != finished {
				t.Errorf("reading %s: %v", run, err)
			}
		}
		if stored(t, j, strings.Repeat(run, 50)) == finished {
			t.Errorf("the blob of %s is there: %t", run, finished)
		}
	}
	if _, version, err := j.Get(t.Context(), "run-0", "key"); version != 10 || err != nil {
		t.Errorf("what a removed run wrote has version %d, %v", version, err)
	}
	n := 0
	for r, err := range j.Removed(t.Context(), "run-0") {
		if n++; err != nil || r.Rest || r.Lost {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if n != 2 {
		t.Errorf("%d runs that were removed are listed behind run-0, want 2", n)
	}
}

func TestRunsStayAsLongAsAskedFor(t *testing.T) {
	j, err := boltdb.Create(t.Context(), filepath.Join(t.TempDir(), "journal.db"), boltdb.Options{Now: func() time.Time { return time.Unix(1000, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	end := func(run string, at int64, outcome journal.Outcome) {
		t.Helper()
		es := []journal.Entry{created(), {Kind: journal.Claimed, Time: 1, Owner: "o"}}
		if outcome == journal.Cancelled {
			es = append(es, journal.Entry{Kind: journal.Cancel, Time: 1})
		}
		es = append(es, journal.Entry{Kind: journal.Finished, Time: time.Unix(at, 0).UnixNano(), Owner: "o", Outcome: outcome})
		if err := j.Append(t.Context(), run, 0, es...); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []int64{800, 899, 900, 901, 1001} {
		end(fmt.Sprint("done-", at), at, journal.OK)
		end(fmt.Sprint("failed-", at), at, journal.Fail)
		end(fmt.Sprint("cancelled-", at), at, journal.Cancelled)
	}
	for _, c := range []struct {
		keep map[journal.Status]time.Duration
		want uint64
	}{
		{map[journal.Status]time.Duration{journal.Running: 0, journal.Waiting: 0}, 0},
		{map[journal.Status]time.Duration{journal.Done: 100 * time.Second}, 2},
		{map[journal.Status]time.Duration{journal.Done: time.Hour, journal.Failed: 150 * time.Second}, 1},
		{map[journal.Status]time.Duration{journal.CancelledUp: 0}, 4},
		{always, 2 + 3},
	} {
		if done := collect(t, j, boltdb.CollectOptions{Keep: c.keep}); done.Runs != c.want {
			t.Errorf("%v: removed %d runs, want %d", c.keep, done.Runs, c.want)
		}
	}
	whole(t, j.Path())
}

// What is not settled stays, however old it is.
func TestWhatIsNotSettledIsNotRemoved(t *testing.T) {
	j := create(t, t.TempDir())
	begun := []journal.Entry{created(), {Kind: journal.Claimed, Time: 1, Owner: "o"}}
	doubt := journal.Entry{Kind: journal.Intent, Time: 1, Step: "pay", Name: "send", Owner: "o", OnCut: journal.Doubt, Key: "k", SendBy: 5, Request: journal.DigestOf(nil)}
	ok := journal.Entry{Kind: journal.Finished, Time: 2, Owner: "o", Outcome: journal.OK}
	for run, more := range map[string][]journal.Entry{
		"running":       nil,
		"waiting":       {{Kind: journal.Released, Time: 1, Name: journal.StopWaiting, Owner: "o"}},
		"abandoned":     {doubt, {Kind: journal.Finished, Time: 2, Owner: "o", Outcome: journal.Fail, Abandon: true}},
		"cancelled":     {doubt, {Kind: journal.Cancel, Time: 2}, {Kind: journal.Finished, Time: 2, Owner: "o", Outcome: journal.Cancelled}},
		"late":          {ok, {Kind: journal.Late, Time: 3, Step: "pay", Name: "send", Owner: "p", Outcome: journal.OK}},
		"undone":        {ok},
		"undone~back":   nil,
		"undone-2":      {ok},
		"undone-2~back": {ok},
	} {
		if err := j.Append(t.Context(), run, 0, append(begun[:2:2], more...)...); err != nil {
			t.Fatal(run, err)
		}
	}
	done := collect(t, j, boltdb.CollectOptions{Keep: always, Undoes: func(run string) string { return run + "~back" }})
	left := logs(t, j.Path())
	if done.Runs != 2 || done.Kept != 4 || len(left) != 7 || left["undone"] == nil || left["undone-2"] != nil {
		t.Errorf("removed %+v, %d are left", done, len(left))
	}
}

// A removal that is cut off leaves a whole run or a removed one, and the next one takes away what is left of it.
func TestARemovalThatIsCutOff(t *testing.T) {
	for _, point := range []string{"", "buried", "emptied", "marked"} {
		for nth := range 3 {
			j := fill(t, t.TempDir(), 6)
			ctx, cancel := context.WithCancel(t.Context())
			seen := 0
			boltdb.OnPoint(j, func(p string) {
				if p == point {
					if seen++; seen > nth {
						cancel()
					}
				}
			})
			_, err := j.Collect(ctx, boltdb.CollectOptions{Keep: always})
			if (err == nil) != (nth >= map[string]int{"buried": 1, "emptied": 1, "marked": 1}[point]) {
				t.Errorf("cut off at %s %d: %v", point, nth, err)
			}
			boltdb.OnPoint(j, nil)
			whole(t, j.Path())
			if again := collect(t, j, boltdb.CollectOptions{Keep: always}); again.Runs > 3 {
				t.Errorf("removed again: %+v", again)
			}
			n := whole(t, j.Path())
			if n.Runs != 3 || n.Removed != 3 || n.Orphans != 0 {
				t.Errorf("cut off at %s %d: left %+v", point, nth, n)
			}
			if marks, entries, err := boltdb.Leftovers(t.Context(), j); marks != 0 || entries != 0 || err != nil {
				t.Errorf("cut off at %s %d: %d marks, %d entries, %v", point, nth, marks, entries, err)
			}
			cancel()
		}
	}
}

// A blob stays from when it is stored until an entry names it, whoever collects meanwhile, and goes when its handle is dead.
func TestABlobThatIsAboutToBeNamedStays(t *testing.T) {
	j := create(t, t.TempDir())
	other, err := boltdb.Open(t.Context(), j.Path(), boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	put := func(j *boltdb.Journal, text string) (e journal.Entry) {
		t.Helper()
		var err error
		e = created()
		if e.Blob, e.Size, err = j.Put(t.Context(), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return e
	}
	first := put(j, "mine")
	theirs := put(other, "theirs")
	put(other, "mine") // the same bytes
	if done := collect(t, other, boltdb.CollectOptions{}); done.Blobs != 0 || done.Pinned != 2 {
		t.Errorf("removed %+v", done)
	}
	if err := j.Append(t.Context(), "r", 0, first); err != nil {
		t.Error(err)
	}
	if err := other.Append(t.Context(), "r", 0, theirs); !errors.Is(err, journal.ErrConflict) {
		t.Error(err)
	}
	if done := collect(t, j, boltdb.CollectOptions{}); done.Blobs != 0 || done.Pinned != 1 || !stored(t, j, "mine") || !stored(t, j, "theirs") {
		t.Errorf("removed %+v", done)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if done := collect(t, j, boltdb.CollectOptions{}); done.Blobs != 1 || done.Pinned != 0 || !stored(t, j, "mine") || stored(t, j, "theirs") {
		t.Errorf("removed %+v", done)
	}
	// An entry of another run may name it, without anybody having stored it again; but not one that has gone.
	copied, lost := first, theirs
	if err := j.Append(t.Context(), "s", 0, copied); err != nil {
		t.Error(err)
	}
	if err := j.Append(t.Context(), "t", 0, lost); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("it names what is not there: %v", err)
	}
	if files, err := os.ReadDir(j.Path() + ".pins"); err != nil || len(files) != 1 {
		t.Errorf("pins are left: %v, %v", files, err)
	}
	whole(t, j.Path())
}

func TestLeftoversOfTheDeadAreCollected(t *testing.T) {
	j := create(t, t.TempDir())
	if _, _, err := j.Put(t.Context(), strings.NewReader("mine")); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	age := func(path string) {
		t.Helper()
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		age(path)
	}
	dead := journal.DigestOf([]byte("dead"))
	blob := filepath.Join(j.Path()+".blobs", dead.String()[:2], dead.String())
	write(blob, "dead")
	write(filepath.Join(j.Path()+".pins", strings.Repeat("0", 32), "lock"), "")
	write(filepath.Join(j.Path()+".pins", strings.Repeat("0", 32), dead.String()), "")
	write(filepath.Join(j.Path()+".blobs", "new-123"), "half a")
	write(filepath.Join(j.Path()+".owners", strings.Repeat("0", 32)), "1 1\n")
	write(filepath.Join(filepath.Dir(j.Path()), ".journal.db.123.tmp"), "half a")
	theirs := filepath.Join(filepath.Dir(j.Path()), "notes.tmp")
	write(theirs, "somebody else's")
	dry := collect(t, j, boltdb.CollectOptions{DryRun: true})
	// A blob that is being written.
	busy, more := make(chan struct{}), make(chan struct{})
	stored := make(chan error)
	go func() {
		_, _, err := j.Put(context.Background(), readerFunc(func(p []byte) (int, error) {
			close(busy)
			<-more
			return 0, fmt.Errorf("enough")
		}))
		stored <- err
	}()
	<-busy
	half, err := filepath.Glob(filepath.Join(j.Path()+".blobs", "new-*"))
	if err != nil || len(half) != 2 {
		t.Fatal(half, err)
	}
	for _, path := range half {
		age(path)
	}
	done := collect(t, j, boltdb.CollectOptions{})
	if done.Files != 4 || done.Blobs != 1 || done.Pinned != 1 || done != dry {
		t.Errorf("removed %+v, a dry run said %+v", done, dry)
	}
	if left, _ := filepath.Glob(filepath.Join(j.Path()+".blobs", "new-*")); len(left) != 1 {
		t.Errorf("of a blob that is being written and one that is not there are left: %v", left)
	}
	close(more)
	if err := <-stored; err == nil || !strings.Contains(err.Error(), "enough") {
		t.Error(err)
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Error(err)
	}
	if again := collect(t, j, boltdb.CollectOptions{}); again.Files != 0 || again.Blobs != 0 {
		t.Errorf("removed again: %+v", again)
	}
}

// Eight handles start runs with blobs, some of which others have stored or removed before, finish some and copy others, while a ninth
// collects without a pause. No entry ever names a blob that is not there.
func TestNothingThatIsNamedIsCollected(t *testing.T) {
	j := create(t, t.TempDir())
	const workers, texts, rounds = 8, 60, 8
	stop := make(chan struct{})
	p := &passes{done: make(chan struct{})}
	var wg sync.WaitGroup
	for w := range workers {
		h, err := boltdb.Open(t.Context(), j.Path(), boltdb.Options{BusyTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		wg.Go(func() { work(t, h, fmt.Sprint("w", w), texts, p, stop) })
	}
	var sum boltdb.Collected
	for i := range rounds {
		opts := boltdb.CollectOptions{}
		if i%2 == 0 {
			opts.Keep = always
		}
		done, err := j.Collect(t.Context(), opts)
		if err != nil {
			t.Error(err)
		}
		p.end()
		sum.Runs, sum.Blobs, sum.Pinned = sum.Runs+done.Runs, sum.Blobs+done.Blobs, sum.Pinned+done.Pinned
	}
	close(stop)
	wg.Wait()
	n := whole(t, j.Path())
	if sum.Runs == 0 || sum.Blobs == 0 || n.Runs == 0 || n.Blobs == 0 {
		t.Errorf("nothing was tried: %+v, %+v", sum, n)
	}
	t.Logf("removed %d runs and %d blobs, left %d pinned ones; %d runs with %d blobs are there", sum.Runs, sum.Blobs, sum.Pinned, n.Runs, n.Blobs)
}

// passes lets workers wait for the end of a collection.
type passes struct {
	mu   sync.Mutex
	done chan struct{}
}

func (p *passes) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.done)
	p.done = make(chan struct{})
}

// one waits until a collection has come to its end that began after the call, or stop.
func (p *passes) one(stop chan struct{}) {
	for range 2 { // the one under way does not count
		p.mu.Lock()
		done := p.done
		p.mu.Unlock()
		select {
		case <-done:
		case <-stop:
			return
		}
	}
}

func work(t *testing.T, h *boltdb.Journal, name string, texts int, p *passes, stop chan struct{}) {
	r := rand.New(rand.NewPCG(1, uint64(name[1])))
	for i := 0; i < 100; i++ {
		select {
		case <-stop:
			return
		default:
		}
		finish := r.IntN(8) > 0
		run, text := fmt.Sprint(name, "-", i), fmt.Sprint("text ", r.IntN(texts))
		if !finish {
			text += " of " + run
		}
		d, n, err := h.Put(context.Background(), strings.NewReader(text))
		if err != nil {
			t.Error(err)
			return
		}
		if i%20 == 5 { // it takes its time before it has the blob named
			p.one(stop)
		}
		first := created()
		if i%2 == 0 {
			first.Blob, first.Size = d, n
		} else {
			first.Refs = []journal.Digest{d}
		}
		es := []journal.Entry{first, {Kind: journal.Claimed, Time: 1, Owner: "o"}}
		if finish {
			es = append(es, journal.Entry{Kind: journal.Finished, Time: 2, Owner: "o", Outcome: journal.OK})
		}
		if err := h.Append(context.Background(), run, 0, es...); err != nil {
			t.Errorf("a run with a blob that was only just stored: %v", err)
			return
		}
		if i%3 == 0 { // a fork of it, if it is still there
			err := h.Append(context.Background(), run+"-fork", 0, es...)
			if err != nil && !errors.Is(err, journal.ErrDamaged) {
				t.Error(err)
			}
		}
	}
}

// What is left of removed runs goes in transactions of a bounded length, however many runs go together: everyone waits for each.
func TestManyRunsAreRemovedInShortTransactions(t *testing.T) {
	j := create(t, t.TempDir())
	const runs, steps, most = 30, 1000, 8192
	for r := range runs {
		es := []journal.Entry{created(), {Kind: journal.Claimed, Time: 1, Owner: "o"}}
		for n := range steps {
			step := journal.Step(fmt.Sprint("s", n))
			es = append(es, journal.Entry{Kind: journal.Intent, Time: 1, Step: step, Name: "x", Owner: "o", OnCut: journal.Redo, Request: journal.DigestOf(nil)},
				journal.Entry{Kind: journal.Result, Time: 1, Step: step, Name: "x", Owner: "o", Outcome: journal.OK})
		}
		if err := j.Append(t.Context(), fmt.Sprint("r", r), 0, append(es, journal.Entry{Kind: journal.Finished, Time: 1, Owner: "o", Outcome: journal.OK})...); err != nil {
			t.Fatal(err)
		}
	}
	emptied := 0
	boltdb.OnPoint(j, func(p string) {
		if p == "emptied" {
			emptied++
		}
	})
	got := collect(t, j, boltdb.CollectOptions{Keep: map[journal.Status]time.Duration{journal.Done: 0}})
	if got.Runs != runs || got.Entries != runs*(2*steps+3) {
		t.Errorf("got %+v, want %d runs to be removed", got, runs)
	}
	if keys := runs * (4*steps + 3); emptied < keys/most { // entries, and the keys of steps
		t.Errorf("%d keys went in %d transactions, want at most %d in each", keys, emptied, most)
	}
	if marks, rest, err := boltdb.Leftovers(t.Context(), j); marks != 0 || rest != 0 || err != nil {
		t.Errorf("left are %d marks and %d entries, %v", marks, rest, err)
	}
	whole(t, j.Path())
}

// A run that has a log is neither the rest of an import nor of a removal, whatever lists it as one.
func TestMaintenanceTakesNothingFromARunThatIsThere(t *testing.T) {
	for what, change := range map[string]func(tx *bbolt.Tx) error{
		"import": func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("imports"))
			if err != nil {
				return err
			}
			return b.Put([]byte("run-0"), nil)
		},
		"removal": func(tx *bbolt.Tx) error {
			b, err := journal.MarshalRemoved(&journal.Removed{At: 1, Rest: true})
			if err != nil {
				return err
			}
			return tx.Bucket([]byte("gone")).Put([]byte("run-0"), boltdb.Reseal([]byte("run-0"), b))
		},
	} {
		t.Run(what, func(t *testing.T) {
			j := fill(t, t.TempDir(), 2)
			j.Close()
			edit(t, j.Path(), change)
			if got, _ := faults(t, j.Path()); len(got) == 0 {
				t.Error("verify finds nothing")
			}
			j = open(t, j.Path())
			if _, err := j.Collect(t.Context(), boltdb.CollectOptions{}); err != nil && !errors.Is(err, journal.ErrDamaged) {
				t.Error(err)
			}
			if got := length(t, j, "run-0"); got != 23 {
				t.Errorf("the log has %d entries, want 23", got)
			}
		})
	}
}

// What is damaged is for a person to look at: a collection neither removes it nor says that it would.
func TestADamagedRunIsNotCollected(t *testing.T) {
	j := fill(t, t.TempDir(), 4)
	if err := boltdb.Spoil(t.Context(), j, "run-0", 7); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		_, err := j.Collect(t.Context(), boltdb.CollectOptions{Keep: always, DryRun: dry, OnRemove: func(s *journal.State) {
			t.Errorf("dry %t: %s is said to be removed", dry, s.Run)
		}})
		if !errors.Is(err, journal.ErrDamaged) || !strings.Contains(err.Error(), "run-0") {
			t.Errorf("dry %t: got %v, want that run-0 is damaged", dry, err)
		}
	}
	for run := range map[string]bool{"run-0": true, "run-2": true} {
		if listed := runs(t, j, journal.Query{Run: run}); listed != 1 {
			t.Errorf("%s is removed", run)
		}
	}
}

// The copy that a migration keeps shares the blobs of the journal: what only it names stays as long as it is there.
func TestTheBlobsOfWhatAMigrationKeptAreNotCollected(t *testing.T) {
	j := fill(t, t.TempDir(), 4)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	kept := j.Path() + ".schema1"
	place(t, kept, image)
	j = open(t, j.Path())
	if done := collect(t, j, boltdb.CollectOptions{Keep: always}); done.Runs != 2 || done.Blobs != 0 {
		t.Errorf("collected %+v, want two runs and no blob", done)
	}
	if err := os.Remove(kept); err != nil {
		t.Fatal(err)
	}
	if done := collect(t, j, boltdb.CollectOptions{}); done.Blobs != 2 {
		t.Errorf("without the copy collected %+v, want two blobs", done)
	}
}
