package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/tetratelabs/wazero/api"
)

// maxPath is the longest path in bytes that a program can use.
const maxPath = 4096

// followLinks is the flag that lets a symbolic link at the end of a path be followed. Those before the end always are.
const followLinks = 1

// place is a path below a directory that is open.
type place struct {
	in    *descriptor
	path  string // without slashes at its end
	slash bool   // it had some, so that it has to be a directory
}

// place reads the arguments of a path function. A path stays what it is: where it leads is for os.Root to say, which knows
// what links and .. come to in this directory.
func (p *program) place(mod api.Module, fd, ptr, n uint64) (place, uint32) {
	if uint32(n) > maxPath {
		return place{}, errnoNametoolong
	}
	b, ok := guestBytes(mod, uint32(ptr), uint32(n))
	d := p.files.at(fd)
	switch {
	case !ok:
		return place{}, errnoFault
	case d == nil:
		return place{}, errnoBadf
	case d.dir == nil:
		return place{}, errnoNotdir
	case len(b) == 0:
		return place{}, errnoNoent
	case bytes.IndexByte(b, 0) >= 0:
		return place{}, errnoInval
	case b[0] == '/':
		return place{}, errnoPerm
	}
	path := strings.TrimRight(string(b), "/")
	return place{d, path, len(path) < len(b)}, errnoSuccess
}

// stat asks about what is there. What has a slash behind it has to be a directory.
func (l place) stat(follow bool) (fs.FileInfo, uint32) {
	ask := l.in.dir.Lstat
	if follow || l.slash {
		ask = l.in.dir.Stat
	}
	info, err := ask(l.path)
	if err == nil && l.slash && !info.IsDir() {
		return nil, errnoNotdir
	}
	return info, errnoOf(err)
}

// name returns what the place is called below its mount, "" when that is too long to keep.
func (l place) name() string {
	if l.in.name == "" || len(l.in.name)+len(l.path) >= maxPath {
		return ""
	}
	return l.in.name + "/" + l.path
}

// changeable is place for a function that changes something.
func (p *program) changeable(mod api.Module, fd, ptr, n uint64) (place, uint32) {
	l, errno := p.place(mod, fd, ptr, n)
	if errno == errnoSuccess && !l.in.mount.write {
		return l, errnoRofs
	}
	return l, errno
}

func (p *program) pathCreateDirectory(_ context.Context, mod api.Module, a []uint64) uint32 {
	l, errno := p.changeable(mod, a[0], a[1], a[2])
	if errno != errnoSuccess {
		return errno
	}
	return p.files.did(l.in.dir.Mkdir(l.path, 0o777))
}

func (p *program) pathRemoveDirectory(_ context.Context, mod api.Module, a []uint64) uint32 {
	l, errno := p.changeable(mod, a[0], a[1], a[2])
	if errno != errnoSuccess {
		return errno
	}
	info, err := l.in.dir.Lstat(l.path)
	if err == nil && !info.IsDir() {
		return errnoNotdir
	}
	return p.remove(l, err)
}

func (p *program) pathUnlinkFile(_ context.Context, mod api.Module, a []uint64) uint32 {
	l, errno := p.changeable(mod, a[0], a[1], a[2])
	if errno != errnoSuccess {
		return errno
	}
	info, err := l.in.dir.Lstat(l.path)
	switch {
	case err == nil && info.IsDir():
		return errnoIsdir
	case err == nil && l.slash:
		return errnoNotdir
	}
	return p.remove(l, err)
}

// remove removes a file, a link or an empty directory. Whoever puts the one in the place of the other between the look and
// the removal loses that instead, within the same directory.
func (p *program) remove(l place, err error) uint32 {
	if err != nil {
		return errnoOf(err)
	}
	return p.files.did(l.in.dir.Remove(l.path))
}

