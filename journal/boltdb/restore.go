package boltdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/bundle"
)

// ErrOccupied: there is something at the place of the journal, and nobody said that it may be replaced. It was not touched.
var ErrOccupied = errors.New("there is a journal already")

// replacedSuffix follows the name of a journal that was replaced, and comes before when that was.
const replacedSuffix = ".replaced-"

// ErrOtherBundle: it is a bundle of the other sort: of one run where a backup is wanted, or a backup where one run is.
var ErrOtherBundle = errors.New("a bundle of another sort")

// RestoreOptions says how a backup is put back. The zero value works.
type RestoreOptions struct {
	// Force puts it in the place of a journal that is there, which is kept beside it under another name.
	Force bool
	// By and Note are written into every run that is not finished.
	By, Note string
	// BusyTimeout and Now are those of Options.
	BusyTimeout time.Duration
	Now         func() time.Time
	// Progress is told after every part that was put back, and must return at once.
	Progress func(Progress)

	hooks hooks
}

// Restored says what Restore came to.
type Restored struct {
	// Made is when the backup was begun.
	Made time.Time
	// Counts are what the backup has.
	Counts bundle.Counts
	// Unfinished counts the runs to which restored was appended, but for those that were imported and are driven elsewhere: what they do
	// next may have happened already.
	Unfinished uint64
	// Kept is the path under which a journal that was there before is kept, "" when there was none.
	Kept string
}

// Restore makes a journal at path of a backup that r yields. It is built under another name, and all of it verified, before anything
// takes its place; a crash leaves what was there before or the whole new journal. Its id is the old one's, because idempotency keys are
// made of it. Every run that is not finished gets an entry restored. Handles on a journal that was there stop with ErrForeign.
//
// Blobs are added to those that are beside path already. Errors: ErrOccupied, ErrOtherBundle, those of bundle.Reader, bundle.ErrDamaged
// also for a log that breaks its chain or the rules or lacks a blob, ErrForeign where what is there is no file, ErrBusy, ErrNoSpace,
// ctx.Err().
func Restore(ctx context.Context, path string, r io.Reader, opts RestoreOptions) (done Restored, err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return done, fmt.Errorf("restore %s: %w", path, err)
	}
	if done, err = restore(ctx, abs, r, opts); err != nil {
		err = fmt.Errorf("restore %s: %w", path, noSpace(err))
	}
	return done, err
}

func restore(ctx context.Context, path string, r io.Reader, opts RestoreOptions) (done Restored, err error) {
	in, err := bundle.NewReader(r)
	if err != nil {
		return done, err
	}
	from := in.Header()
	if err := restorable(from); err != nil {
		return done, err
	}
	if err := vacant(path, opts.Force); err != nil {
		return done, err
	}
	if err := makeDirs(filepath.Dir(path)); err != nil {
		return done, err
	}
	if opts.BusyTimeout <= 0 {
		opts.BusyTimeout = defaultBusyTimeout
	}
	now := Options{Now: opts.Now}.now()
	release, err := maintain(ctx, path, "restore", opts.BusyTimeout)
	if err != nil {
		return done, err
	}
	defer release()
	removeRebuilt(path)
	if err := dropTwin(path); err != nil {
		return done, err
	}
	h := header{schema: schema, id: from.Journal, created: time.Unix(0, from.Created), repaired: from.Repaired}
	rand.Read(h.incarnation[:])
	b, err := newRebuild(path, h)
	if err != nil {
		return done, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.drop())
		}
	}()
	shelf := &blobs{dir: path + ".blobs"}
	if err := b.fill(ctx, in, shelf, opts.Progress); err != nil {
		return done, err
	}
	done.Made, done.Counts = time.Unix(0, from.Made), in.Counts()
	if done.Unfinished, err = b.restored(now, opts.By, opts.Note); err != nil {
		return done, err
	}
	opts.hooks.at("filled")
	for fault := range journal.Verify(ctx, unplaced{b.db, shelf}) {
		return done, ofBundle(fault)
	}
	if err := b.finish(); err != nil {
		return done, err
	}
	opts.hooks.at("built")
	err = underLock(ctx, path, opts.BusyTimeout, func() (err error) {
		done.Kept, err = b.place(path, opts, now)
		return err
	})
	return done, err
}

// restorable says why a bundle is none that can be put back. Errors: ErrOtherBundle, bundle.ErrNewer.
func restorable(h bundle.Header) error {
	switch {
	case h.Of != bundle.Backup:
		return fmt.Errorf("%w: it is of one run, %s", ErrOtherBundle, h.Run)
	case h.Schema > schema:
		return fmt.Errorf("%w: it is of a journal of schema %d, this version knows up to %d", bundle.ErrNewer, h.Schema, schema)
	}
	return nil
}

// vacant says whether a journal may be put at path.
func vacant(path string, force bool) error {
	_, err := lstat(path)
	switch {
	case errors.Is(err, journal.ErrNoJournal):
		return nil
	case err == nil && !force:
		return ErrOccupied
	}
	return err
}

