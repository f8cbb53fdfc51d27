package scaffold

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// OccupiedError says that something is in the way of a new tool.
type OccupiedError struct {
	Dir string
	// Has is one of the files in the directory; "" when Dir is no directory.
	Has string
}

// Error says what is in the way.
func (e *OccupiedError) Error() string {
	if e.Has == "" {
		return fmt.Sprintf("%s is there already, and is no directory", e.Dir)
	}
	return fmt.Sprintf("%s is not empty: it has %s, and a new tool is made in a directory of its own", e.Dir, e.Has)
}

// Write makes the directory, which may be there if it is empty, and writes the files into it. When that fails, what it has
// written is removed again. Errors: *OccupiedError; those of the file system.
func Write(dir string, files []File) (err error) {
	made, err := claim(dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var written []string
	defer func() {
		if err != nil {
			unwrite(root, written)
		}
		if err != nil && made {
			_ = os.Remove(dir)
		}
	}()
	for _, f := range files {
		name := filepath.FromSlash(f.Path)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		err := writeNew(root, name, f.Content)
		if !errors.Is(err, fs.ErrExist) {
			written = append(written, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unwrite removes files, and the directories that are empty then.
func unwrite(root *os.Root, files []string) {
	for _, name := range files {
		for ; name != "." && root.Remove(name) == nil; name = filepath.Dir(name) {
		}
	}
}

// claim makes the directory, or sees that it is empty.
func claim(dir string) (made bool, err error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return false, err
	}
	if !info.IsDir() {
		return false, &OccupiedError{Dir: dir}
	}
	d, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer d.Close()
	names, err := d.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return false, &OccupiedError{dir, names[0]}
}

func writeNew(root *os.Root, name string, content []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}
