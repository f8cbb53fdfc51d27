package boltdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// RepairOptions says how a journal is repaired. The zero value works.
type RepairOptions struct {
	// BusyTimeout is how long to wait for another process that has the journal open, before ErrBusy. Default 2 s.
	BusyTimeout time.Duration
	// Now tells the time that is written into the copy. Default time.Now.
	Now func() time.Time
	// By is who repairs it, for the logs.
	By string
	// Progress is told now and then how many runs and entries were kept so far.
	Progress func(Repaired)
}

// Repaired says what a repaired copy has, and what it has not.
type Repaired struct {
	// Runs and Entries were kept, Removed is what was kept of runs that had been removed; Values is the state of tools.
	Runs, Entries, Removed, Values uint64
	// Found are entries that no page of the tree led to any more.
	Found uint64
	// Restored are the runs that may be older than the world, and do nothing that must not be repeated before a person says so.
	Restored uint64
	// Linked and Copied are the blobs that were taken: those that were linked share their bytes with the damaged journal.
	Linked, Copied uint64
	// Dropped says of which runs something is missing, in the order of their ids, and Blobs which blobs are.
	Dropped []Dropped
	Blobs   []MissingBlob
	// Unclear are keys of tool state whose stored value was damaged or missing: it was made from what the logs say, and may be older.
	// LostValues counts stored values that were damaged.
	Unclear    []Key
	LostValues uint64
	// Unread says that a part of the file could not be read to which something led: runs, removed runs and keys that were only there are
	// missing, and nobody can say which.
	Unread bool
}

// Dropped is a run of which not everything was kept.
type Dropped struct {
	// Run has the entries before Kept. Nothing is left of it where that is 0: its id stays taken.
	Run  string
	Kept uint64
	// Of is how many it had, as far as that is known.
	Of uint64
	// Err is what is wrong with the entry at Kept.
	Err error
}

// MissingBlob is a blob that an entry names, and that is missing or has changed.
type MissingBlob struct {
	Run    string
	Seq    uint64
	Digest journal.Digest
	Err    error
}

// Key names a key of tool state.
type Key struct{ Space, Key string }

// Repair makes a new journal at to from what can be read of the one at path, which it leaves as it is. Of each run it keeps the longest
// beginning whose chain and rules hold. What the pages of the file do not lead to any more is looked for on all of them: an entry that
// fits the chain is the right one wherever it lies. Folded logs and keys are made anew; values of tool state are kept where their
// checksum is right. Each unfinished run gets an entry restored, since the world may be further than what is left of it. Of a run of
// which nothing is left the id stays taken. The copy has the journal's id and a new incarnation, blobs of its own, by hard link where the
// file system can do that, and nothing else that lies beside a journal.
//
// It holds the damaged journal until it is done. A crash leaves no copy, or a whole one. It takes memory for each blob, and for each run
// that is damaged; for each run, and each entry that was written last, when a header page is.
//
// Errors: ErrNoJournal, ErrForeign, ErrNewer, ErrBusy, ErrNoSpace, ErrDamaged when not even the journal's id can be found, os.ErrExist when
// there is something at to, ctx.Err().
func Repair(ctx context.Context, path, to string, opts RepairOptions) (Repaired, error) {
	var done Repaired
	err := repair(ctx, path, to, opts, &done)
	if err != nil {
		err = fmt.Errorf("repair %s into %s: %w", path, to, noSpace(err))
	}
	return done, err
}

func repair(ctx context.Context, path, to string, opts RepairOptions, done *Repaired) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if to, err = filepath.Abs(to); err != nil {
		return err
	}
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return errors.Join(err, os.ErrExist)
	}
	src, err := openSource(path, opts.BusyTimeout)
	if err != nil {
		return err
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	err = src.look(ctx, func(f *os.File, size int64) error {
		r := &repairer{
			ctx: ctx, opts: opts, Repaired: done, from: blobs{dir: path + ".blobs"}, to: blobs{dir: to + ".blobs"},
			named: map[journal.Digest]place{}, importing: map[string]bool{}, derived: map[string]bool{},
		}
		if err := r.open(f, size); err != nil {
			return err
		}
		return publish(ctx, to, opts.BusyTimeout, r.write)
	})
	return errors.Join(err, src.close())
}

// repairer is a repair under way.
type repairer struct {
	*Repaired
	ctx  context.Context
	opts RepairOptions

	p        *pages
	h        header
	tree     bool // there is a meta page to go by
	doubtful bool // a page of the tree cannot be used, so that what it led to may be anywhere
	older    bool // the newer meta page is damaged: logs may go on behind what the tree has

	db         *bbolt.DB
	tx         *bbolt.Tx
	put        int // bytes in tx
	from, to   blobs
	named      map[journal.Digest]place
	importing  map[string]bool // runs whose import was cut off: they are driven elsewhere, and are not kept
	derived    map[string]bool // keys of tool state whose value is a log's
	incomplete []*unfolded     // runs that are not complete
}

// place is where a blob is named first.
type place struct {
	run string
	seq uint64
}

