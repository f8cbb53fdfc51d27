package boltdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// maintain keeps other maintenance of the journal away until release is called: of backup, restore, compact, gc and import one
// at a time is under way; repair holds the journal itself. what names it, for the others. The lock is on PATH.copy, which is never renamed
// or removed, and ends with the process; appends and reads know nothing of it.
//
// It waits for the others as long as the handle's busy timeout. Errors: ErrBusy, which says who does what; ctx.Err().
func (j *Journal) maintain(ctx context.Context, what string) (release func(), err error) {
	if err := j.gate.usable(); err != nil {
		return nil, err
	}
	return maintain(ctx, j.path, what, j.gate.busy)
}

// maintain is for a path where there may be no journal yet.
func maintain(ctx context.Context, path, what string, busy time.Duration) (release func(), err error) {
	f, err := openLock(path + ".copy")
	if err != nil {
		return nil, fmt.Errorf("begin %s: %w", what, noSpace(err))
	}
	err = lockWithin(ctx, f, true, busy, 5*time.Millisecond)
	switch {
	case errors.Is(err, journal.ErrBusy):
		err = fmt.Errorf("%w: begin %s: other maintenance is under way: %s", journal.ErrBusy, what, maintainer(f))
		return nil, errors.Join(err, f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("begin %s: %w", what, err), f.Close())
	}
	// Messages depend on it, and nothing else.
	text := fmt.Sprintf("process %d, %s\n", os.Getpid(), what)
	_, _ = f.WriteAt([]byte(text), 0)
	_ = f.Truncate(int64(len(text)))
	return func() { _ = f.Close() }, nil // which lets go of the lock
}

// maintainer reads who holds the lock of maintenance, and for what.
func maintainer(f *os.File) string {
	b := make([]byte, 200)
	n, _ := f.ReadAt(b, 0)
	if who, _, ok := strings.Cut(string(b[:n]), "\n"); ok {
		return who
	}
	return "another process"
}
