package boltdb

import (
	"context"
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

// queue waits for the exclusive lock on lock, visible on wait to whoever holds it.
//
// Somebody who comes while others wait does not try at once, and who has waited longer tries more often: so a holder
// that lets go does not take the lock again before the others could, and nobody starves. A waiter that was stopped
// holds nobody up.
func queue(ctx context.Context, lock, wait *os.File, deadline time.Time, closing <-chan struct{}) error {
	alone, err := free(wait)
	if err != nil {
		return err
	}
	if alone {
		if ok, err := tryLock(lock, true); ok || err != nil {
			return err
		}
	}
	// Everyone who asks whether somebody waits holds the lock for that instant.
	if _, err := tryLock(wait, false); err != nil {
		return err
	}
	defer unlock(wait)
	began := time.Now()
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
			return fmt.Errorf("%w: %s is held by %s", journal.ErrBusy, strings.TrimSuffix(lock.Name(), ".lock"), holder(lock))
		}
	}
}

// sign writes who holds a lock. Nothing depends on it but messages.
func sign(lock *os.File) {
	_, _ = lock.WriteAt(fmt.Appendf(nil, "%-*d\n", pidWidth-1, os.Getpid()), 0)
}

// holder reads what sign wrote.
func holder(lock *os.File) string {
	b := make([]byte, pidWidth)
	n, _ := lock.ReadAt(b, 0)
	pid, err := strconv.ParseUint(strings.TrimSpace(string(b[:n])), 10, 32)
	switch {
	case err != nil:
		return "another process"
	case int(pid) == os.Getpid():
		return "this process, through another handle"
	}
	return fmt.Sprintf("process %d", pid)
}
