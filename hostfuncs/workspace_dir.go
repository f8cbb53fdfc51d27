package hostfuncs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// openRoot opens the directory of a grant, and makes it if it is not there: for its owner alone. A link at the path itself is
// followed, since the operator named it; a pipe is not opened, since that could wait. Errors: *WorkspaceError.
func (g WorkspaceGrant) openRoot() (*os.Root, error) {
	if !filepath.IsAbs(g.Path) || filepath.Clean(g.Path) != g.Path {
		return nil, &WorkspaceError{Path: g.Path, Err: errors.New("the path is not absolute and clean")}
	}
	info, err := os.Stat(g.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = makeDurably(g.Path)
	case err == nil && !info.IsDir():
		err = errors.New("it is no directory")
	}
	if err != nil {
		return nil, &WorkspaceError{Path: g.Path, Err: bare(err)}
	}
	root, err := os.OpenRoot(g.Path)
	if err != nil {
		return nil, &WorkspaceError{Path: g.Path, Err: bare(err)}
	}
	return root, nil
}

// CheckEmpty says why a directory is not empty, or not one that could be made, or nil. Errors: *WorkspaceError.
func (g WorkspaceGrant) CheckEmpty() error {
	if _, err := os.Lstat(g.Path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	root, err := g.openRoot()
	if err != nil {
		return err
	}
	defer root.Close()
	d, err := root.Open(".")
	if err != nil {
		return &WorkspaceError{Path: g.Path, Err: bare(err)}
	}
	defer d.Close()
	if _, err := d.Readdirnames(1); err != io.EOF {
		return &WorkspaceError{Path: g.Path, Err: errors.New("it is not empty")}
	}
	return nil
}

// makeDurably makes a directory, with those above it, so that it is there after a crash.
func makeDurably(dir string) error {
	var made []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) || d == filepath.Dir(d) {
			break
		}
		made = append(made, d)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, d := range made {
		if err := syncPath(filepath.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}

func syncPath(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncDir(f), f.Close())
}

// syncDirs makes sure that what is in a directory, and the directory itself, will be there after a crash. Those above it count as
// well: who made them may have died before it got here.
func (w *workspace) syncDirs(dir string) error {
	var names []string
	if dir != "." {
		names = strings.Split(dir, "/")
	}
	r, err := w.root.OpenRoot(".")
	for i := 0; err == nil; i++ {
		if err = syncRoot(r); err != nil || i == len(names) {
			return errors.Join(err, r.Close())
		}
		below, failed := r.OpenRoot(names[i] + "/.")
		if failed != nil { // a link, perhaps, which leads to somewhere else in the workspace
			below, failed = w.root.OpenRoot(path.Join(names[:i+1]...) + "/.")
		}
		_ = r.Close()
		r, err = below, failed
	}
	return err
}

func syncRoot(r *os.Root) error {
	f, err := r.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(syncDir(f), f.Close())
}
