package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/wrun-dev/wrun/toolabi"
)

// maxDescriptors is how many files and directories a program has open at the same time, the standard streams included.
const maxDescriptors = 256

// files are the descriptors of a program. The number of one is its place.
//
// Every path goes through an os.Root, so that nothing outside of a directory can be reached, whatever is in it and
// whoever changes it meanwhile. Only regular files and directories are opened, and links are not made.
type files struct {
	open    []*descriptor // nil where the number is free
	mounts  []*mount
	changed bool // something in a directory was changed
}

// mount is a directory of the host that a program may use.
type mount struct {
	root  *os.Root
	write bool
}

// descriptor is a stream, a regular file or a directory.
type descriptor struct {
	stream stream
	file   *os.File // of a file
	dir    *os.Root // of a directory

	read, write bool   // what may be done with a file
	flags       uint16 // of a file

	mount   *mount
	name    string // where it was below the mount when it was opened; "" when that is too long
	preopen string // of a directory of the manifest: where the program finds it
	listing listing
}

// stream is one of the three that are open from the beginning.
type stream uint8

const (
	noStream stream = iota
	stdin
	stdout
	stderr
)

// mount opens the standard streams and those directories that the manifest asks for and that were granted, in the order
// of the manifest. Changes are allowed where both say so.
func (f *files) mount(dirs []toolabi.Dir, granted []toolabi.Mount) *toolabi.Error {
	f.open = []*descriptor{{stream: stdin}, {stream: stdout}, {stream: stderr}}
	for _, d := range dirs {
		i := slices.IndexFunc(granted, func(m toolabi.Mount) bool { return m.Name == d.Name })
		if i < 0 {
			continue
		}
		root, err := openMount(granted[i].Path)
		if err != nil {
			return mountError(d, err)
		}
		m := &mount{root: root, write: d.Write && granted[i].Write}
		f.mounts = append(f.mounts, m)
		own, err := root.OpenRoot(".")
		if err != nil {
			return mountError(d, err)
		}
		f.open = append(f.open, &descriptor{dir: own, mount: m, name: ".", preopen: d.Path})
	}
	return nil
}

// openMount opens a directory of the host. A pipe is not opened, since that could wait.
func openMount(path string) (*os.Root, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("its path on the host is not absolute")
	}
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	return os.OpenRoot(path)
}

// mountError says why a directory could not be opened, without the host's name for it, which is recorded nowhere.
func mountError(d toolabi.Dir, err error) *toolabi.Error {
	code := toolabi.Internal
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		code = toolabi.NotFound
	}
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	return toolabi.NewError(code, fmt.Sprintf("directory %s, which the program finds at %s, cannot be opened: %v; nothing ran", d.Name, d.Path, err))
}

// close closes everything, at the end of the call.
func (f *files) close() {
	for _, d := range f.open {
		if d != nil {
			d.close()
		}
	}
	for _, m := range f.mounts {
		_ = m.root.Close()
	}
	f.open, f.mounts = nil, nil
}

func (d *descriptor) close() {
	if d.file != nil {
		_ = d.file.Close()
	}
	if d.dir != nil {
		_ = d.dir.Close()
	}
	d.listing.close()
}

// at returns what is open under a number, nil when nothing is.
func (f *files) at(fd uint64) *descriptor {
	if n := uint32(fd); uint64(n) < uint64(len(f.open)) {
		return f.open[n]
	}
	return nil
}

// full says that no number is free.
func (f *files) full() bool {
	return len(f.open) >= maxDescriptors && !slices.Contains(f.open, nil)
}

// add gives a descriptor the lowest free number. The caller has asked full.
func (f *files) add(d *descriptor) uint32 {
	if i := slices.Index(f.open, nil); i >= 0 {
		f.open[i] = d
		return uint32(i)
	}
	f.open = append(f.open, d)
	return uint32(len(f.open) - 1)
}
