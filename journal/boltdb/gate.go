package boltdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

const (
	defaultBusyTimeout = 2 * time.Second
	// idleAfter is how long the file stays open when nobody uses it: long enough for a driver's next append, short
	// enough that another process's first try usually succeeds.
	idleAfter = 5 * time.Millisecond
)

var errClosed = fmt.Errorf("%w: it is closed", journal.ErrUnusable)

// gate opens bbolt's file when somebody in this process wants to use it, and lets other processes in between: it closes
// the file as soon as one of them waits and the users that are inside have left, and when it is idle.
type gate struct {
	path       string
	lock, wait *os.File
	busy       time.Duration
	onWait     func(time.Duration)
	migrate    migrator
	closing    chan struct{} // closed by close

	mu       sync.Mutex // guards what follows
	file     *file      // nil while this process does not have the lock
	users    int
	opening  bool          // one of the users queues for the lock
	letting  bool          // nobody new is let in until the file was closed
	broken   bool          // bbolt panicked: its DB must not even be closed
	err      error         // what every later call answers
	changed  chan struct{} // closed, and made anew, when one of the above may let a waiting user go on
	idle     *time.Timer
	left     time.Time // when the last user left
	header   header    // as it was when the file was opened first
	handover int       // how often the file was closed because somebody waited
}

func newGate(path string, busy time.Duration, migrate migrator) (*gate, error) {
	if busy <= 0 {
		busy = defaultBusyTimeout
	}
	lock, err := openLock(path + ".lock")
	if err != nil {
		return nil, err
	}
	wait, err := openLock(path + ".wait")
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &gate{
		path: path, lock: lock, wait: wait, busy: busy, migrate: migrate,
		closing: make(chan struct{}), changed: make(chan struct{}),
	}, nil
}

// acquire returns the open file for one use, which ends with release. Errors: ErrBusy, ctx.Err(), and what makes the
// handle unusable.
func (g *gate) acquire(ctx context.Context) (*bbolt.DB, error) {
	deadline := time.Now().Add(g.busy)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g.mu.Lock()
		switch {
		case g.err != nil:
			defer g.mu.Unlock()
			return nil, g.err
		case g.file != nil && !g.letting:
			defer g.mu.Unlock()
			g.users++
			return g.file.db, nil
		case g.file == nil && !g.opening:
			g.opening = true
			g.mu.Unlock()
			return g.enter(ctx, deadline)
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// enter queues for the lock and opens the file.
func (g *gate) enter(ctx context.Context, deadline time.Time) (*bbolt.DB, error) {
	waited, err := queue(ctx, g.lock, g.wait, deadline, g.closing)
	if waited > 0 && g.onWait != nil {
		g.onWait(waited)
	}
	var f *file
	if err == nil {
		sign(g.lock)
		seek := 0
		if g.known().id.IsZero() { // what other processes of wrun have written since is believed
			seek = maxSought
		}
		if f, err = openFile(g.path, deadline, g.migrate, seek); err != nil {
			err = errors.Join(err, unlock(g.lock))
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opening = false
	defer g.broadcast()
	if err == nil {
		g.file = f
		if err = g.sameJournal(f.header); err == nil {
			err = g.err // closed meanwhile
		}
		if err == nil {
			g.users = 1
			return f.db, nil
		}
		g.leave()
	}
	if errors.Is(err, journal.ErrBusy) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil, err
	}
	g.poison(err)
	return nil, err
}

// sameJournal finds out whether another journal was put in the place of the one that this handle is for.
func (g *gate) sameJournal(h header) error {
	if g.header.id.IsZero() {
		g.header = h
	}
	if h.id != g.header.id || h.incarnation != g.header.incarnation {
		return fmt.Errorf("%w: another one was put in its place", journal.ErrForeign)
	}
	return nil
}

// release ends a use.
func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users--
	if !g.letting {
		g.letting = g.wanted()
	}
	switch {
	case g.users > 0:
		if g.letting {
			g.broadcast() // for whoever waits until it is alone
		}
	case g.letting:
		g.handover++
		g.leave()
	default:
		g.left = time.Now()
		if g.idle == nil {
			g.idle = time.AfterFunc(idleAfter, g.closeIdle)
		} else {
			g.idle.Reset(idleAfter)
		}
	}
}

// alone calls fn while nobody else has the file open, in this process or another one, and closes the file afterwards: what is at its
// path is opened anew by whoever comes next. Nobody may call it twice at a time.
func (g *gate) alone(ctx context.Context, fn func(*file) error) error {
	if _, err := g.acquire(ctx); err != nil {
		return err
	}
	defer g.release()
	g.mu.Lock()
	g.letting = true
	for g.users > 1 {
		changed := g.changed
		g.mu.Unlock()
		<-changed
		g.mu.Lock()
	}
	f := g.file
	g.mu.Unlock()
	return fn(f)
}

// letIn closes the gate for new users if another process waits.
func (g *gate) letIn() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.letting = g.letting || g.wanted()
}

// wanted says whether another process waits, or nothing can be done with the file any more. Called with mu held.
func (g *gate) wanted() bool {
	if g.err != nil {
		return true
	}
	nobody, err := free(g.wait)
	return err == nil && !nobody
}

func (g *gate) closeIdle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.file == nil || g.users > 0 {
		return
	}
	if rest := idleAfter - time.Since(g.left); rest > 0 {
		g.idle.Reset(rest)
		return
	}
	g.leave()
}

// leave closes the file and lets go of the lock. Called with mu held and without users.
func (g *gate) leave() {
	if g.file == nil {
		return
	}
	err := g.file.close(g.broken)
	if uerr := unlock(g.lock); err == nil {
		err = uerr
	}
	g.file, g.letting = nil, false
	if err != nil {
		g.poison(err)
	}
	g.broadcast()
}

func (g *gate) broadcast() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// fail makes the handle unusable, because err leaves open what is on the disk.
func (g *gate) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.poison(err)
	g.broadcast()
}

// abandon is fail after a panic of bbolt.
func (g *gate) abandon(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.broken = true
	g.poison(err)
	g.broadcast()
}

// poison keeps the first error. Called with mu held.
func (g *gate) poison(err error) {
	if g.err == nil {
		g.err = fmt.Errorf("%w: %w", journal.ErrUnusable, err)
	}
	g.letting = g.file != nil
}

// usable returns the error that every call answers, or nil.
func (g *gate) usable() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// id returns the journal's id.
func (g *gate) id() (journal.Digest, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.header.id, g.err
}

// known returns what the journal says of itself.
func (g *gate) known() header {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.header
}

// close ends the use of the gate and waits for the users inside.
func (g *gate) close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if errors.Is(g.err, errClosed) {
		return nil
	}
	g.poison(errClosed)
	if !errors.Is(g.err, errClosed) {
		g.err = fmt.Errorf("%w; %w", g.err, errClosed)
	}
	close(g.closing)
	for g.users > 0 || g.opening {
		changed := g.changed
		g.mu.Unlock()
		<-changed
		g.mu.Lock()
	}
	if g.idle != nil {
		g.idle.Stop()
	}
	g.leave()
	return errors.Join(g.lock.Close(), g.wait.Close())
}

// open returns the file. Called by a user of it.
func (g *gate) open() *file {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.file
}
