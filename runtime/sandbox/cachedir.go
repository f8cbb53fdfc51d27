package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
)

// codeCache is a directory of compiled code. wazero, which checks little of what it reads there, never sees the directory
// itself, but a view of it that holds what was verified for as long as it is read:
//
//	native-2-VERSION-ARCH-OS/MODULE/KEY-SUM   code, see codeFile
//	judged-1/MODULE/RULES-SUM                 what else is known of a module, see judgements
//	staging-*/                                what a compilation is writing
//	view-*/                                   the view of one process
//
// A nil codeCache keeps nothing.
type codeCache struct {
	root, native, view string
	private            bool // root was made for this process alone
	hollow             bool // the compiler is shown hollow modules
	code               wazero.CompilationCache

	mu    sync.Mutex     // guards what follows, and the files of the view
	shown map[string]int // how many loads read a file of the view, by its key
}

const (
	stagingPrefix = "staging-"
	viewPrefix    = "view-"
	// leftAfter is the age at which what a process left behind is removed. It is far longer than a compilation may take, and
	// a view that is in use is touched.
	leftAfter = 24 * time.Hour
)

// openCache makes sure that nobody else can write machine code into the directory. "" stands for a directory that is
// removed when the cache is closed.
func openCache(dir string) (*codeCache, error) {
	c := &codeCache{root: dir, hollow: compilerVersion() == hollowed, shown: map[string]int{}}
	if err := c.open(); err != nil {
		c.remove()
		return nil, fmt.Errorf("%w: %w", ErrCache, err)
	}
	return c, nil
}

func (c *codeCache) open() (err error) {
	if c.root == "" {
		c.private = true
		if c.root, err = os.MkdirTemp("", "wrun-code-"); err != nil {
			return err
		}
	} else if c.root, err = filepath.Abs(c.root); err != nil {
		return err
	}
	if err := c.ensure(); err != nil {
		return err
	}
	c.native = filepath.Join(c.root, strings.Join([]string{"native-2", compilerVersion(), runtime.GOARCH, runtime.GOOS}, "-"))
	if err := os.MkdirAll(c.native, 0o700); err != nil {
		return err
	}
	c.sweep()
	view, err := os.MkdirTemp(c.root, viewPrefix)
	if err != nil {
		return err
	}
	if c.code, err = wazero.NewCompilationCacheWithDir(view); err != nil {
		return err
	}
	c.view, err = onlyEntry(view)
	return err
}

// ensure makes the directory, if it is not there or not there any more, and sees to it that it is still the user's alone: a
// directory for temporary files is swept by the system, and then its name is anybody's.
func (c *codeCache) ensure() error {
	if err := os.MkdirAll(c.root, 0o700); err != nil {
		return err
	}
	stat := os.Stat
	if c.private {
		stat = os.Lstat
	}
	info, err := stat(c.root)
	if err != nil {
		return err
	}
	return checkPrivate(c.root, info)
}

// onlyEntry returns the path of the one entry of a directory.
func onlyEntry(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) != 1 {
		err = fmt.Errorf("%s has %d entries, 1 was made", dir, len(entries))
	}
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, entries[0].Name()), nil
}

// sweep removes what processes left that were killed.
func (c *codeCache) sweep() {
	entries, _ := os.ReadDir(c.root)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), stagingPrefix) && !strings.HasPrefix(e.Name(), viewPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftAfter {
			_ = os.RemoveAll(filepath.Join(c.root, e.Name()))
		}
	}
}

// staging makes a directory for one compilation. The caller removes it.
func (c *codeCache) staging() (string, error) {
	if err := c.ensure(); err != nil {
		return "", fmt.Errorf("%w: %w", ErrCache, err)
	}
	dir, err := os.MkdirTemp(c.root, stagingPrefix)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrCache, err)
	}
	return dir, nil
}

func refuseCache(dir string, info fs.FileInfo, why string) error {
	return fmt.Errorf("%s (%s): %s; what is in it is run: chmod 700 it, or choose another", dir, info.Mode(), why)
}

func (c *codeCache) close(ctx context.Context) error {
	if c == nil {
		return nil
	}
	err := c.code.Close(ctx)
	c.remove()
	return err
}

// remove removes what is of this process alone.
func (c *codeCache) remove() {
	if c.view != "" {
		_ = os.RemoveAll(filepath.Dir(c.view))
	}
	if c.private && c.root != "" {
		_ = os.RemoveAll(c.root)
	}
}

// hollows says whether the compiler is shown hollow modules.
func (c *codeCache) hollows() bool { return c != nil && c.hollow }

// compilerVersion is the version of wazero, whose code is of no use to another version: that which the build has recorded, or
// in its absence, as in tests, that which the path of its source names. "dev" is one that nothing is known of.
func compilerVersion() string {
	const path = "github.com/tetratelabs/wazero"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			switch {
			case d.Path != path:
			case d.Replace != nil:
				return "dev"
			default:
				return d.Version
			}
		}
	}
	f := runtime.FuncForPC(reflect.ValueOf(wazero.NewRuntimeConfig).Pointer())
	file, _ := f.FileLine(f.Entry())
	_, version, ok := strings.Cut(filepath.ToSlash(file), path+"@")
	if version, _, found := strings.Cut(version, "/"); ok && found {
		return version
	}
	return "dev"
}
