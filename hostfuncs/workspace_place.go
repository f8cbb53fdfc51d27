package hostfuncs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// placing is a file that is about to hold other bytes.
type placing struct {
	path string
	temp string // in the same directory; nothing is there by then
	mode fs.FileMode
	from io.Reader
	size int64
	// allow is asked immediately before the file changes; nil always allows it.
	allow func() error
}

// place makes a file hold other bytes, whole or not at all: they are written beside it, synced, and given its name. Other names of
// the file that was there keep what they had, and so does what a link led to.
func (w *workspace) place(ctx context.Context, p placing) error {
	dir := parent(p.path)
	if err := w.root.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := w.beside(ctx, p); err != nil {
		_ = w.root.Remove(p.temp)
		return err
	}
	if p.allow != nil {
		if err := p.allow(); err != nil {
			_ = w.root.Remove(p.temp)
			return err
		}
	}
	if err := w.root.Rename(p.temp, p.path); err != nil {
		_ = w.root.Remove(p.temp)
		return err
	}
	if err := w.syncDirs(dir); err != nil {
		return mayHaveHappened(w.failed(p.path, err))
	}
	return nil
}

// beside writes the temporary file.
func (w *workspace) beside(ctx context.Context, p placing) (err error) {
	f, err := w.root.OpenFile(p.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err := io.Copy(f, patientReader{ctx, p.from})
	switch {
	case err != nil:
		return err
	case n != p.size:
		return fmt.Errorf("%s: %d bytes were read of the artifact, and it has %d", shownPath(p.path), n, p.size)
	}
	if err := f.Chmod(p.mode); err != nil {
		return err
	}
	return f.Sync()
}