// open finds out what there is to go by. Errors: ErrForeign, ErrNewer, ErrDamaged when nothing can be repaired.
func (r *repairer) open(f *os.File, size int64) error {
	m, wrong, err := bestMeta(f, size)
	switch {
	case errors.Is(err, journal.ErrDamaged):
		if r.p = guessPages(f, size); r.p == nil {
			return err
		}
		r.unread()
		r.older = true
	case err != nil:
		return err
	default:
		r.p, r.tree = newPages(f, size, m), true
		r.older = wrong != nil
		r.doubtful = r.older
		if r.p.count < m.pgid {
			r.unread()
		}
		r.p.account(m.freelist, func(error) { r.doubtful = true })
	}
	if r.tree {
		if err = r.h.readPages(r.p); err == nil || errors.Is(err, journal.ErrNewer) {
			return err
		}
		r.unread()
		if errors.Is(err, journal.ErrForeign) && !r.older {
			return err
		}
	}
	r.h, err = r.p.salvageHeader()
	return err
}

// unread notes that something cannot be read that the file leads to.
func (r *repairer) unread() { r.doubtful, r.Unread = true, true }

// write makes the copy, without giving it its name.
func (r *repairer) write(dir, base string) (_ string, err error) {
	f, err := os.CreateTemp(dir, "."+base+".*.tmp")
	if err != nil {
		return "", err
	}
	tmp := f.Name()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp))
		}
	}()
	if err := f.Close(); err != nil {
		return "", err
	}
	if r.db, err = openBolt(tmp, time.Now().Add(time.Second), nil); err != nil {
		return "", err
	}
	r.db.NoSync = true // it is synced as a whole, before it has a name
	err = guard(r.fill)
	if r.tx != nil {
		err = errors.Join(err, r.tx.Rollback())
	}
	if err == nil && !noSync {
		err = r.db.Sync()
	}
	if err = errors.Join(err, r.db.Close()); err != nil {
		return "", err
	}
	return tmp, nil
}

func (r *repairer) fill() error {
	if err := r.begin(); err != nil {
		return err
	}
	h := newHeader(r.opts.Now())
	h.id, h.created, h.repaired = r.h.id, r.h.created, true
	if err := h.write(r.tx); err != nil {
		return err
	}
	for _, part := range []func() error{r.values, r.gone, r.logs, r.stray, r.close, r.blobs, r.commit, r.count} {
		if err := errors.Join(r.ctx.Err(), part()); err != nil {
			return err
		}
	}
	return nil
}

func (r *repairer) begin() (err error) {
	r.tx, err = r.db.Begin(true)
	r.put = 0
	return err
}

func (r *repairer) commit() error {
	tx := r.tx
	r.tx = nil
	return tx.Commit()
}

// room begins another transaction when this one is large.
func (r *repairer) room(n int) error {
	if r.put += n; r.put < 8<<20 {
		return nil
	}
	if err := errors.Join(r.ctx.Err(), r.commit()); err != nil {
		return err
	}
	if r.opts.Progress != nil {
		r.opts.Progress(*r.Repaired)
	}
	return r.begin()
}

// each calls fn with what the tree has of a bucket. What cannot be read makes the tree doubtful.
func (r *repairer) each(bucket []byte, fn func(e element) error) error {
	if !r.tree {
		return nil
	}
	t, err := r.p.bucket(bucket)
	if err != nil {
		if !errors.Is(err, journal.ErrNotFound) || r.h.schema >= schema {
			r.unread()
		}
		return nil
	}
	for e, err := range t.from(nil) {
		if err != nil {
			r.unread()
			continue
		}
		if err := fn(e); err != nil {
			return err
		}
	}
	return nil
}

// values keeps the state of tools as it was stored. What the logs say is added with them.
func (r *repairer) values() error {
	return r.each(kvBucket, func(e element) error {
		_, _, ok := splitKey(e.key)
		if _, err := decodeValue(e.key, e.value); err != nil || !ok {
			r.LostValues++
			r.doubtful = true
			return nil
		}
		return errors.Join(r.tx.Bucket(kvBucket).Put(e.key, e.value), r.room(len(e.value)))
	})
}

// gone keeps what is known of removed runs.
func (r *repairer) gone() error {
	return r.each(goneBucket, func(e element) error {
		g, err := decodeGone(e.key, e.value)
		if err != nil {
			r.unread()
			return nil
		}
		g.Rest = false // nothing of it is copied
		return errors.Join(putGone(r.tx, g), r.room(len(e.value)))
	})
}

// count counts what the copy has.
func (r *repairer) count() error {
	return r.db.View(func(tx *bbolt.Tx) error {
		for bucket, n := range map[string]*uint64{string(statesBucket): &r.Runs, string(goneBucket): &r.Removed, string(kvBucket): &r.Values} {
			*n = uint64(tx.Bucket([]byte(bucket)).Stats().KeyN)
		}
		return nil
	})
}

// blobs takes the blobs that the kept entries name.
func (r *repairer) blobs() error {
	for d, at := range r.named {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if !r.from.right(d) {
			err := damaged("blob %s has changed", d.Short())
			if _, serr := r.from.stat(d); serr != nil {
				err = serr
			}
			r.Blobs = append(r.Blobs, MissingBlob{at.run, at.seq, d, err})
			continue
		}
		linked, err := r.to.take(r.ctx, &r.from, d)
		if err != nil {
			return err
		}
		if linked {
			r.Linked++
		} else {
			r.Copied++
		}
	}
	return r.to.syncAll()
}
