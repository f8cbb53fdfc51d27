package grantfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// UntrustedError says that somebody else could have written a file or a directory of the configuration.
type UntrustedError struct {
	Path string
	// Why is the rest of the sentence.
	Why string
	// Mode says that it is the mode which lets others write, and not the owner.
	Mode bool
}

// Error names both.
func (e *UntrustedError) Error() string { return fmt.Sprintf("%s %s", e.Path, e.Why) }

// ReadTrusted reads a regular file of at most MaxBytes bytes that nobody but the user, or root, can have written: not by its
// own mode and owner, nor by those of its directory. On Windows there is nothing to be told by a mode, and what the lists of
// access rights say is the user's business. Errors: fs.ErrNotExist; *UntrustedError.
func ReadTrusted(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // one that would wait for ever is not opened
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if err := CheckDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := trust(path, info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err == nil && len(text) > MaxBytes {
		err = fmt.Errorf("%s has more than %d bytes", path, MaxBytes)
	}
	return text, err
}

// CheckDir says why a directory cannot be trusted, or nil; one that is not there can.
func CheckDir(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", path)
	}
	return trust(path, info)
}
