package boltdb_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

// waitFor polls until as many appends wait for the next batch.
func waitFor(ctx context.Context, j *boltdb.Journal, n int) {
	for boltdb.Waiting(j) < n && ctx.Err() == nil {
		runtime.Gosched()
	}
}

// blockFirst makes the first batch wait until n further appends queue behind it.
func blockFirst(ctx context.Context, j *boltdb.Journal, n int) (batches *[]int, started <-chan struct{}) {
	begun := make(chan struct{})
	batches = new([]int)
	boltdb.BeforeCommit(j, func(batch int) {
		*batches = append(*batches, batch)
		if len(*batches) == 1 {
			close(begun)
			waitFor(ctx, j, n)
		}
	})
	return batches, begun
}

func TestAppendsThatCameMeanwhileShareOneCommit(t *testing.T) {
	const others = 50
	j := create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, j)
	batches, started := blockFirst(t.Context(), j, others)
	before := j.Commits()
	var wg sync.WaitGroup
	for i := range 1 + others {
		wg.Go(func() {
			if i > 0 {
				<-started
			}
			if err := j.Append(t.Context(), fmt.Sprint("run-", i), 0, created()); err != nil {
				t.Errorf("append %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if got := j.Commits() - before; got != 2 {
		t.Errorf("%d appends took %d commits, want 2", 1+others, got)
	}
	if fmt.Sprint(*batches) != fmt.Sprint([]int{1, others}) {
		t.Errorf("the batches had %d appends, want 1 and %d", *batches, others)
	}
}

func TestARefusedAppendDoesNotDisturbItsBatch(t *testing.T) {
	const others = 6
	j := create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, j)
	_, started := blockFirst(t.Context(), j, others)
	errs := make([]error, 1+others)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			run, at, e := fmt.Sprint("run-", i), uint64(0), created()
			switch {
			case i > 0 && i%2 == 0:
				at = 7 // no such log has 7 entries
			case i == 1:
				e = record("a log does not begin so")
			}
			if i > 0 {
				<-started
			}
			errs[i] = j.Append(t.Context(), run, at, e)
		})
	}
	wg.Wait()
	for i, err := range errs {
		var want error
		switch {
		case i > 0 && i%2 == 0:
			want = journal.ErrConflict
		case i == 1:
			want = journal.ErrInvalid
		}
		if !errors.Is(err, want) {
			t.Errorf("append %d: got %v, want %v", i, err, want)
		}
	}
	if err := j.Append(t.Context(), "run-0", 1, record("the handle is usable")); err != nil {
		t.Error(err)
	}
}

// Each append of a batch is judged against those before it: of many at the same position one gets it.
func TestABatchIsJudgedInOrder(t *testing.T) {
	const others = 10
	j := create(t, t.TempDir())
	journaltest.CheckOnCleanup(t, j)
	_, started := blockFirst(t.Context(), j, others)
	errs := make([]error, 1+others)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			if i > 0 {
				<-started
			}
			w := journal.Write{Space: "s", Key: "k"}
			errs[i] = j.Append(t.Context(), fmt.Sprint("run-", i), 0, created(), journal.Entry{
				Kind: journal.Record, Time: 1, Name: "write", Writes: []journal.Write{w},
			})
		})
	}
	wg.Wait()
	won := 0
	for i, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, journal.ErrStale) {
			t.Errorf("append %d: got %v, want %v", i, err, journal.ErrStale)
		}
	}
	if won != 1 {
		t.Errorf("%d appends made version 1 of the key, want 1", won)
	}
}

func TestAQueuedAppendIgnoresItsContext(t *testing.T) {
	j := create(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := make(chan struct{})
	first := true
	boltdb.BeforeCommit(j, func(int) {
		if !first {
			return
		}
		first = false
		close(begun)
		waitFor(t.Context(), j, 1)
		cancel()
	})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := j.Append(t.Context(), "a", 0, created()); err != nil {
			t.Error(err)
		}
	})
	<-begun
	if err := j.Append(ctx, "b", 0, created()); err != nil {
		t.Errorf("a queued append whose context ended: %v", err)
	}
	wg.Wait()
	if err := j.Append(ctx, "b", 1, record("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("an append whose context had ended: got %v, want %v", err, context.Canceled)
	}
}

