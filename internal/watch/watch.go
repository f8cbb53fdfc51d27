// Package watch calls a function whenever files of a directory have changed. It looks at their times and sizes at the ticks that its
// caller gives, which works on every system and file system, and needs no descriptors. What changes and changes back between two
// ticks, with its time, is not seen.
package watch

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"
)

// Dir is a directory whose files are watched, with all below it.
type Dir struct {
	// Path is the directory.
	Path string
	// Skip says of a path below it whether a change there does not count. What is below a directory that it skips does not count
	// either. nil skips nothing.
	Skip func(path string) bool
}

// maxFiles bounds what is looked at: a directory with more is not that of a tool.
const maxFiles = 20_000

// ErrTooMany says that a directory has more files than can be looked at every moment.
var ErrTooMany = errors.New("it has more than 20,000 files, which is too many to look at all the time; the directory of a tool is wanted")

// state is what is known of a file.
type state struct {
	size int64
	time time.Time
	mode fs.FileMode
}

// Each calls f once at first, and again each time that something is another than when it was called last and the same as at the
// tick before, so that what writes several files is left to finish. f is called from the caller's goroutine, and nothing is looked
// at meanwhile: what changes while it runs is found at the ticks behind it. It returns when the context ends, with its error, or
// when the directory cannot be read: what is in it may come and go.
func (d Dir) Each(ctx context.Context, ticks <-chan time.Time, f func(context.Context)) error {
	done, err := d.look()
	if err != nil {
		return err
	}
	f(ctx)
	for before := done; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks:
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		now, err := d.look()
		if err != nil {
			return err
		}
		if maps.Equal(now, before) && !maps.Equal(now, done) {
			done = now
			f(ctx)
		}
		before = now
	}
}

// look reads the state of every file.
func (d Dir) look() (map[string]state, error) {
	files := map[string]state{}
	err := filepath.WalkDir(d.Path, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case path == d.Path:
			return err
		case d.Skip != nil && d.Skip(path):
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case err != nil: // it went away meanwhile, or cannot be read, which a compiler will say
			return nil
		case len(files) == maxFiles:
			return ErrTooMany
		}
		info, err := os.Stat(path) // of what a link leads to
		if err != nil {
			return nil
		}
		s := state{info.Size(), info.ModTime(), info.Mode()}
		if info.IsDir() {
			s.size, s.time = 0, time.Time{} // which building may change
		}
		files[path] = s
		return nil
	})
	return files, err
}
