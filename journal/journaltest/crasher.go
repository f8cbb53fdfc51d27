package journaltest

import (
	"context"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/wrun-dev/wrun/journal"
)

// Crasher is a handle that dies at a chosen Append, as the process that holds it would: from then on every call but
// Close answers journal.ErrUnusable. A test runs once on a Crasher that never dies, asks it for Appends, and then once
// for every n up to that, before and after.
type Crasher struct {
	Store
	before, after int
	hook          func(n int, committed bool)

	mu      sync.Mutex // guards what follows
	appends int
	crashed bool
}

// CrashBefore returns a handle on j that dies instead of making the n-th Append, counted from 1; with 0 it never does.
// A Mem below is killed in the same moment, so that its owner is dead.
func CrashBefore(j Store, n int) *Crasher { return &Crasher{Store: j, before: n} }

// CrashAfter returns a handle on j that makes the n-th Append and dies before it tells the caller.
func CrashAfter(j Store, n int) *Crasher { return &Crasher{Store: j, after: n} }

// HookAppends returns a handle on j that never dies by itself, and calls hook around the n-th Append, counted from 1:
// with false before it is made, with true after it was made without error. A process can kill itself there.
func HookAppends(j Store, hook func(n int, committed bool)) *Crasher {
	return &Crasher{Store: j, hook: hook}
}

// Appends returns how many times Append was called, the one that it died at included.
func (c *Crasher) Appends() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.appends
}

// Crashed says whether the handle is dead.
func (c *Crasher) Crashed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.crashed
}

// dead returns the error of a dead handle.
func (c *Crasher) dead() error {
	if c.Crashed() {
		return fmt.Errorf("%w: the test has crashed it", journal.ErrUnusable)
	}
	return nil
}

func (c *Crasher) crash() error {
	c.mu.Lock()
	c.crashed = true
	c.mu.Unlock()
	if k, ok := c.Store.(interface{ Kill() }); ok {
		k.Kill()
	}
	return c.dead()
}

// count returns the number of this Append.
func (c *Crasher) count() (int, error) {
	if err := c.dead(); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.appends++
	return c.appends, nil
}

// Append adds entries to a log, or dies.
func (c *Crasher) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) error {
	n, err := c.count()
	if err != nil {
		return err
	}
	if n == c.before {
		return c.crash()
	}
	if c.hook != nil {
		c.hook(n, false)
	}
	if err = c.Store.Append(ctx, run, at, entries...); err == nil && c.hook != nil {
		c.hook(n, true)
	}
	if n == c.after {
		return c.crash()
	}
	return err
}

// Read yields a log's entries.
func (c *Crasher) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return whileAlive(c, c.Store.Read(ctx, run, from))
}

// List yields folded logs.
func (c *Crasher) List(ctx context.Context, q journal.Query) iter.Seq2[journal.State, error] {
	return whileAlive(c, c.Store.List(ctx, q))
}

// Scan yields keys.
func (c *Crasher) Scan(ctx context.Context, space, prefix, after string) iter.Seq2[journal.Item, error] {
	return whileAlive(c, c.Store.Scan(ctx, space, prefix, after))
}

// whileAlive ends a sequence with an error when the handle dies.
func whileAlive[T any](c *Crasher, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		if err := c.dead(); err != nil {
			yield(none, err)
			return
		}
		for v, err := range seq {
			if dead := c.dead(); dead != nil {
				yield(none, dead)
				return
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

// Get returns a key's value.
func (c *Crasher) Get(ctx context.Context, space, key string) ([]byte, uint64, error) {
	if err := c.dead(); err != nil {
		return nil, 0, err
	}
	return c.Store.Get(ctx, space, key)
}

// Put stores a blob.
func (c *Crasher) Put(ctx context.Context, r io.Reader) (journal.Digest, int64, error) {
	if err := c.dead(); err != nil {
		return journal.Digest{}, 0, err
	}
	return c.Store.Put(ctx, r)
}

// Open returns a blob's bytes.
func (c *Crasher) Open(ctx context.Context, d journal.Digest) (io.ReadCloser, error) {
	if err := c.dead(); err != nil {
		return nil, err
	}
	return c.Store.Open(ctx, d)
}

// Stat returns a blob's length.
func (c *Crasher) Stat(ctx context.Context, d journal.Digest) (int64, error) {
	if err := c.dead(); err != nil {
		return 0, err
	}
	return c.Store.Stat(ctx, d)
}

// Owner returns the handle's id.
func (c *Crasher) Owner() (string, error) {
	if err := c.dead(); err != nil {
		return "", err
	}
	return c.Store.Owner()
}

// Liveness tells what is known of an owner.
func (c *Crasher) Liveness(owner string) (journal.Liveness, error) {
	if err := c.dead(); err != nil {
		return journal.Unknown, err
	}
	return c.Store.Liveness(owner)
}

// ID returns the journal's id.
func (c *Crasher) ID() (journal.Digest, error) {
	if err := c.dead(); err != nil {
		return journal.Digest{}, err
	}
	return c.Store.ID()
}

// Size tells how large the journal is.
func (c *Crasher) Size(ctx context.Context) (int64, error) {
	if err := c.dead(); err != nil {
		return 0, err
	}
	return c.Store.Size(ctx)
}

// Reserve holds space for an outcome.
func (c *Crasher) Reserve(ctx context.Context, n int64) (use, drop func(), err error) {
	if err := c.dead(); err != nil {
		return nil, nil, err
	}
	return c.Store.Reserve(ctx, n)
}