func TestAnErrorOfTheCommitMakesTheHandleUnusable(t *testing.T) {
	cause := errors.New("input/output error")
	for _, c := range []struct {
		name   string
		commit func(commit func() error) error
		there  bool
		want   []error
	}{
		{"not committed", func(func() error) error { return cause }, false, []error{cause}},
		{"committed", func(commit func() error) error { return errors.Join(commit(), cause) }, true, []error{cause}},
		{"panic", func(func() error) error { panic("page 7 is not what it was") }, false, []error{journal.ErrDamaged}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			j := create(t, dir)
			if err := j.Append(t.Context(), "r", 0, created()); err != nil {
				t.Fatal(err)
			}
			boltdb.OnCommit(j, c.commit)
			err := j.Append(t.Context(), "r", 1, record("in doubt"))
			for _, want := range append(c.want, journal.ErrUnusable) {
				if !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
			}
			boltdb.OnCommit(j, func(commit func() error) error { return commit() })
			expectUnusable(t, j)

			again := create(t, dir)
			journaltest.CheckOnCleanup(t, again)
			want := 1
			if c.there {
				want = 2
			}
			if got := length(t, again, "r"); got != want {
				t.Errorf("opened again the log has %d entries, want %d", got, want)
			}
		})
	}
}

func expectUnusable(t *testing.T, j *boltdb.Journal) {
	t.Helper()
	errs := map[string]error{"append": j.Append(t.Context(), "r", 1, record("x"))}
	for _, err := range j.Read(t.Context(), "r", 0) {
		errs["read"] = err
	}
	for _, err := range j.List(t.Context(), journal.Query{}) {
		errs["list"] = err
	}
	_, _, errs["get"] = j.Get(t.Context(), "s", "k")
	_, _, errs["put"] = j.Put(t.Context(), nil)
	_, errs["open"] = j.Open(t.Context(), journal.Digest{})
	_, errs["stat"] = j.Stat(t.Context(), journal.Digest{})
	_, errs["owner"] = j.Owner()
	_, errs["liveness"] = j.Liveness("x")
	_, errs["id"] = j.ID()
	if len(errs) != 10 {
		t.Errorf("%d calls answered, want 10", len(errs))
	}
	for call, err := range errs {
		if !errors.Is(err, journal.ErrUnusable) {
			t.Errorf("%s: got %v, want %v", call, err, journal.ErrUnusable)
		}
	}
}

func length(t *testing.T, j journal.Journal, run string) int {
	t.Helper()
	n := 0
	for _, err := range j.Read(t.Context(), run, 0) {
		if errors.Is(err, journal.ErrNotFound) {
			return 0
		}
		if err != nil {
			t.Fatalf("read %s: %v", run, err)
		}
		n++
	}
	return n
}

// A commit whose error does not say that nothing was committed may have been a claim: its owner has to be known to be dead.
func TestTheOwnerOfAClaimThatMayBeThereIsKnown(t *testing.T) {
	path := create(t, t.TempDir()).Path()
	j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	owner, err := j.Owner()
	if err != nil {
		t.Fatal(err)
	}
	boltdb.OnCommit(j, func(commit func() error) error {
		return errors.Join(commit(), errors.New("the disk says that it failed"))
	})
	if err := j.Append(t.Context(), "r", 0, created(), journal.Entry{Kind: journal.Claimed, Time: 2, Owner: owner}); !errors.Is(err, journal.ErrUnusable) {
		t.Errorf("append: %v, want %v", err, journal.ErrUnusable)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if j, err = boltdb.Open(t.Context(), path, boltdb.Options{}); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if live, err := j.Liveness(owner); length(t, j, "r") != 2 || live != journal.Dead || err != nil {
		t.Errorf("the claim is there, and its owner is %v, %v, want it dead", live, err)
	}
}

// A run that becomes unsettled and settled in one commit is not listed as unsettled: Get gives nil for an empty value that was put in the
// same transaction.
func TestARunThatEndsInTheCommitThatBeginsItIsSettled(t *testing.T) {
	j := create(t, t.TempDir())
	me, err := j.Owner()
	if err != nil {
		t.Fatal(err)
	}
	_, started := blockFirst(t.Context(), j, 2)
	appends := []struct {
		at      uint64
		entries []journal.Entry
	}{
		{0, []journal.Entry{created(), {Kind: journal.Claimed, Time: 1, Owner: me}}},
		{2, []journal.Entry{{Kind: journal.Finished, Time: 1, Owner: me, Outcome: journal.OK}}},
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := j.Append(t.Context(), "first", 0, created()); err != nil {
			t.Error(err)
		}
	})
	<-started
	for i, a := range appends {
		wg.Go(func() {
			if err := j.Append(t.Context(), "r", a.at, a.entries...); err != nil {
				t.Error(err)
			}
		})
		if i == 0 {
			waitFor(t.Context(), j, 1)
		}
	}
	wg.Wait()
	for _, run := range boltdb.ListedUnsettled(t.Context(), j) {
		if run == "r" {
			t.Error("the finished run is listed as unsettled")
		}
	}
}
