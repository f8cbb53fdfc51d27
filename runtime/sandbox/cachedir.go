package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/tetratelabs/wazero"

	"github.com/wrun-dev/wrun/toolabi"
)

// codeCache is the directory of compiled code: wazero's files, and an empty file for each module whose code is among them,
// since wazero cannot be asked. A mark that is wrong costs a line of progress. A nil codeCache keeps nothing.
type codeCache struct {
	code       wazero.CompilationCache
	dir, marks string
}

// openCache makes sure that nobody else can write machine code into the directory.
func openCache(dir string) (*codeCache, error) {
	c := &codeCache{dir: dir, marks: filepath.Join(dir, "compiled-by-"+compilerVersion())}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the cache of compiled code: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("open the cache of compiled code: %w", err)
	}
	if err := checkPrivate(dir, info); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.marks, 0o700); err != nil {
		return nil, fmt.Errorf("open the cache of compiled code: %w", err)
	}
	if c.code, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
		return nil, fmt.Errorf("open the cache of compiled code: %w", err)
	}
	return c, nil
}

func refuseCache(dir string, info fs.FileInfo, why string) error {
	return fmt.Errorf("cache of compiled code %s (%s): %s; what is in it is run without a check: chmod 700 it, or choose another", dir, info.Mode(), why)
}

func (c *codeCache) mark(d toolabi.Digest) string { return filepath.Join(c.marks, d.String()) }

func (c *codeCache) has(d toolabi.Digest) bool {
	if c == nil {
		return false
	}
	_, err := os.Stat(c.mark(d))
	return err == nil
}

func (c *codeCache) add(d toolabi.Digest) {
	if c == nil || c.has(d) {
		return
	}
	if f, err := os.OpenFile(c.mark(d), os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close()
	}
}

// empty removes wazero's files, of which one is damaged, and the marks. What cannot be removed stays.
func (c *codeCache) empty() {
	for _, pattern := range []string{filepath.Join(c.dir, "wazero-*", "*"), filepath.Join(c.marks, "*")} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			_ = os.Remove(f)
		}
	}
}

func (c *codeCache) close(ctx context.Context) error {
	if c == nil {
		return nil
	}
	return c.code.Close(ctx)
}

// compilerVersion is the version of wazero, whose code is of no use to another version.
func compilerVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/tetratelabs/wazero" {
				return d.Version
			}
		}
	}
	return "dev"
}
