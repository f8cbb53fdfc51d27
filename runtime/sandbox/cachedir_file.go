package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// codeFile is a file of compiled code. Its name is the record of what it is: the digest of the module as the compiler got
// it, the name by which wazero asks for it, and a SHA-256 of both and of its content. wazero's name stands for what it is shown, the way
// that is compiled and the abilities of the processor, so a module has several files where machines share a directory.
type codeFile struct {
	module   toolabi.Digest
	key, sum string // 64 hexadecimal digits each
}

// errAltered says that a file is not what its name says.
var errAltered = errors.New("compiled code was altered")

func (f codeFile) path(c *codeCache) string {
	return filepath.Join(c.native, f.module.String(), f.key+"-"+f.sum)
}

// files returns the files of a module, not yet verified. What is there under another sort of name is removed.
func (c *codeCache) files(module toolabi.Digest) []codeFile {
	if c == nil {
		return nil
	}
	dir := filepath.Join(c.native, module.String())
	entries, _ := os.ReadDir(dir)
	var files []codeFile
	for _, e := range entries {
		key, sum, ok := strings.Cut(e.Name(), "-")
		if !ok || !isHash(key) || !isHash(sum) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
			continue
		}
		files = append(files, codeFile{module, key, sum})
	}
	return files
}

func isHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && strings.ToLower(s) == s
}

// show puts a file into the view once its content is what its name says, until hide is called. errAltered says that it is
// not.
func (c *codeCache) show(f codeFile) (hide func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown := filepath.Join(c.view, f.key)
	if c.shown[f.key] == 0 {
		if err := c.link(f, shown); err != nil {
			_ = os.Remove(shown)
			return nil, err
		}
	}
	c.shown[f.key]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.shown[f.key]--; c.shown[f.key] == 0 {
			delete(c.shown, f.key)
			_ = os.Remove(shown)
		}
	}, nil
}

// link verifies what it has linked, or copied where links are not to be had, so that it does not matter what becomes of the
// file in the cache.
func (c *codeCache) link(f codeFile, to string) error {
	now := time.Now()
	_ = os.Chtimes(filepath.Dir(c.view), now, now) // it is in use
	if err := c.ensure(); err != nil {
		return fmt.Errorf("%w: %w", ErrCache, err)
	}
	if err := os.MkdirAll(c.view, 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrCache, err)
	}
	_ = os.Remove(to)
	if os.Link(f.path(c), to) != nil {
		if err := copyFile(f.path(c), to); err != nil {
			return fmt.Errorf("%w: %w", ErrCache, err)
		}
	}
	sum, err := f.hash(to)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCache, err)
	}
	if sum != f.sum {
		return errAltered
	}
	return nil
}

// drop removes a file that is not what its name says.
func (c *codeCache) drop(f codeFile) { _ = os.RemoveAll(f.path(c)) }

// adopt moves what was compiled in a staging directory into the cache. The file's path has two parts: the compiler's own
// directory, and its name for the code.
func (c *codeCache) adopt(module toolabi.Digest, staging string, m made) (codeFile, error) {
	dir, own := filepath.Split(m.file)
	f := codeFile{module: module, key: cmp.Or(m.key, own)}
	if !isHash(own) || !isHash(f.key) || !isPlain(filepath.Clean(dir)) {
		return f, fmt.Errorf("%s is no name of compiled code", quote(cmp.Or(m.key, m.file)))
	}
	var err error
	if f.sum, err = f.hash(filepath.Join(staging, m.file)); err != nil {
		return f, fmt.Errorf("read what was compiled: %w", err)
	}
	to := f.path(c)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return f, fmt.Errorf("%w: %w", ErrCache, err)
	}
	// Another process that compiled the same may have the file open, and on some systems it cannot be replaced then. It has
	// the same name, and is verified before it is used.
	if err := os.Rename(filepath.Join(staging, m.file), to); err != nil && !exists(to) {
		return f, fmt.Errorf("%w: %w", ErrCache, err)
	}
	return f, nil
}

// isPlain tells whether a name is one of a directory directly below another.
func isPlain(name string) bool {
	return filepath.IsLocal(name) && name != "." && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+", r))
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func copyFile(from, to string) error {
	if info, err := os.Lstat(from); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errAltered)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, maxCode))
	return errors.Join(err, out.Close())
}
