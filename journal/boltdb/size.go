package boltdb

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

const (
	// countFor is how long the blobs are counted at a time. That is enough for tens of thousands of them; where there are more it
	// is enough for a good guess, since digests spread blobs evenly over their directories.
	countFor = 50 * time.Millisecond
	// countAgain is after how long they are counted again, for what other processes have added and removed.
	countAgain = time.Minute
)

// total is what the blobs take, as it was counted last, with what this handle has added since.
type total struct {
	bytes   int64
	counted time.Time // zero: never
}

// Size returns about how much the journal takes on the disk, in bytes: its file as far as blocks are allocated to it, and its
// blobs. They are counted when it is first asked, and again once a minute, for 50 ms at most: where that does not suffice, what was
// seen of their directories stands for the others.
func (j *Journal) Size(ctx context.Context) (int64, error) {
	if err := errors.Join(ctx.Err(), j.gate.usable()); err != nil {
		return 0, err
	}
	info, err := os.Stat(j.path)
	if err != nil {
		return 0, err
	}
	blobs, err := j.blobs.size(ctx)
	return taken(info) + blobs, err
}

// added notes a blob that is new. Before anything was counted there is nothing to add to.
func (b *blobs) added(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total.bytes += n
}

func (b *blobs) size(ctx context.Context) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.total.counted.IsZero() && time.Since(b.total.counted) < countAgain {
		return b.total.bytes, nil
	}
	n, err := countBlobs(ctx, b.dir, time.Now().Add(countFor))
	if err == nil {
		b.total = total{n, time.Now()}
	}
	return b.total.bytes, err
}

// countBlobs adds up the blobs below dir, in an order of chance, until the deadline, and guesses the rest. One directory is counted
// in any case.
func countBlobs(ctx context.Context, dir string, deadline time.Time) (bytes int64, err error) {
	dirs, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	rand.Shuffle(len(dirs), func(i, k int) { dirs[i], dirs[k] = dirs[k], dirs[i] })
	for i, d := range dirs {
		if i > 0 && time.Now().After(deadline) {
			return int64(float64(bytes) * float64(len(dirs)) / float64(i)), ctx.Err()
		}
		files, err := os.ReadDir(filepath.Join(dir, d.Name()))
		if err != nil {
			continue // a blob that is being written, or what has gone meanwhile
		}
		for _, f := range files {
			if info, err := f.Info(); err == nil {
				bytes += taken(info)
			}
		}
	}
	return bytes, ctx.Err()
}

// Space is what a journal takes on the disk.
type Space struct {
	// File is what its file takes in bytes, Blobs how many blobs there are, BlobBytes what they take.
	File, Blobs, BlobBytes int64
}

// Space returns what the journal takes. Unlike Size it looks at every blob, a directory at a time.
func (j *Journal) Space(ctx context.Context) (s Space, err error) {
	if err := errors.Join(ctx.Err(), j.gate.usable()); err != nil {
		return s, err
	}
	info, err := os.Stat(j.path)
	if err != nil {
		return s, err
	}
	s.File = taken(info)
	dirs, err := os.ReadDir(j.blobs.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	for _, d := range dirs {
		files, err := os.ReadDir(filepath.Join(j.blobs.dir, d.Name()))
		if err != nil {
			continue // a blob that is being written, or what has gone meanwhile
		}
		for _, f := range files {
			if info, err := f.Info(); err == nil && info.Mode().IsRegular() {
				s.Blobs, s.BlobBytes = s.Blobs+1, s.BlobBytes+taken(info)
			}
		}
		if err := ctx.Err(); err != nil {
			return s, err
		}
	}
	return s, nil
}
