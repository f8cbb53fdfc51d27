package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/soak/trials"
)

const (
	stepOfSpace = 4 << 10 // by which the free space is less each time
	mostSpace   = 3 << 20 // with which a run has room enough
	fullSize    = 16 << 20
)

// fullDisks begins runs on a disk that has so much room, less by a page each time, until there is none; then there is room again.
func (t *tier) fullDisks(ctx context.Context, row *Row) error {
	steps := mostSpace / stepOfSpace
	n := t.part(steps)
	var next atomic.Int64
	dir, err := os.MkdirTemp(t.Fast, "full-")
	if err != nil {
		return err
	}
	err = trials.Work(ctx, t.Workers, func(ctx context.Context, worker int) (err error) {
		b, err := openBench(t.programs, filepath.Join(dir, fmt.Sprint("worker-", worker)), t.cache)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.close()) }()
		if err := b.measure(ctx); err != nil {
			return err
		}
		small, err := newSmallDisk(filepath.Join(b.dir, "small"), fullSize)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, small.close()) }()
		for !row.enough(n) && ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				break
			}
			room := (i * steps / n) * stepOfSpace
			if err := b.full(ctx, row, small, i, room); err != nil {
				row.fail(fmt.Sprintf("%d bytes of room", room), err)
			}
		}
		return context.Cause(ctx)
	})
	return errors.Join(err, os.RemoveAll(dir))
}

// full makes one trial on a disk with so much room.
func (b *bench) full(ctx context.Context, row *Row, d *disk, i, room int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the trial takes more than %s", patience))
	defer cancel()
	if err := b.oracle.behave(ctx, ledger.Behaviour{}); err != nil {
		return err
	}
	fill := filepath.Join(d.dir, "fill")
	if err := fillUp(fill, d.dir, room); err != nil {
		return err
	}
	state := filepath.Join(d.dir, fmt.Sprint("state-", i))
	t := b.trial(kindFull, filepath.Join(state, "journal.db"), "mixed", fmt.Sprint("s", i))
	t.more = []string{"TMPDIR=" + b.dir} // where a reply is rescued to
	exit, err := t.do(ctx, 0, nil, t.begin()...)
	if err != nil {
		return err
	}
	landed := 0
	if exit.Code != exitOK {
		landed = 1
	}
	if err := os.Remove(fill); err != nil {
		return err
	}
	if err := t.done(ctx, row, fmt.Sprintf("%d bytes of room", room), landed); err != nil {
		return err
	}
	return os.RemoveAll(state)
}
