package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes a bundle of what write writes, in a file of this name, whole or not at all: under another name beside it, synced, read
// back and checked, and only then under its own. A bundle that is there already is not replaced unless force says so; anything else that is
// there is never replaced: a journal, say, or a link that leads to standard output. It is readable by its owner alone. A process that is
// killed meanwhile leaves the other name behind, which begins with a dot and ends in .tmp.
//
// Errors: fs.ErrExist for a bundle, a *fs.PathError for anything else that is there, those of write and Check, ctx.Err().
func Write(ctx context.Context, path string, force bool, write func(io.Writer) error) (err error) {
	if err := vacant(path, force); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(f.Name()); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := checkFile(ctx, f.Name()); err != nil {
		return fmt.Errorf("read back what was written: %w", err)
	}
	if err := place(f.Name(), path, force); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// vacant says whether a file may be put at path.
func vacant(path string, force bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("it is a symbolic link; name the file itself, or - for standard output")}
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("it is no regular file")}
	case !Is(path):
		return &fs.PathError{Op: "write", Path: path, Err: errors.New("there is a file that is no bundle, and is not replaced; give another name")}
	case !force:
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrExist}
	}
	return nil
}

// place gives a file its name. A link does not replace anything that has come there meanwhile; not every file system has them.
func place(tmp, path string, force bool) error {
	if !force {
		if err := os.Link(tmp, path); err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := vacant(path, force); err != nil { // it may have come meanwhile
		return err
	}
	return os.Rename(tmp, path)
}

func checkFile(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, _, err = Check(contextReader{ctx, f})
	return err
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Is says whether path is a regular file, or a link to one, that begins as a bundle does.
func Is(path string) bool {
	info, err := os.Stat(path) // first: opening a pipe waits for somebody at its other end
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, len(Magic))
	_, err = io.ReadFull(f, b)
	return err == nil && string(b) == Magic
}