// fill takes everything that a bundle has.
func (b *rebuild) fill(ctx context.Context, in *bundle.Reader, shelf *blobs, progress func(Progress)) error {
	var told Progress
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := in.Next()
		if err == io.EOF {
			return b.commit()
		}
		if err == nil {
			switch f.Type {
			case bundle.TypeRecord:
				told.Entries++
				err = ofBundle(b.log(f.Log.Run, f.Log.From, [][]byte{f.Record}))
			case bundle.TypeKey:
				told.Keys++
				err = b.key(kvKey(f.Key.Space, f.Key.Key), value{version: f.Key.Version, lives: !f.Key.Deleted, bytes: f.Key.Value})
			case bundle.TypeRemoved:
				err = b.gone(f.Removed.Run, f.Removed.Kept)
			case bundle.TypeBlob:
				told.Blobs++
				_, _, err = shelf.put(ctx, in.Content())
			}
		}
		if err != nil {
			return err
		}
		if progress != nil {
			told.Bytes = in.Offset()
			progress(told)
		}
	}
}

// ofBundle says of an error of a log that it is the bundle's.
func ofBundle(err error) error {
	switch {
	case errors.Is(err, journal.ErrDamaged):
		return fmt.Errorf("%w: %w", bundle.ErrDamaged, err)
	case errors.Is(err, journal.ErrNewer):
		return fmt.Errorf("%w: %w", bundle.ErrNewer, err)
	}
	return err
}

// restored appends to every run that is not finished that it comes from a backup, and counts them.
func (b *rebuild) restored(now time.Time, by, note string) (n uint64, err error) {
	after := ""
	for {
		var batch []*journal.State
		q := journal.Query{After: after, Unfinished: true}
		err := b.db.View(func(tx *bbolt.Tx) (err error) {
			batch, after, err = listBatch(tx, q)
			return err
		})
		if err != nil {
			return n, err
		}
		err = b.db.Update(func(tx *bbolt.Tx) error {
			for _, s := range batch {
				e := journal.Entry{Kind: journal.Restored, Time: max(now.UnixNano(), s.Time), By: by, Note: note}
				x, err := journal.Extend(s, s.Len, []journal.Entry{e}, noPhase)
				if err != nil {
					return fmt.Errorf("run %s: %w", s.Run, err)
				}
				if err := put(tx, s.Run, x, nil); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		for _, s := range batch {
			if !s.Imported {
				n++
			}
		}
		if after == "" {
			return n, nil
		}
	}
}

// unplaced is a journal that has no place yet, for journal.Verify. Nothing can be appended to it.
type unplaced struct {
	db *bbolt.DB
	*blobs
}

func (u unplaced) view(ctx context.Context, fn func(*bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return u.db.View(fn)
}

func (u unplaced) Append(context.Context, string, uint64, ...journal.Entry) error {
	return journal.ErrUnusable
}

func (u unplaced) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return readAll(ctx, u.view, run, from)
}

func (u unplaced) List(ctx context.Context, q journal.Query) iter.Seq2[journal.State, error] {
	return listAll(ctx, u.view, q)
}

func (u unplaced) Close() error { return nil }

func (u unplaced) Put(context.Context, io.Reader) (journal.Digest, int64, error) {
	return journal.Digest{}, 0, journal.ErrUnusable
}

func (u unplaced) Open(_ context.Context, d journal.Digest) (io.ReadCloser, error) {
	return u.blobs.open(d)
}

func (u unplaced) Stat(_ context.Context, d journal.Digest) (int64, error) { return u.blobs.stat(d) }

// place gives the file the journal's name, and what is there another one first. The caller has the journal's lock.
func (b *rebuild) place(path string, opts RestoreOptions, now time.Time) (kept string, err error) {
	if err := vacant(path, opts.Force); err != nil { // somebody may have made one meanwhile
		return "", err
	}
	if _, err := lstat(path); err == nil {
		kept = path + replacedSuffix + now.UTC().Format("20060102T150405.000000000Z")
		if err := keepUnder(path, kept); err != nil {
			return "", fmt.Errorf("keep what is there as %s: %w", kept, err)
		}
	}
	opts.hooks.at("kept")
	if err := os.Rename(b.path, path); err != nil {
		return "", err
	}
	opts.hooks.at("renamed")
	return kept, syncDir(filepath.Dir(path))
}

// keepUnder gives a file another name, beside the one that it has: so there is no moment at which there is no journal. Where the file
// system has no links it is copied.
func keepUnder(path, kept string) error {
	if err := os.Link(path, kept); err == nil || errors.Is(err, os.ErrExist) {
		return errors.Join(err, syncDir(filepath.Dir(path)))
	}
	f, err := openNoFollow(path)
	if err != nil {
		return err
	}
	return errors.Join(keepCopy(f, kept), f.Close())
}

// dropTwin removes the second name that a restore left that died before it replaced the journal.
func dropTwin(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // there is none
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), filepath.Base(path)+replacedSuffix) {
			continue
		}
		twin := filepath.Join(filepath.Dir(path), f.Name())
		if other, err := os.Lstat(twin); err == nil && os.SameFile(info, other) {
			if err := os.Remove(twin); err != nil {
				return err
			}
		}
	}
	return nil
}
