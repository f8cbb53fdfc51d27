package sandbox

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

const (
	direntSize = 24
	// listingStep is how many names of a directory are read and kept at a time.
	listingStep = 128
)

// listing is how far a directory has been read. The names before the position are gone: a program that goes back makes the
// directory be read from its beginning.
type listing struct {
	file  *os.File
	names []string // those from next on that were read
	next  uint64   // the place of the first of them, . and .. not counted
	end   bool     // there are no more behind them
}

func (l *listing) close() {
	if l.file != nil {
		_ = l.file.Close()
	}
	*l = listing{}
}

// rewind begins again.
func (l *listing) rewind(dir *os.Root) error {
	l.close()
	var err error
	l.file, err = dir.Open(".")
	return err
}

// seek goes to a place, or to the end when there is none such.
func (l *listing) seek(ctx context.Context, dir *os.Root, place uint64) error {
	if l.file == nil || place < l.next || place == 0 {
		if err := l.rewind(dir); err != nil {
			return err
		}
	}
	for l.next < place {
		if ok, err := l.fill(ctx); !ok {
			return err
		}
		skip := min(place-l.next, uint64(len(l.names)))
		l.names, l.next = l.names[skip:], l.next+skip
	}
	return nil
}

// fill sees to it that there is a name, unless the end was reached.
func (l *listing) fill(ctx context.Context) (bool, error) {
	if len(l.names) > 0 || l.end {
		return len(l.names) > 0, nil
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	names, err := l.file.Readdirnames(listingStep)
	if errors.Is(err, io.EOF) {
		l.end, err = true, nil
	}
	l.names = names
	return len(names) > 0, err
}

// fdReaddir fills the guest's buffer with entries. One that does not fit is cut off: so the guest learns that there are more.
func (c *call) fdReaddir(ctx context.Context, mod api.Module, a []uint64) uint32 {
	d := c.program.files.at(a[0])
	switch {
	case d == nil || d.dir == nil:
		return errnoBadf
	case uint32(a[2]) < direntSize:
		return errnoInval
	}
	buf, ok := guestBytes(mod, uint32(a[1]), uint32(a[2]))
	if _, there := guestBytes(mod, uint32(a[4]), 4); !ok || !there {
		return errnoFault
	}
	used, err := d.list(ctx, buf, a[3])
	switch {
	case ctx.Err() != nil:
		c.end(context.Cause(ctx))
	case err != nil:
		return errnoOf(err)
	}
	return answer32(mod, a[4], uint32(used))
}

// list writes the entries from a place on, of which 0 and 1 are the directory itself and the one above.
func (d *descriptor) list(ctx context.Context, buf []byte, place uint64) (used int, err error) {
	if place == 0 {
		d.listing.close()
	}
	for ; place < 2 && used < len(buf); place++ {
		used += putDirent(buf[used:], place+1, d.inode(place), typeDirectory, ".."[:place+1])
	}
	if used == len(buf) {
		return used, nil
	}
	if err := d.listing.seek(ctx, d.dir, place-2); err != nil {
		return 0, err
	}
	for used < len(buf) {
		if ok, err := d.listing.fill(ctx); !ok {
			return used, err
		}
		name := d.listing.names[0]
		info, err := d.dir.Lstat(name)
		kind, ino := byte(typeUnknown), uint64(0)
		if err == nil {
			kind, ino = typeOf(info.Mode()), inodeOf(info)
		}
		n := putDirent(buf[used:], place+1, ino, kind, name)
		if used += n; n < direntSize+len(name) {
			return used, nil // it comes again
		}
		d.listing.names, d.listing.next, place = d.listing.names[1:], d.listing.next+1, place+1
	}
	return used, nil
}

// inode returns the number of the directory itself, at place 0; that of the one above is not told.
func (d *descriptor) inode(place uint64) uint64 {
	if place > 0 {
		return 0
	}
	info, err := d.info()
	if err != nil {
		return 0
	}
	return inodeOf(info)
}

func inodeOf(info fs.FileInfo) uint64 {
	return sys.NewStat_t(info).Ino
}

// putDirent writes as much of an entry as there is room for.
func putDirent(buf []byte, next, ino uint64, kind byte, name string) int {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, direntSize+len(name)), next)
	b = binary.LittleEndian.AppendUint64(b, ino)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	b = append(b, kind, 0, 0, 0)
	return copy(buf, append(b, name...))
}
