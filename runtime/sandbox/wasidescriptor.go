package sandbox

import (
	"context"
	"encoding/binary"
	"io/fs"

	"github.com/tetratelabs/wazero/api"
)

// The types of files in WASI.
const (
	typeUnknown   = 0
	typeBlock     = 1
	typeCharacter = 2
	typeDirectory = 3
	typeRegular   = 4
	typeLink      = 7
)

// The flags of a descriptor.
const (
	flagAppend   = 1 << 0
	flagDsync    = 1 << 1
	flagNonblock = 1 << 2
	flagRsync    = 1 << 3
	flagSync     = 1 << 4

	flagsSync = flagDsync | flagRsync | flagSync
	flagsAll  = flagAppend | flagNonblock | flagsSync
)

// The rights of a descriptor. Only those to read and to write decide anything; the others are shown, because there are
// libraries that look for them, in a directory always for all of what can be asked of one.
const (
	rightRead  = 1 << 1
	rightWrite = 1 << 6
	rightPoll  = 1 << 27

	rightsOfFile      = 1<<2 | 1<<3 | 1<<5 | 1<<7 | 1<<21 | rightPoll // seek, set_flags, tell, advise, filestat_get
	rightsOfFileWrite = 1<<0 | 1<<4 | 1<<8 | 1<<22 | 1<<23            // datasync, sync, allocate, set_size, set_times
	rightsOfDir       = 0b111_1011_0111_1111_1110_0000_0000           // all path functions but set_size, readdir, filestat_get, set_times
	rightsInDir       = rightsOfDir | rightsOfFile | rightsOfFileWrite | rightRead | rightWrite
)

func typeOf(mode fs.FileMode) byte {
	switch {
	case mode.IsRegular():
		return typeRegular
	case mode.IsDir():
		return typeDirectory
	case mode&fs.ModeSymlink != 0:
		return typeLink
	case mode&fs.ModeCharDevice != 0:
		return typeCharacter
	case mode&fs.ModeDevice != 0:
		return typeBlock
	}
	return typeUnknown
}

// rights returns what may be done with a descriptor, and with what is opened in it.
func (d *descriptor) rights() (base, inheriting uint64) {
	switch {
	case d.file != nil:
		base = rightsOfFile
		if d.read {
			base |= rightRead
		}
		if d.write {
			base |= rightWrite | rightsOfFileWrite
		}
		return base, 0
	case d.dir != nil:
		return rightsOfDir, rightsInDir
	case d.stream == stdin:
		return rightRead | rightPoll, 0
	}
	return rightWrite | rightPoll, 0
}

// kind is the type of an open descriptor. A stream is of none, so that no program takes it for a terminal.
func (d *descriptor) kind() byte {
	switch {
	case d.file != nil:
		return typeRegular
	case d.dir != nil:
		return typeDirectory
	}
	return typeUnknown
}

func (p *program) fdClose(_ context.Context, _ api.Module, a []uint64) uint32 {
	d := p.files.at(a[0])
	if d == nil {
		return errnoBadf
	}
	d.close()
	p.files.open[uint32(a[0])] = nil
	return errnoSuccess
}

// fdRenumber moves a descriptor to the number of another, which is closed. Any may be moved and any be replaced, but a number
// that is free is no target: else a guest could make the table as long as it likes.
func (p *program) fdRenumber(_ context.Context, _ api.Module, a []uint64) uint32 {
	from, to := p.files.at(a[0]), p.files.at(a[1])
	if from == nil || to == nil {
		return errnoBadf
	}
	if from == to {
		return errnoSuccess
	}
	to.close()
	p.files.open[uint32(a[1])], p.files.open[uint32(a[0])] = from, nil
	return errnoSuccess
}

func (p *program) fdFdstatGet(_ context.Context, mod api.Module, a []uint64) uint32 {
	d := p.files.at(a[0])
	if d == nil {
		return errnoBadf
	}
	b := make([]byte, 24)
	b[0] = d.kind()
	binary.LittleEndian.PutUint16(b[2:], d.flags)
	base, inheriting := d.rights()
	binary.LittleEndian.PutUint64(b[8:], base)
	binary.LittleEndian.PutUint64(b[16:], inheriting)
	return answer(mod, a[1], b)
}

// fdFdstatSetFlags changes whether a file is appended to. What was opened to be synchronous stays so.
func (p *program) fdFdstatSetFlags(_ context.Context, _ api.Module, a []uint64) uint32 {
	d, flags := p.files.at(a[0]), uint16(a[1])
	switch {
	case d == nil:
		return errnoBadf
	case uint32(a[1]) > flagsAll:
		return errnoInval
	case d.dir != nil:
		return errnoIsdir
	case flags&flagsSync != d.flags&flagsSync && flags&flagsSync != 0:
		return errnoNotsup
	}
	if d.file != nil && (d.flags^flags)&flagAppend != 0 {
		if err := setAppend(d.file, flags&flagAppend != 0); err != nil {
			return errnoOf(err)
		}
	}
	d.flags = flags&^flagsSync | d.flags&flagsSync
	return errnoSuccess
}

func (p *program) fdPrestatGet(_ context.Context, mod api.Module, a []uint64) uint32 {
	d := p.files.at(a[0])
	if d == nil || d.preopen == "" {
		return errnoBadf
	}
	return answer64(mod, a[1], uint64(len(d.preopen))<<32)
}

func (p *program) fdPrestatDirName(_ context.Context, mod api.Module, a []uint64) uint32 {
	d := p.files.at(a[0])
	switch {
	case d == nil || d.preopen == "":
		return errnoBadf
	case uint64(uint32(a[2])) < uint64(len(d.preopen)):
		return errnoNametoolong
	}
	return answer(mod, a[1], []byte(d.preopen))
}

// fdAdvise takes advice on files and does not need it.
func (p *program) fdAdvise(_ context.Context, _ api.Module, a []uint64) uint32 {
	const advices = 6
	switch d := p.files.at(a[0]); {
	case d == nil || d.dir != nil:
		return errnoBadf
	case d.file == nil:
		return errnoSpipe
	case uint32(a[3]) >= advices:
		return errnoInval
	}
	return errnoSuccess
}

// noSocket answers for functions of sockets, of which there are none.
func (p *program) noSocket(_ context.Context, _ api.Module, a []uint64) uint32 {
	if p.files.at(a[0]) == nil {
		return errnoBadf
	}
	return errnoNotsock
}
