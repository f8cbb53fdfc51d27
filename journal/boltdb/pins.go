package boltdb

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// pins are the blobs that a handle is about to have named by an entry: gc leaves them alone. Each is an empty file
// PATH.pins/<id of the handle>/<digest>, beside a file lock, which is locked as long as the handle lives: pins of the dead do not count.
// They are not synced, since nobody is left who needs them after a crash.
//
// A pin is made under a shared lock on PATH.pins.lock, and only then is it looked whether the blob is there. gc holds that lock alone
// while it looks for pins and removes what has none. So either gc sees the pin, or whoever made it sees that the blob is gone.
type pins struct {
	path string // PATH.pins
	busy time.Duration
	room *room // holds an inode for the pin of a blob that may come

	mu   sync.Mutex // guards what follows
	gate *os.File   // PATH.pins.lock
	dir  string     // this handle's; "" before the first pin
	held *os.File   // its lock
	kept map[journal.Digest]*pin
}

// pin is a blob that is pinned, and by how many: those that stored it, and appends that are under way.
type pin struct{ puts, appends int }

const (
	pinLock = "lock"
	// pinPoll is how often the lock of pins is tried: it is held for milliseconds.
	pinPoll = 200 * time.Microsecond
)

func (p *pins) lockPath() string { return p.path + ".lock" }

// put pins a blob from now until an append that names it, or the end of the handle.
func (p *pins) put(ctx context.Context, d journal.Digest) error {
	return p.add(ctx, d, func(k *pin) { k.puts++ })
}

// add pins a blob. Errors: ErrBusy when gc does not let go, ErrNoSpace, ctx.Err().
func (p *pins) add(ctx context.Context, d journal.Digest, count func(*pin)) error {
	if noPins {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.kept[d]
	if k == nil {
		if err := p.make(ctx, d); err != nil {
			return fmt.Errorf("pin blob %s: %w", d.Short(), noSpace(err))
		}
		k = &pin{}
		if p.kept == nil {
			p.kept = map[journal.Digest]*pin{}
		}
		p.kept[d] = k
	}
	count(k)
	return nil
}

// prepare makes everything that pins take but their own files, so that there is space for it when one is made.
func (p *pins) prepare(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if noPins || p.dir != "" {
		return nil
	}
	return p.locked(ctx, func() error { return nil })
}

// make makes the file of a pin. Called with mu held.
func (p *pins) make(ctx context.Context, d journal.Digest) error {
	return p.locked(ctx, func() error {
		return p.room.spaced(func() error {
			f, err := os.OpenFile(filepath.Join(p.dir, d.String()), os.O_WRONLY|os.O_CREATE, 0o600)
			if err == nil {
				err = f.Close()
			}
			return err
		})
	})
}

// locked calls fn with the lock held, shared, and the handle's directory there. Called with mu held.
func (p *pins) locked(ctx context.Context, fn func() error) error {
	if p.gate == nil {
		f, err := openLock(p.lockPath())
		if err != nil {
			return err
		}
		p.gate = f
	}
	if err := lockWithin(ctx, p.gate, false, p.busy, pinPoll); err != nil {
		return err
	}
	err := p.register()
	if err == nil {
		err = fn()
	}
	return errors.Join(err, unlock(p.gate))
}

// register makes the handle's directory. Called with mu and the lock held, so that gc does not take it for one of the dead.
func (p *pins) register() (err error) {
	if p.dir != "" {
		return nil
	}
	if err := os.Mkdir(p.path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	var b [16]byte
	rand.Read(b[:])
	dir := filepath.Join(p.path, hex.EncodeToString(b[:]))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	held, err := os.OpenFile(filepath.Join(dir, pinLock), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if ok, err := tryLock(held, true); err != nil || !ok {
		return errors.Join(fmt.Errorf("lock %s: obtained: %t", dir, ok), err, held.Close())
	}
	p.dir, p.held = dir, held
	return nil
}

// drop ends what count takes off, and removes pins that nobody needs any more. A file that stays is no more than a blob that gc leaves.
func (p *pins) drop(ds []journal.Digest, count func(*pin)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range ds {
		k := p.kept[d]
		if k == nil {
			continue
		}
		if count(k); k.puts <= 0 && k.appends <= 0 {
			delete(p.kept, d)
			_ = os.Remove(filepath.Join(p.dir, d.String()))
		}
	}
}

// close lets go of all pins.
func (p *pins) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	if p.dir != "" {
		errs = append(errs, p.held.Close()) // Windows removes no file that is open
		errs = append(errs, os.RemoveAll(p.dir))
		p.dir, p.held, p.kept = "", nil, nil
	}
	if p.gate != nil {
		errs = append(errs, p.gate.Close())
		p.gate = nil
	}
	return errors.Join(errs...)
}

// pinNamed pins the blobs that entries name, for an append, and says with missing if one is not there. done is told how the append ended.
// Without blobs it costs nothing. Errors: those of add.
func (j *Journal) pinNamed(ctx context.Context, entries []journal.Entry) (done func(error), missing, err error) {
	var ds []journal.Digest
	for i := range entries {
		if e := &entries[i]; !e.Blob.IsZero() || len(e.Refs) > 0 {
			ds = append(ds, e.Names()...)
		}
	}
	if len(ds) == 0 || noPins {
		return func(error) {}, nil, nil
	}
	ds = unique(ds)
	for i, d := range ds {
		if err := j.pins.add(ctx, d, func(k *pin) { k.appends++ }); err != nil {
			j.pins.drop(ds[:i], func(k *pin) { k.appends-- })
			return nil, nil, err
		}
		if _, err := j.blobs.stat(d); err != nil && missing == nil {
			missing = fmt.Errorf("%w: an entry would name a blob that is not there: %w", journal.ErrDamaged, err)
		}
	}
	return func(err error) {
		switch {
		case err == nil: // an entry names them now
			j.pins.drop(ds, func(k *pin) { k.appends--; k.puts-- })
		case errors.Is(err, journal.ErrUnusable): // perhaps one does
		default:
			j.pins.drop(ds, func(k *pin) { k.appends-- })
		}
	}, missing, nil
}

func unique(ds []journal.Digest) []journal.Digest {
	seen := map[journal.Digest]bool{}
	all := ds[:0]
	for _, d := range ds {
		if !seen[d] {
			seen[d] = true
			all = append(all, d)
		}
	}
	return all
}

// pinned returns the pins of all handles that live, and how many handles died without taking theirs away, which it does for them if
// asked to. The caller holds the lock of pins alone.
func (p *pins) pinned(remove bool) (all map[journal.Digest]bool, dead int, err error) {
	all = map[journal.Digest]bool{}
	dirs, err := os.ReadDir(p.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, 0, err
	}
	for _, d := range dirs {
		dir := filepath.Join(p.path, d.Name())
		gone, err := p.deadIn(dir)
		if err != nil {
			return nil, dead, err
		}
		if gone {
			dead++
			if remove {
				err = os.RemoveAll(dir)
			}
			if err != nil {
				return nil, dead, err
			}
			continue
		}
		files, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // its handle was closed meanwhile
			return nil, dead, err
		}
		for _, f := range files {
			if d, err := journal.ParseDigest(f.Name()); err == nil {
				all[d] = true
			}
		}
	}
	return all, dead, nil
}

// deadIn says whether the handle of a directory is dead. One without a lock died while it was made, or is being closed.
func (p *pins) deadIn(dir string) (bool, error) {
	dead, err := unlocked(filepath.Join(dir, pinLock))
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	return dead, err
}
