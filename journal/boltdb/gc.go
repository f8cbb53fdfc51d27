package boltdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// CollectOptions says what is to be removed. The zero value removes no run.
type CollectOptions struct {
	// Keep says for how long runs are kept after their last entry, by how they ended: journal.Done, Failed or CancelledUp. Runs that ended
	// otherwise stay, as do those that are not finished, in whatever way.
	Keep map[journal.Status]time.Duration
	// Undoes names the run that undoes another one, which stays while that one is not settled. Nil: there is none.
	Undoes func(run string) string
	// DryRun removes nothing and counts what would be removed.
	DryRun bool
	// OnRemove is told of each run that was removed, or would be.
	OnRemove func(*journal.State)
	// Progress is told now and then what was done so far.
	Progress func(Collected)
}

// Collected counts what was removed, or would be.
type Collected struct {
	// Runs and Entries are those that were removed. Kept are runs that are old enough and stay all the same: something of them is in
	// doubt or came too late and is not settled, or their rollback is not finished.
	Runs, Entries, Kept uint64
	// Blobs are those that no entry named, BlobBytes their length together. Pinned are those that stay because a process is about to have
	// them named.
	Blobs, Pinned uint64
	BlobBytes     int64
	// Files are what processes have left that died: half-written blobs and journals, files of owners and of pins.
	Files uint64
}

// Collect removes what nobody needs any more: runs that ended long enough ago, and what is beside the journal and not named by it. Other
// processes may do meanwhile whatever they like: a blob that one of them is about to have named by an entry stays.
//
// Of a removed run stay its id, how and when it ended, and the length and the hash of its log; nobody can start a run of that id, because
// idempotency keys are made of it (ErrRemoved). What it wrote into tool state stays. A run goes in several transactions, of which the
// first one removes it for everybody; what a crash leaves of it is removed by the next Collect, and is no fault.
//
// It takes the memory of some 50 bytes for each blob that an entry names. Errors: ErrBusy when other maintenance is under way, ErrDamaged
// when a log cannot be read (then no blob is removed), ErrNoSpace, ErrUnusable, ctx.Err().
func (j *Journal) Collect(ctx context.Context, opts CollectOptions) (Collected, error) {
	release, err := j.maintain(ctx, "gc")
	if err != nil {
		return Collected{}, err
	}
	defer release()
	c := &collector{j: j, opts: opts, going: map[string]bool{}}
	if err = c.all(ctx); err != nil {
		err = fmt.Errorf("collect what %s does not need: %w", j.path, noSpace(err))
	}
	return c.Collected, err
}

type collector struct {
	Collected
	j     *Journal
	opts  CollectOptions
	going map[string]bool // true for the runs that would go, in a dry run
}

func (c *collector) all(ctx context.Context) error {
	if !c.opts.DryRun {
		if err := c.j.sweepCopies(ctx); err != nil {
			return err
		}
		if err := c.rests(ctx); err != nil {
			return err
		}
	}
	if err := c.runs(ctx); err != nil {
		return err
	}
	if err := c.orphans(ctx); err != nil {
		return err
	}
	return c.leftovers(ctx)
}

func (c *collector) progress() {
	if c.opts.Progress != nil {
		c.opts.Progress(c.Collected)
	}
}

// together is how many runs are removed in one transaction.
const together = 64

// rests removes what an earlier Collect has left of runs that it removed, because it was cut off.
func (c *collector) rests(ctx context.Context) error {
	var runs []string
	for r, err := range c.j.Removed(ctx, "") {
		if err != nil {
			return err
		}
		if r.Rest {
			runs = append(runs, r.Run)
		}
	}
	return c.j.empty(ctx, runs)
}

// runs removes the runs that are old enough.
func (c *collector) runs(ctx context.Context) error {
	if len(c.opts.Keep) == 0 {
		return nil
	}
	now := c.j.now().UnixNano()
	var some []*journal.State
	for s, err := range c.j.List(ctx, journal.Query{}) {
		if err != nil {
			return err
		}
		if keep, asked := c.opts.Keep[s.Status()]; !s.Finished || !asked || now-s.Time <= int64(keep) {
			continue
		}
		if s.Unsettled() {
			c.Kept++
			continue
		}
		for _, err := range c.j.Read(ctx, s.Run, 0) {
			if err != nil { // what is damaged is for a person to look at
				return fmt.Errorf("remove run %s: %w", s.Run, err)
			}
		}
		if some = append(some, &s); len(some) < together {
			continue
		}
		if err := c.remove(ctx, some, now); err != nil {
			return err
		}
		some = some[:0]
	}
	return c.remove(ctx, some, now)
}

