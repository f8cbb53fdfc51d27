package boltdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// Options says how a journal is used. The zero value works.
type Options struct {
	// BusyTimeout is how long to wait for another process that has the journal open, before ErrBusy. Default 2 s.
	BusyTimeout time.Duration
	// OnWait is told how long the handle waited for another process to let go of the file, each time that it did, also where it
	// gave up. It must return at once.
	OnWait func(time.Duration)
	// Now tells the time that is written into a new journal and beside an owner's id. Default time.Now.
	Now func() time.Time
	// NoMigrate refuses a file of an older schema with ErrOlder. Otherwise a copy of it is kept beside it, named PATH.schema and
	// the number, and it is brought to the present schema in one transaction, before anything else is done with it.
	NoMigrate bool
	// OnMigrate is told before that is done.
	OnMigrate func(Migration)
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// Journal is a handle on a journal in a file. It implements journal.Journal, journal.KV, journal.Blobs, journal.Owners,
// journal.Identity, journal.Room and journal.Sizer. All methods may be called concurrently, and other processes may use the file at the same time.
//
// After an error that leaves open what is on the disk, every call answers journal.ErrUnusable; opening the journal
// again shows the truth.
type Journal struct {
	path   string
	now    func() time.Time
	gate   *gate
	writer writer
	blobs  blobs
	owner  owner
	room   room
	limit  int64 // how long a file may be
	pins   pins

	commits atomic.Uint64
	hooks   hooks
}

// hooks let tests see and disturb what happens inside.
type hooks struct {
	beforeCommit func(batch int)       // the leader of a batch is about to begin its transaction
	commit       func(*bbolt.Tx) error // in place of Commit
	point        func(string)          // a copy, or an import, has come to a point at which it might be cut off
}

// at says that a point was come to.
func (h *hooks) at(point string) {
	if h.point != nil {
		h.point(point)
	}
}

var (
	_ journal.Journal  = (*Journal)(nil)
	_ journal.KV       = (*Journal)(nil)
	_ journal.Blobs    = (*Journal)(nil)
	_ journal.Owners   = (*Journal)(nil)
	_ journal.Identity = (*Journal)(nil)
	_ journal.Remover  = (*Journal)(nil)
	_ journal.Room     = (*Journal)(nil)
	_ journal.Sizer    = (*Journal)(nil)
)

// Open opens the journal at path, and never makes one.
//
// Errors: ErrNoJournal, ErrForeign, ErrDamaged, ErrNewer, ErrOlder, ErrBusy, ErrNoSpace where there is none for the copy that a
// migration keeps, ctx.Err().
func Open(ctx context.Context, path string, opts Options) (*Journal, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, err)
	}
	if _, err := lstat(abs); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal{path: abs, now: opts.now, limit: fileLimit()}
	if j.gate, err = newGate(abs, opts.BusyTimeout, migrator{abs, opts}); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j.gate.onWait = opts.OnWait
	j.blobs.dir, j.blobs.room = abs+".blobs", &j.room
	j.owner.dir = abs + ".owners"
	j.pins.path, j.pins.busy, j.pins.room = abs+".pins", j.gate.busy, &j.room
	j.blobs.pin = j.pins.put
	if err := j.view(ctx, func(*bbolt.Tx) error { return nil }); err != nil {
		return nil, errors.Join(fmt.Errorf("open journal: %w", err), j.Close())
	}
	return j, nil
}

// Create opens the journal at path and makes it first when nothing is there. A crash in the middle leaves no journal or
// a whole one, and of several processes that create it at once each gets the same one. Missing directories are made.
//
// Errors: those of Open but ErrNoJournal, ErrNoSpace.
func Create(ctx context.Context, path string, opts Options) (*Journal, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("create journal %s: %w", path, err)
	}
	if _, err := os.Lstat(abs); errors.Is(err, os.ErrNotExist) {
		if err := create(ctx, abs, opts); err != nil {
			return nil, fmt.Errorf("create journal %s: %w", path, noSpace(err))
		}
	}
	return Open(ctx, path, opts)
}

// Belongs says whether file is the file of a journal at path, or one of the locks beside it: what nothing else may be put in the place
// of. Neither need be there.
func Belongs(file, path string) bool {
	one, err1 := os.Stat(filepath.Dir(file))
	other, err2 := os.Stat(filepath.Dir(path))
	if err1 != nil || err2 != nil || !os.SameFile(one, other) {
		return false
	}
	rest, ok := strings.CutPrefix(filepath.Base(file), filepath.Base(path))
	return ok && slices.Contains([]string{"", ".lock", ".wait", ".copy", ".pins.lock"}, rest)
}

// Path returns the journal's absolute path.
func (j *Journal) Path() string { return j.path }

// Commits returns how many transactions this handle has committed.
func (j *Journal) Commits() uint64 { return j.commits.Load() }

// ID returns the journal's random id. It costs nothing: the id is read whenever the file is opened.
func (j *Journal) ID() (journal.Digest, error) { return j.gate.id() }

// Close ends the use of the handle. It waits for what is under way, and its owner is dead from then on. Closing twice
// is fine.
func (j *Journal) Close() error {
	err := j.gate.close()
	return errors.Join(err, j.room.close(), j.owner.close(), j.pins.close()) // an owner's file is there as long as its room may be
}

// view runs fn in a read transaction. Nothing that the transaction yields may be used after fn has returned.
func (j *Journal) view(ctx context.Context, fn func(*bbolt.Tx) error) error {
	db, err := j.gate.acquire(ctx)
	if err != nil {
		return err
	}
	defer j.gate.release()
	err = guard(func() error { return db.View(fn) })
	if panicked(err) {
		j.gate.abandon(err)
	}
	return err
}
