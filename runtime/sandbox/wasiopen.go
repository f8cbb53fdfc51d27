package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"

	"github.com/tetratelabs/wazero/api"
)

// The flags of path_open.
const (
	openCreate    = 1 << 0
	openDirectory = 1 << 1
	openExclusive = 1 << 2
	openTruncate  = 1 << 3
	openAll       = openCreate | openDirectory | openExclusive | openTruncate
)

// opening is what path_open is asked for.
type opening struct {
	place
	follow                              bool
	create, exclusive, directory, empty bool
	read, write                         bool
	flags                               uint16 // of the descriptor
}

func (p *program) pathOpen(_ context.Context, mod api.Module, a []uint64) uint32 {
	l, errno := p.place(mod, a[0], a[2], a[3])
	if errno != errnoSuccess {
		return errno
	}
	oflags, rights, flags := uint32(a[4]), a[5], uint32(a[7])
	if _, ok := guestBytes(mod, uint32(a[8]), 4); !ok {
		return errnoFault
	}
	if oflags > openAll || flags > flagsAll || oflags&openCreate != 0 && oflags&openDirectory != 0 {
		return errnoInval
	}
	if p.files.full() {
		return errnoMfile
	}
	o := opening{
		place: l, follow: a[1]&followLinks != 0,
		create: oflags&openCreate != 0, exclusive: oflags&openExclusive != 0,
		directory: oflags&openDirectory != 0, empty: oflags&openTruncate != 0,
		read: rights&rightRead != 0, write: rights&rightWrite != 0, flags: uint16(flags),
	}
	if !o.read && !o.write { // a program that asks for no rights means what its flags need
		o.read, o.write = true, o.create || o.empty || flags&flagAppend != 0
	}
	d, errno := p.files.openAt(o)
	if errno != errnoSuccess {
		return errno
	}
	return answer(mod, a[8], binary.LittleEndian.AppendUint32(nil, p.files.add(d)))
}

// openAt opens or creates. What is there is looked at first, because the opening alone of a device or a pipe can do or wait
// for something, and once more when it is open. If it was changed in between, that is tried again a few times.
func (f *files) openAt(o opening) (*descriptor, uint32) {
	for range 8 {
		info, errno := o.stat(o.follow)
		var d *descriptor
		switch {
		case errno == errnoNoent && o.create:
			d, errno = f.createFile(o)
		case errno == errnoSuccess:
			d, errno = f.openExisting(o, info)
		}
		if errno != errnoAgain {
			return d, errno
		}
	}
	return nil, errnoAgain
}

func (f *files) openExisting(o opening, info fs.FileInfo) (*descriptor, uint32) {
	switch mode := info.Mode(); {
	case o.create && o.exclusive:
		return nil, errnoExist
	case mode&fs.ModeSymlink != 0:
		return nil, errnoLoop
	case mode.IsDir():
		return openDir(o, info)
	case o.directory:
		return nil, errnoNotdir
	case !mode.IsRegular():
		return nil, errnoPerm
	case (o.write || o.empty) && !o.in.mount.write:
		return nil, errnoRofs
	}
	file, err := o.in.dir.OpenFile(o.path, o.mode(), 0)
	if err != nil {
		return nil, errnoOf(err)
	}
	return f.opened(o, file, info)
}

// createFile makes a file that was not there. Without followLinks it is made only if there is still nothing, so that no link
// is followed that was put there meanwhile.
func (f *files) createFile(o opening) (*descriptor, uint32) {
	switch {
	case !o.in.mount.write:
		return nil, errnoRofs
	case o.slash:
		return nil, errnoIsdir
	}
	mode := o.mode() | os.O_CREATE
	if o.exclusive || !o.follow {
		mode |= os.O_EXCL
	}
	file, err := o.in.dir.OpenFile(o.path, mode, 0o666)
	switch {
	case errors.Is(err, fs.ErrExist) && !o.exclusive:
		return nil, errnoAgain
	case err != nil:
		return nil, errnoOf(err)
	}
	f.changed = true
	return f.opened(o, file, nil)
}

// mode returns how a file is opened. To empty one takes the right to write, which the program may not have asked for; that
// is done once it is known what was opened, and so is setting it to append.
func (o opening) mode() int {
	mode := os.O_RDONLY
	switch {
	case o.read && (o.write || o.empty):
		mode = os.O_RDWR
	case o.write || o.empty:
		mode = os.O_WRONLY
	}
	if o.flags&flagsSync != 0 {
		mode |= os.O_SYNC
	}
	return mode | openFlags
}

// opened makes a descriptor of a file, if it is what was looked at before.
func (f *files) opened(o opening, file *os.File, before fs.FileInfo) (*descriptor, uint32) {
	info, err := file.Stat()
	errno := errnoOf(err)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		errno = errnoPerm
	case before != nil && !o.follow && !os.SameFile(before, info):
		errno = errnoAgain
	case o.empty && info.Size() > 0:
		errno = f.did(file.Truncate(0))
	}
	if errno == errnoSuccess && o.flags&flagAppend != 0 {
		errno = errnoOf(setAppend(file, true))
	}
	if errno != errnoSuccess {
		_ = file.Close()
		return nil, errno
	}
	return &descriptor{file: file, read: o.read, write: o.write, flags: o.flags, mount: o.in.mount, name: o.name()}, errnoSuccess
}

// openDir opens a directory. The dot at the end lets what is put in its place meanwhile be opened as a directory only, so
// that a pipe cannot make the host wait.
func openDir(o opening, before fs.FileInfo) (*descriptor, uint32) {
	if o.create || o.empty || o.write {
		return nil, errnoIsdir
	}
	root, err := o.in.dir.OpenRoot(o.path + "/.")
	if err != nil {
		return nil, errnoOf(err)
	}
	if now, err := root.Stat("."); err != nil || !o.follow && !o.slash && !os.SameFile(before, now) {
		_ = root.Close()
		return nil, errnoAgain
	}
	return &descriptor{dir: root, mount: o.in.mount, name: o.name()}, errnoSuccess
}
