package boltdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// Locks are advisory, belong to an open file, and are released by the kernel when its process ends, however it does.
// Each platform has
//
//	tryLock(f *os.File, exclusive bool) (bool, error)   // false: somebody else holds it
//	unlock(f *os.File) error

// pidWidth is the length of the text in a lock file: always overwritten as a whole.
const pidWidth = 20

func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

// free says whether nobody holds a lock, of any kind, on f.
func free(f *os.File) (bool, error) {
	ok, err := tryLock(f, true)
	if !ok || err != nil {
		return ok, err
	}
	return true, unlock(f)
}

// unlocked says whether nobody holds a lock on the file at path.
func unlocked(path string) (bool, error) {
	f, err := openNoFollow(path)
	if err != nil {
		return false, err
	}
	nobody, err := tryLock(f, true)
	return nobody, errors.Join(err, f.Close()) // which lets go of it
}

// lockWithin takes a lock, and tries again every so often for as long as busy. Errors: ErrBusy, ctx.Err().
func lockWithin(ctx context.Context, f *os.File, exclusive bool, busy, every time.Duration) error {
	for deadline := time.Now().Add(busy); ; {
		if ok, err := tryLock(f, exclusive); ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%w: %s is locked by another process", journal.ErrBusy, f.Name())
		}
		timer := time.NewTimer(every)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// underLock calls fn while no process has the journal at path open, whether there is one or not.
func underLock(ctx context.Context, path string, busy time.Duration, fn func() error) (err error) {
	g, err := newGate(path, busy, migrator{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	if _, err := queue(ctx, g.lock, g.wait, time.Now().Add(g.busy), g.closing); err != nil {
		return err
	}
	sign(g.lock)
	return errors.Join(fn(), unlock(g.lock))
}

// queue waits for the exclusive lock on lock, visible on wait to whoever holds it.
//
// Somebody who comes while others wait does not try at once, and who has waited longer tries more often: so a holder
// that lets go does not take the lock again before the others could, and nobody starves. A waiter that was stopped
// holds nobody up. waited is how long that took, 0 where the lock was free.
func queue(ctx context.Context, lock, wait *os.File, deadline time.Time, closing <-chan struct{}) (waited time.Duration, err error) {
	alone, err := free(wait)
	if err != nil {
		return 0, err
	}
	if alone {
		if ok, err := tryLock(lock, true); ok || err != nil {
			return 0, err
		}
	}
	began := time.Now()
	err = waitInLine(ctx, lock, wait, began, deadline, closing)
	return time.Since(began), err
}

func waitInLine(ctx context.Context, lock, wait *os.File, began, deadline time.Time, closing <-chan struct{}) error {
	// Everyone who asks whether somebody waits holds the lock for that instant.
	if _, err := tryLock(wait, false); err != nil {
		return err
	}
	defer unlock(wait)
	for {
		waited := time.Since(began)
		timer := time.NewTimer(max(200*time.Microsecond, time.Millisecond-waited/20))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-closing:
			timer.Stop()
			return errClosed
		}
		if _, err := tryLock(wait, false); err != nil {
			return err
		}
		if ok, err := tryLock(lock, true); ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			pid := holder(lock)
			return &HeldError{Path: strings.TrimSuffix(lock.Name(), ".lock"), PID: pid, Stopped: pid != 0 && stopped(pid)}
		}
	}
}

// HeldError says that another process has the journal open and does not let go of it. It matches journal.ErrBusy.
type HeldError struct {
	Path string
	// PID is the process that holds it, 0 where that is not known; it can be this one, through another handle. Stopped says that
	// it was stopped, as by SIGSTOP, and cannot let go before it goes on; it is only known on Linux.
	PID     int
	Stopped bool
}

// Error says who holds it.
func (e *HeldError) Error() string {
	who := "another process"
	switch {
	case e.PID == os.Getpid():
		who = "this process, through another handle"
	case e.Stopped:
		who = fmt.Sprintf("process %d, which is stopped", e.PID)
	case e.PID != 0:
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%v: %s is held by %s", journal.ErrBusy, e.Path, who)
}

// Is makes a HeldError match journal.ErrBusy.
func (e *HeldError) Is(target error) bool { return target == journal.ErrBusy }

// sign writes who holds a lock. Nothing depends on it but messages.
func sign(lock *os.File) {
	_, _ = lock.WriteAt(fmt.Appendf(nil, "%-*d\n", pidWidth-1, os.Getpid()), 0)
}

// holder reads what sign wrote; 0 where it is no process's number.
func holder(lock *os.File) int {
	b := make([]byte, pidWidth)
	n, _ := lock.ReadAt(b, 0)
	pid, err := strconv.ParseUint(strings.TrimSpace(string(b[:n])), 10, 31)
	if err != nil {
		return 0
	}
	return int(pid)
}
