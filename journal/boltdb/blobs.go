package boltdb

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/wrun-dev/wrun/internal/failpoint"
	"github.com/wrun-dev/wrun/journal"
)

// blobs is the directory of blobs.
type blobs struct {
	dir  string
	room *room
	// pin keeps gc from removing a blob that is about to be named, before it is looked whether it is there; nil where there is no gc.
	pin func(context.Context, journal.Digest) error

	mu     sync.Mutex
	synced map[string]bool // directories whose own names are known to be on the disk; guarded by mu
	total  total           // guarded by mu
}

func (b *blobs) path(d journal.Digest) string {
	name := d.String()
	return filepath.Join(b.dir, name[:2], name)
}

// Put stores a blob; see journal.Blobs. What is there already is trusted only after it was read and found right, and
// replaced otherwise.
func (j *Journal) Put(ctx context.Context, r io.Reader) (journal.Digest, int64, error) {
	if err := j.gate.usable(); err != nil {
		return journal.Digest{}, 0, err
	}
	d, n, err := j.blobs.put(ctx, r)
	if err != nil {
		err = fmt.Errorf("store a blob: %w", noSpace(err))
		if s := (*syncError)(nil); errors.As(err, &s) {
			j.gate.fail(err)
		}
		return journal.Digest{}, 0, err
	}
	return d, n, nil
}

// syncError is an error of a sync: what was written before may be lost, and trying again proves nothing.
type syncError struct{ error }

func (e *syncError) Unwrap() error { return e.error }

func (b *blobs) put(ctx context.Context, r io.Reader) (d journal.Digest, n int64, err error) {
	if err := b.mkdir(b.dir); err != nil {
		return d, 0, err
	}
	var f *os.File
	err = b.room.spaced(func() error {
		f, err = os.CreateTemp(b.dir, "new-*")
		return err
	})
	if err != nil {
		return d, 0, err
	}
	defer os.Remove(f.Name()) // after the rename there is nothing of that name
	_, _ = tryLock(f, true)   // so that gc does not take it for what somebody has left who died
	h := sha256.New()
	n, err = io.Copy(io.MultiWriter(&roomyWriter{f, b.room}, h), &contextReader{ctx, r})
	if err == nil {
		err = failpoint.Hit(failpoint.BlobWritten)
	}
	if err == nil && !noSync {
		if serr := f.Sync(); serr != nil {
			err = &syncError{serr}
		}
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return d, 0, err
	}
	if err := failpoint.Hit(failpoint.BlobSynced); err != nil {
		return d, 0, err
	}
	d = journal.Digest(h.Sum(nil))
	if b.pin != nil {
		if err := b.pin(ctx, d); err != nil {
			return d, n, err
		}
	}
	return d, n, b.name(f.Name(), d, n)
}

// name gives a written blob its name.
func (b *blobs) name(tmp string, d journal.Digest, n int64) error {
	path := b.path(d)
	if err := b.mkdir(filepath.Dir(path)); err != nil {
		return err
	}
	if !b.right(d) {
		if err := b.room.spaced(func() error { return os.Rename(tmp, path) }); err != nil {
			return err
		}
		b.added(n)
		if err := failpoint.Hit(failpoint.BlobRenamed); err != nil {
			return &syncError{err}
		}
	}
	if err := failpoint.Hit(failpoint.BlobBeforeDirsync); err != nil {
		return &syncError{err}
	}
	if brokenBlobDirSync {
		return nil
	}
	// Whoever put it there first may have died before this.
	if err := syncDir(filepath.Dir(path)); err != nil {
		return &syncError{err}
	}
	return nil
}