// remove removes some runs, if they are still as they were listed.
func (c *collector) remove(ctx context.Context, some []*journal.State, now int64) error {
	defer c.progress()
	var going []*journal.State
	judge := func(tx *bbolt.Tx) error {
		going = going[:0]
		for _, s := range some {
			stays, err := c.stays(tx, s)
			if err != nil {
				return fmt.Errorf("remove run %s: %w", s.Run, err)
			}
			if !stays {
				going = append(going, s)
			}
		}
		return nil
	}
	if len(some) == 0 {
		return nil
	}
	if err := c.j.view(ctx, judge); err != nil {
		return err
	}
	if !c.opts.DryRun && len(going) > 0 {
		err := c.j.lessen(ctx, func(tx *bbolt.Tx) error {
			if err := judge(tx); err != nil {
				return err
			}
			for _, s := range going {
				if err := bury(tx, s, now); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		c.j.hooks.at("buried")
	}
	var runs []string
	for _, s := range going {
		if c.opts.OnRemove != nil {
			c.opts.OnRemove(s)
		}
		runs = append(runs, s.Run)
		c.Entries += s.Len
		c.going[s.Run] = c.opts.DryRun
	}
	c.Runs += uint64(len(runs))
	c.Kept += uint64(len(some) - len(runs))
	if c.opts.DryRun {
		return nil
	}
	return c.j.empty(ctx, runs)
}

// stays says whether a run has changed since it was listed, or the run that undoes it is not settled.
func (c *collector) stays(tx *bbolt.Tx, s *journal.State) (bool, error) {
	is, err := readState(tx, s.Run)
	if err != nil || is.Len != s.Len || is.Head != s.Head || c.opts.Undoes == nil {
		return err == nil && (is.Len != s.Len || is.Head != s.Head), err
	}
	undoes, err := readState(tx, c.opts.Undoes(s.Run))
	return err == nil && undoes.Len > 0 && undoes.Unsettled(), err
}

// bury takes the run itself away. Its entries are nobody's then.
func bury(tx *bbolt.Tx, s *journal.State, now int64) error {
	run := []byte(s.Run)
	r := &journal.Removed{Run: s.Run, At: now, Ended: s.Time, Outcome: s.Outcome, Len: s.Len, Head: s.Head, Rest: true}
	return errors.Join(putGone(tx, r), tx.Bucket(statesBucket).Delete(run), tx.Bucket(unsettledBucket).Delete(run))
}

// empty removes what is left of runs that were taken away, some of it in each transaction.
func (j *Journal) empty(ctx context.Context, runs []string) error {
	for len(runs) > 0 {
		left := runs
		err := j.lessen(ctx, func(tx *bbolt.Tx) error {
			most := mostDeleted
			for left = runs; len(left) > 0 && len(runs)-len(left) < together; left = left[1:] {
				more, err := emptyRun(tx, left[0], &most)
				if more || err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		runs = left
		j.hooks.at("emptied")
	}
	return nil
}

// emptyRun removes some of what is left of a run, at most so many keys, and says whether there is more.
func emptyRun(tx *bbolt.Tx, run string, most *int) (more bool, err error) {
	if tx.Bucket(statesBucket).Get([]byte(run)) != nil {
		return false, damaged("run %s has a log, and was removed", run)
	}
	if more, err := deleteLog(tx, run, most); more || err != nil {
		return more, err
	}
	r, err := readGone(tx, run)
	if r == nil || err != nil {
		return false, err
	}
	r.Rest = false
	return false, putGone(tx, r)
}

// mostDeleted is how many keys are deleted in one transaction: others wait for it.
const mostDeleted = 8 * partEntries

// deleteLog deletes entries and keys of a run, as many as are left of so many, and says whether there are more.
func deleteLog(tx *bbolt.Tx, run string, left *int) (more bool, err error) {
	for _, name := range [][]byte{entriesBucket, keysBucket} {
		if more, err := deleteSome(tx.Bucket(name), append([]byte(run), 0), left); more || err != nil {
			return more, err
		}
	}
	return false, nil
}

// deleteSome deletes keys that begin with prefix, as many as are left of so many, and says whether there are more.
func deleteSome(b *bbolt.Bucket, prefix []byte, left *int) (more bool, err error) {
	var keys [][]byte
	c := b.Cursor()
	for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Next() {
		if len(keys) == *left {
			more = true
			break
		}
		keys = append(keys, bytes.Clone(k))
	}
	*left -= len(keys)
	for _, k := range keys {
		if err := b.Delete(k); err != nil {
			return more, err
		}
	}
	return more, nil
}
