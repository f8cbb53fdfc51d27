package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// atOnce is how many runs are driven at once while the power is cut, on one journal.
const atOnce = 3

// tempsOfCut is how many temporary files a process makes at most until it is cut off: one for each blob, and the journal.
const tempsOfCut = 8

// cuts cuts the power of disks while several processes pay on one journal. The oracle and its file are not on the disk.
func cuts(options string, one, two int) func(*tier, context.Context, *Row) error {
	return func(t *tier, ctx context.Context, row *Row) error {
		n := t.number(one, two)
		return t.disks(ctx, "ext4", options, func(ctx context.Context, d *disk, worker int) (err error) {
			b, err := openBench(t.programs, filepath.Join(t.Fast, fmt.Sprintf("cuts-%s-%d", options, worker)), t.cache)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.close()) }()
			if err := b.measure(ctx); err != nil {
				return err
			}
			r := rand.New(rand.NewPCG(t.Seed, uint64(worker)))
			for i := 0; !row.cut(n) && ctx.Err() == nil; i++ {
				if err := b.cut(ctx, d, row, r, fmt.Sprintf("c%d-%d", worker, i)); err != nil {
					return err
				}
			}
			return context.Cause(ctx)
		})
	}
}

// cut makes one cut, in the middle of several runs, and drives all of them to their ends.
func (b *bench) cut(ctx context.Context, d *disk, row *Row, r *rand.Rand, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the trial takes more than %s", patience))
	defer cancel()
	if err := b.oracle.behave(ctx, ledger.Behaviour{DelayMS: r.IntN(4)}); err != nil {
		return err
	}
	dir := filepath.Join(d.dir, "state")
	var ts []*trial
	var procs []*trials.Process
	for i := range atOnce {
		t := b.trial(kindCut, filepath.Join(dir, "journal.db"), "mixed", fmt.Sprintf("%s-%d", name, i))
		p, err := t.start(t.begin()...)
		if err != nil {
			return err
		}
		ts, procs = append(ts, t), append(procs, p)
	}
	err := trials.Pause(ctx, time.Duration(r.Int64N(int64(b.whole*(atOnce+1)/2))))
	err = errors.Join(err, d.cut())
	if r.IntN(2) == 0 { // they find out by themselves
		for _, p := range procs {
			select {
			case <-p.Dead():
			case <-time.After(3 * time.Second):
			}
		}
	}
	for i, p := range procs {
		p.Kill()
		exit, werr := p.Wait(ctx)
		ts[i].note(ts[i].begin(), exit)
		ts[i].killed = atOnce * tempsOfCut // a cut brings back what was removed, and nobody could remove what was left
		err = errors.Join(err, werr)
	}
	if err = errors.Join(err, d.power()); err != nil {
		return err
	}
	row.landed(1)
	for _, t := range ts {
		if err := t.look(ctx); err != nil {
			row.fail(t.run, err)
			continue
		}
		if err := t.done(ctx, row, t.run, 0); err != nil {
			row.fail(t.run, err)
		}
	}
	if r.IntN(8) == 0 { // the next journal is a fresh one
		return os.RemoveAll(dir)
	}
	return nil
}