// right says whether a blob is there and has the right bytes.
func (b *blobs) right(d journal.Digest) bool {
	r, err := b.open(d)
	if err != nil {
		return false
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err == nil
}

// mkdir makes a directory, and makes sure that it will be there after a crash.
func (b *blobs) mkdir(dir string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.synced[dir] {
		return nil
	}
	err := b.room.spaced(func() error { return os.Mkdir(dir, 0o700) })
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if err := syncDir(filepath.Dir(dir)); err != nil {
		return &syncError{err}
	}
	if b.synced == nil {
		b.synced = map[string]bool{}
	}
	b.synced[dir] = true
	return nil
}

// Open returns a blob's bytes; see journal.Blobs.
func (j *Journal) Open(ctx context.Context, d journal.Digest) (io.ReadCloser, error) {
	if err := errors.Join(ctx.Err(), j.gate.usable()); err != nil {
		return nil, err
	}
	return j.blobs.open(d)
}

func (b *blobs) open(d journal.Digest) (io.ReadCloser, error) {
	if _, err := b.stat(d); err != nil {
		return nil, err
	}
	f, err := os.Open(b.path(d))
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", d.Short(), err)
	}
	return &blobReader{f: f, want: d, hash: sha256.New()}, nil
}

// Stat returns a blob's length; see journal.Blobs.
func (j *Journal) Stat(ctx context.Context, d journal.Digest) (int64, error) {
	if err := errors.Join(ctx.Err(), j.gate.usable()); err != nil {
		return 0, err
	}
	return j.blobs.stat(d)
}

func (b *blobs) stat(d journal.Digest) (int64, error) {
	info, err := os.Lstat(b.path(d))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return 0, fmt.Errorf("blob %s: %w", d.Short(), journal.ErrNotFound)
	case err != nil:
		return 0, fmt.Errorf("blob %s: %w", d.Short(), err)
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%w: blob %s is no regular file but %s", journal.ErrDamaged, d.Short(), info.Mode().Type())
	}
	return info.Size(), nil
}

// files calls fn with the files that have the names of blobs, in the order of their digests, until it returns an error.
func (b *blobs) files(fn func(d journal.Digest, path string) error) error {
	dirs, err := os.ReadDir(b.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look through the blobs: %w", err)
	}
	for _, dir := range dirs {
		if len(dir.Name()) != 2 || !dir.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(b.dir, dir.Name()))
		if err != nil {
			return fmt.Errorf("look through the blobs: %w", err)
		}
		for _, f := range files {
			d, err := journal.ParseDigest(f.Name())
			if err != nil || f.Name()[:2] != dir.Name() {
				continue
			}
			if err := fn(d, filepath.Join(b.dir, dir.Name(), f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// blobReader checks what it has read when it comes to the end.
type blobReader struct {
	f    *os.File
	want journal.Digest
	hash hash.Hash
}

func (r *blobReader) Read(p []byte) (int, error) {
	n, err := r.f.Read(p)
	r.hash.Write(p[:n])
	if err == io.EOF && journal.Digest(r.hash.Sum(nil)) != r.want {
		err = fmt.Errorf("%w: blob %s has changed", journal.ErrDamaged, r.want.Short())
	}
	return n, err
}

func (r *blobReader) Close() error { return r.f.Close() }

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// take makes a blob of another directory one of this one, by a link if that can be, else by a copy, and says which. The blob was found to
// be right. It survives a crash once syncAll has returned.
func (b *blobs) take(ctx context.Context, from *blobs, d journal.Digest) (linked bool, err error) {
	path := b.path(d)
	if err := errors.Join(b.mkdir(b.dir), b.mkdir(filepath.Dir(path))); err != nil {
		return false, err
	}
	err = os.Link(from.path(d), path)
	if err == nil {
		return true, nil
	}
	if errors.Is(err, os.ErrExist) && b.right(d) {
		return true, nil // by an earlier try
	}
	r, err := from.open(d)
	if err != nil {
		return false, err
	}
	defer r.Close()
	_, _, err = b.put(ctx, r)
	return false, err
}

// syncAll syncs the directories that were made.
func (b *blobs) syncAll() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for dir := range b.synced {
		if err := syncDir(dir); err != nil {
			return &syncError{err}
		}
	}
	return nil
}
