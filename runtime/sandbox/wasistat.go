package sandbox

import (
	"context"
	"encoding/binary"
	"io/fs"
	"math"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// The flags of the functions that set times.
const (
	setAccessed    = 1 << 0
	setAccessedNow = 1 << 1
	setModified    = 1 << 2
	setModifiedNow = 1 << 3
	setAll         = setAccessed | setAccessedNow | setModified | setModifiedNow
)

// filestat writes what is known of a file, its times included: they are the host's, not the call's clock's.
func filestat(info fs.FileInfo) []byte {
	st := sys.NewStat_t(info)
	b := make([]byte, 64)
	binary.LittleEndian.PutUint64(b, st.Dev)
	binary.LittleEndian.PutUint64(b[8:], st.Ino)
	b[16] = typeOf(st.Mode)
	binary.LittleEndian.PutUint64(b[24:], st.Nlink)
	binary.LittleEndian.PutUint64(b[32:], uint64(st.Size))
	binary.LittleEndian.PutUint64(b[40:], uint64(st.Atim))
	binary.LittleEndian.PutUint64(b[48:], uint64(st.Mtim))
	binary.LittleEndian.PutUint64(b[56:], uint64(st.Ctim))
	return b
}

func (p *program) fdFilestatGet(_ context.Context, mod api.Module, a []uint64) uint32 {
	d := p.files.at(a[0])
	if d == nil {
		return errnoBadf
	}
	if d.stream != noStream {
		b := make([]byte, 64)
		b[24] = 1
		return answer(mod, a[1], b)
	}
	info, err := d.info()
	if err != nil {
		return errnoOf(err)
	}
	return answer(mod, a[1], filestat(info))
}

func (p *program) pathFilestatGet(_ context.Context, mod api.Module, a []uint64) uint32 {
	l, errno := p.place(mod, a[0], a[2], a[3])
	if errno != errnoSuccess {
		return errno
	}
	info, errno := l.stat(a[1]&followLinks != 0)
	if errno != errnoSuccess {
		return errno
	}
	return answer(mod, a[4], filestat(info))
}

// times returns the times to set; zero ones stay as they are. Now is what the call's clock shows.
func (c *call) times(accessed, modified uint64, flags uint32) (at, mt time.Time, errno uint32) {
	if flags > setAll || flags&(setAccessed|setAccessedNow) == setAccessed|setAccessedNow || flags&(setModified|setModifiedNow) == setModified|setModifiedNow {
		return at, mt, errnoInval
	}
	pick := func(given uint64, set, now uint32) (t time.Time) {
		switch {
		case flags&now != 0:
			t = time.Unix(0, c.clock.wall)
		case flags&set != 0 && given > math.MaxInt64:
			errno = errnoInval
		case flags&set != 0:
			t = time.Unix(0, int64(given))
		}
		return t
	}
	return pick(accessed, setAccessed, setAccessedNow), pick(modified, setModified, setModifiedNow), errno
}

// fdFilestatSetTimes goes through the name by which a file was opened, if it is still that file's: there is no portable other
// way to it.
func (c *call) fdFilestatSetTimes(_ context.Context, _ api.Module, a []uint64) uint32 {
	d := c.program.files.at(a[0])
	at, mt, errno := c.times(a[1], a[2], uint32(a[3]))
	switch {
	case d == nil || d.stream != noStream:
		return errnoBadf
	case errno != errnoSuccess:
		return errno
	case !d.mount.write:
		return errnoRofs
	case d.dir != nil:
		return c.program.files.did(d.dir.Chtimes(".", at, mt))
	case !d.stillThere():
		return errnoNotsup
	}
	return c.program.files.did(d.mount.root.Chtimes(d.name, at, mt))
}

func (c *call) pathFilestatSetTimes(_ context.Context, mod api.Module, a []uint64) uint32 {
	l, errno := c.program.changeable(mod, a[0], a[2], a[3])
	if errno != errnoSuccess {
		return errno
	}
	at, mt, errno := c.times(a[4], a[5], uint32(a[6]))
	if errno != errnoSuccess {
		return errno
	}
	info, errno := l.stat(a[1]&followLinks != 0)
	switch {
	case errno != errnoSuccess:
		return errno
	case info.Mode()&fs.ModeSymlink != 0:
		return errnoNotsup
	}
	return c.program.files.did(l.in.dir.Chtimes(l.path, at, mt))
}
