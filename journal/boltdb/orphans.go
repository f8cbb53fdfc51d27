package boltdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
)

// atOnce is how many blobs are removed while nobody can pin one.
const atOnce = 256

// orphans removes the blobs that no entry names and nobody is about to have named.
//
// All logs are read first; from before that on, appends note which runs they change. Then some files at a time are judged, with the lock
// of the pins held alone: who is about to have a blob named has pinned it before, so it is found among the pins, or the entry is in the
// journal already and the note of it is found, or the pin comes later and then its maker looks whether the blob is there.
func (c *collector) orphans(ctx context.Context) (err error) {
	n := names{j: c.j, skip: c.going, named: map[journal.Digest]struct{}{}}
	if !c.opts.DryRun {
		if n.id, err = c.j.beginNotes(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.j.dropNotes(ctx, n.id)) }()
	}
	if err := n.replaced(ctx, c.j.path); err != nil {
		return fmt.Errorf("look which blobs a replaced journal needs: %w", err)
	}
	for from := []byte(nil); ; c.progress() {
		if from, err = n.some(ctx, from); err != nil {
			return err
		}
		if from == nil {
			break
		}
	}
	c.j.hooks.at("marked")
	var some []orphan
	err = c.j.blobs.files(func(d journal.Digest, path string) error {
		if _, ok := n.named[d]; ok {
			return ctx.Err()
		}
		some = append(some, orphan{d, path})
		if len(some) < atOnce {
			return ctx.Err()
		}
		err := c.sweep(ctx, &n, some)
		some = some[:0]
		return err
	})
	if err != nil {
		return err
	}
	return c.sweep(ctx, &n, some)
}

// orphan is a blob that may be named by no entry.
type orphan struct {
	digest journal.Digest
	path   string
}

func (c *collector) sweep(ctx context.Context, n *names, some []orphan) (err error) {
	defer c.progress()
	if err := n.catchUp(ctx); err != nil { // so that little is left for when others wait
		return err
	}
	gate, err := openLock(c.j.pins.lockPath())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, gate.Close()) }() // which lets go of the lock
	if err := lockWithin(ctx, gate, true, c.j.gate.busy, pinPoll); err != nil {
		return err
	}
	pinned, left, err := c.j.pins.pinned(!c.opts.DryRun)
	if err != nil {
		return fmt.Errorf("look for pins: %w", err)
	}
	if c.Files += uint64(left); c.opts.DryRun {
		c.Files = uint64(left) // they are there the next time too
	}
	if err := n.catchUp(ctx); err != nil {
		return err
	}
	for _, o := range some {
		if _, ok := n.named[o.digest]; ok {
			continue
		}
		if pinned[o.digest] {
			c.Pinned++
			continue
		}
		info, err := os.Lstat(o.path)
		if err == nil && !info.Mode().IsRegular() {
			continue // verify says so if an entry names it; nobody knows what it is
		}
		if err == nil && !c.opts.DryRun {
			err = os.Remove(o.path)
		}
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("remove a blob: %w", err)
		}
		c.Blobs++
		c.BlobBytes += info.Size()
	}
	return nil
}

// names are the blobs that entries name.
type names struct {
	j     *Journal
	id    []byte          // of the notes; nil when there are none
	skip  map[string]bool // runs that do not count
	named map[journal.Digest]struct{}
}