func (p *program) pathRename(_ context.Context, mod api.Module, a []uint64) uint32 {
	from, errno := p.changeable(mod, a[0], a[1], a[2])
	if errno != errnoSuccess {
		return errno
	}
	to, errno := p.changeable(mod, a[3], a[4], a[5])
	if errno != errnoSuccess {
		return errno
	}
	info, err := from.in.dir.Lstat(from.path)
	switch {
	case err != nil:
		return errnoOf(err)
	case (from.slash || to.slash) && !info.IsDir():
		return errnoNotdir
	}
	root, oldName, newName, errno := common(from, to)
	if errno != errnoSuccess {
		return errno
	}
	return p.rename(root, info, oldName, newName)
}

// common returns the directory that two places have in common, with their paths from there.
func common(from, to place) (root *os.Root, oldName, newName string, errno uint32) {
	switch {
	case from.in == to.in:
		return from.in.dir, from.path, to.path, errnoSuccess
	case from.in.mount != to.in.mount || !from.in.stillThere() || !to.in.stillThere():
		return nil, "", "", errnoXdev
	}
	if oldName, newName = from.name(), to.name(); oldName == "" || newName == "" {
		return nil, "", "", errnoNametoolong
	}
	return from.in.mount.root, oldName, newName, errnoSuccess
}

// stillThere says whether an open file or directory is what its name below the mount stands for.
func (d *descriptor) stillThere() bool {
	if d.name == "" {
		return false
	}
	named, err := d.mount.root.Stat(d.name)
	if err != nil {
		return false
	}
	own, err := d.info()
	return err == nil && os.SameFile(named, own)
}

func (d *descriptor) info() (fs.FileInfo, error) {
	if d.file != nil {
		return d.file.Stat()
	}
	return d.dir.Stat(".")
}

// rename renames, also over an empty directory, which os.Root does not; that is two steps then.
func (p *program) rename(root *os.Root, info fs.FileInfo, oldName, newName string) uint32 {
	there, err := root.Lstat(newName)
	switch onto := err == nil && there.IsDir(); {
	case onto && !info.IsDir():
		return errnoIsdir
	case onto && os.SameFile(there, info):
		if err := root.Rename(oldName, newName); !errors.Is(err, fs.ErrExist) {
			return p.files.did(err)
		}
		return errnoSuccess // it is called that already
	case onto:
		if errno := p.files.did(root.Remove(newName)); errno != errnoSuccess {
			return errno
		}
	}
	return p.files.did(root.Rename(oldName, newName))
}

// pathReadlink shows where a link points, as it is written there: that is not a promise that it can be followed.
func (p *program) pathReadlink(_ context.Context, mod api.Module, a []uint64) uint32 {
	l, errno := p.place(mod, a[0], a[1], a[2])
	if errno != errnoSuccess {
		return errno
	}
	b, ok := guestBytes(mod, uint32(a[3]), uint32(a[4]))
	if _, there := guestBytes(mod, uint32(a[5]), 4); !ok || !there {
		return errnoFault
	}
	target, err := l.in.dir.Readlink(l.path)
	if err != nil {
		return errnoOf(err)
	}
	n := copy(b, target)
	return answer32(mod, a[5], uint32(n))
}

// pathLink is path_link, which would let a file be reached by a name elsewhere. It is refused after the same look at its
// arguments as everywhere.
func (p *program) pathLink(_ context.Context, mod api.Module, a []uint64) uint32 {
	if _, errno := p.changeable(mod, a[0], a[2], a[3]); errno != errnoSuccess {
		return errno
	}
	if _, errno := p.changeable(mod, a[4], a[5], a[6]); errno != errnoSuccess {
		return errno
	}
	return errnoPerm
}

// pathSymlink is path_symlink: a link could lead whoever else reads the directory out of it.
func (p *program) pathSymlink(_ context.Context, mod api.Module, a []uint64) uint32 {
	if _, errno := p.changeable(mod, a[2], a[3], a[4]); errno != errnoSuccess {
		return errno
	}
	return errnoPerm
}