// replaced adds what is named by the journals beside path that a restore has replaced or a migration has kept: they share its blobs. What is
// left of one that is damaged counts as well, and what is stale in it.
func (n *names) replaced(ctx context.Context, path string) error {
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, file := range files {
		suffix, ours := strings.CutPrefix(file.Name(), filepath.Base(path))
		if !ours || !strings.HasPrefix(suffix, replacedSuffix) && !strings.HasPrefix(suffix, keptSuffix) || !file.Type().IsRegular() {
			continue
		}
		f, err := openToRead(filepath.Join(filepath.Dir(path), file.Name()))
		if err != nil {
			return err
		}
		if err = errors.Join(n.readReplaced(ctx, f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (n *names) readReplaced(ctx context.Context, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var p *pages
	if m, _, err := bestMeta(f, info.Size()); err == nil {
		p = newPages(f, info.Size(), m)
	} else if p = guessPages(f, info.Size()); p == nil {
		return nil // it is no journal, or nothing is left of it
	}
	return p.salvage(func(x piece) error {
		if _, _, ok := entryOf(x.key); ok {
			for _, d := range journal.NamedBy(x.value) {
				n.named[d] = struct{}{}
			}
		}
		return ctx.Err()
	})
}

// some adds what the entries of all logs name, some of them behind a key, and returns the last key, nil when there are no more.
func (n *names) some(ctx context.Context, after []byte) (last []byte, err error) {
	err = n.j.view(ctx, func(tx *bbolt.Tx) error {
		c := tx.Bucket(entriesBucket).Cursor()
		k, v := c.Seek(after)
		seen, size := 0, 0
		var run string
		var before journal.Digest
		for ; k != nil; k, v = c.Next() {
			of, seq, ok := entryOf(k)
			if !ok {
				return fmt.Errorf("%w: key %.80q names no entry", journal.ErrDamaged, k)
			}
			if of != run || seq == 0 {
				d, err := hashBefore(tx, of, seq)
				if err != nil {
					return err
				}
				run, before = of, *d
			}
			e, err := decode(v, before)
			if err != nil {
				return fmt.Errorf("run %s, entry %d: %w", of, seq, err)
			}
			before = e.Hash
			if !n.skip[of] {
				for _, d := range e.Names() {
					n.named[d] = struct{}{}
				}
			}
			if seen, size = seen+1, size+len(v); seen == 4*batchEntries || size > batchBytes {
				last = append(bytes.Clone(k), 0)
				return nil
			}
		}
		return nil
	})
	return last, err
}

// read adds what a log names from a position on.
func (n *names) read(ctx context.Context, run string, from uint64) error {
	if n.skip[run] {
		return nil
	}
	for e, err := range n.j.Read(ctx, run, from) {
		if errors.Is(err, journal.ErrRemoved) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, d := range e.Names() {
			n.named[d] = struct{}{}
		}
	}
	return nil
}

// catchUp adds what was appended since the last time.
func (n *names) catchUp(ctx context.Context) error {
	if n.id == nil {
		return nil
	}
	for more := true; more; {
		err := n.j.view(ctx, func(tx *bbolt.Tx) error {
			b, err := notesOf(tx, n.id)
			if err == nil {
				k, _ := b.Cursor().First()
				more = k != nil
			}
			return err
		})
		if err != nil || !more {
			return err
		}
		var notes []note
		if notes, more, err = n.j.takeNotes(ctx, n.id); err != nil {
			return err
		}
		for _, note := range notes {
			if note.kind == 'r' {
				if err := n.read(ctx, string(note.name), note.from); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// leftovers removes what is beside the journal of processes that died.
func (c *collector) leftovers(ctx context.Context) error {
	for _, remove := range []func(context.Context) (int, error){c.halfBlobs, c.deadOwners, c.halfJournals} {
		n, err := remove(ctx)
		c.Files += uint64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

// halfBlobs removes blobs that somebody was writing. Who still does holds a lock; who has only just begun may not hold it yet.
func (c *collector) halfBlobs(ctx context.Context) (n int, err error) {
	files, err := os.ReadDir(c.j.blobs.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	for _, f := range files {
		info, err := f.Info()
		if !strings.HasPrefix(f.Name(), "new-") || !f.Type().IsRegular() || err != nil || c.j.now().Sub(info.ModTime()) < sweepAge {
			continue
		}
		path := filepath.Join(c.j.blobs.dir, f.Name())
		if dead, err := unlocked(path); err != nil || !dead {
			continue
		}
		if !c.opts.DryRun {
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return n, err
			}
		}
		n++
	}
	return n, ctx.Err()
}

func (c *collector) deadOwners(context.Context) (int, error) {
	if !c.opts.DryRun {
		c.j.sweepRooms()
	}
	return c.j.sweepOwners(1, c.opts.DryRun)
}

// halfJournals removes journals that somebody was making. They had the lock that is held here.
func (c *collector) halfJournals(ctx context.Context) (n int, err error) {
	dir, base := filepath.Dir(c.j.path), filepath.Base(c.j.path)
	err = c.j.view(ctx, func(*bbolt.Tx) error {
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		n = len(slices.DeleteFunc(files, func(f os.DirEntry) bool { return !leftover(base, f.Name()) }))
		if !c.opts.DryRun {
			removeLeftovers(dir, base)
		}
		return nil
	})
	return n, err
}
