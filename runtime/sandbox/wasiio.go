package sandbox

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/tetratelabs/wazero/api"
)

// What one call of a function reads or writes at most. Doing less than was asked is in order, and a guest cannot hold up the
// host by asking for very much.
const (
	maxBuffers  = 1024
	maxTransfer = 16 << 20 // bytes
)

// transfer does something with each of the guest's buffers until one is not used up, and writes how many bytes it was.
func transfer(mod api.Module, vector, n, result uint64, do func(b []byte) (int, uint32)) uint32 {
	count := min(uint32(n), maxBuffers)
	list, ok := bufferList(mod, vector, uint64(count))
	if _, there := guestBytes(mod, uint32(result), 4); !ok || !there {
		return errnoFault
	}
	total := 0
	for ; len(list) > 0 && total < maxTransfer; list = list[bufferSize:] {
		b, ok := buffer(mod, list)
		if !ok {
			return errnoFault
		}
		if len(b) == 0 {
			continue
		}
		b = b[:min(len(b), maxTransfer-total)]
		done, errno := do(b)
		if total += done; errno != errnoSuccess && total == 0 {
			return errno
		}
		if done < len(b) {
			break
		}
	}
	return answer32(mod, result, uint32(total))
}

// ioErrno is errnoOf for reading, where the end is no error.
func ioErrno(err error) uint32 {
	if errors.Is(err, io.EOF) {
		return errnoSuccess
	}
	return errnoOf(err)
}

func (p *program) fdRead(_ context.Context, mod api.Module, a []uint64) uint32 {
	d := p.files.at(a[0])
	switch {
	case d == nil:
		return errnoBadf
	case d.dir != nil:
		return errnoIsdir
	case d.stream == stdin:
		return transfer(mod, a[1], a[2], a[3], func(b []byte) (int, uint32) {
			n := copy(b, p.input)
			p.input = p.input[n:]
			return n, errnoSuccess
		})
	case !d.read:
		return errnoBadf
	}
	return transfer(mod, a[1], a[2], a[3], func(b []byte) (int, uint32) {
		n, err := d.file.Read(b)
		return n, ioErrno(err)
	})
}

func (p *program) fdPread(_ context.Context, mod api.Module, a []uint64) uint32 {
	d, at, errno := p.positioned(a[0], a[3])
	switch {
	case errno != errnoSuccess:
		return errno
	case !d.read:
		return errnoBadf
	}
	return transfer(mod, a[1], a[2], a[4], func(b []byte) (int, uint32) {
		n, err := d.file.ReadAt(b, at)
		at += int64(n)
		return n, ioErrno(err)
	})
}

func (c *call) fdWrite(ctx context.Context, mod api.Module, a []uint64) uint32 {
	d := c.program.files.at(a[0])
	switch {
	case d == nil:
		return errnoBadf
	case d.dir != nil:
		return errnoIsdir
	case d.stream == stdout:
		return transfer(mod, a[1], a[2], a[3], func(b []byte) (int, uint32) { return c.writeOutput(ctx, b) })
	case d.stream == stderr:
		return transfer(mod, a[1], a[2], a[3], func(b []byte) (int, uint32) {
			c.stdio.write(b)
			return len(b), errnoSuccess
		})
	case !d.write:
		return errnoBadf
	}
	return transfer(mod, a[1], a[2], a[3], func(b []byte) (int, uint32) {
		if appendNeedsSeek && d.flags&flagAppend != 0 {
			if _, err := d.file.Seek(0, io.SeekEnd); err != nil {
				return 0, errnoOf(err)
			}
		}
		n, err := d.file.Write(b)
		return c.program.files.wrote(n), errnoOf(err)
	})
}

// writeOutput appends to the reply. What does not fit is refused, and then the outcome is limit_output however the program
// goes on: a reply is never cut.
func (c *call) writeOutput(ctx context.Context, b []byte) (int, uint32) {
	if c.outputRefused || len(b) > c.outputMax-len(c.output) {
		c.outputRefused = true
		return 0, errnoNospc
	}
	c.keep(ctx, len(b))
	c.output = append(c.output, b...)
	return len(b), errnoSuccess
}

func (f *files) wrote(n int) int {
	f.changed = f.changed || n > 0
	return n
}

func (p *program) fdPwrite(_ context.Context, mod api.Module, a []uint64) uint32 {
	d, at, errno := p.positioned(a[0], a[3])
	switch {
	case errno != errnoSuccess:
		return errno
	case !d.write:
		return errnoBadf
	}
	return transfer(mod, a[1], a[2], a[4], func(b []byte) (int, uint32) {
		n, err := d.file.WriteAt(b, at)
		at += int64(n)
		return p.files.wrote(n), errnoOf(err)
	})
}

// positioned returns a file and a position in it.
func (p *program) positioned(fd, offset uint64) (*descriptor, int64, uint32) {
	d := p.files.at(fd)
	switch {
	case d == nil:
		return nil, 0, errnoBadf
	case d.dir != nil:
		return nil, 0, errnoIsdir
	case d.file == nil:
		return nil, 0, errnoSpipe
	case offset > math.MaxInt64-maxTransfer:
		return nil, 0, errnoInval
	}
	return d, int64(offset), errnoSuccess
}

func (p *program) fdSeek(_ context.Context, mod api.Module, a []uint64) uint32 {
	return p.seek(mod, a[0], int64(a[1]), uint32(a[2]), a[3])
}

func (p *program) fdTell(_ context.Context, mod api.Module, a []uint64) uint32 {
	return p.seek(mod, a[0], 0, io.SeekCurrent, a[1])
}

func (p *program) seek(mod api.Module, fd uint64, offset int64, whence uint32, result uint64) uint32 {
	d, _, errno := p.positioned(fd, 0)
	if errno != errnoSuccess {
		return errno
	}
	if whence > io.SeekEnd {
		return errnoInval
	}
	if _, ok := guestBytes(mod, uint32(result), 8); !ok {
		return errnoFault
	}
	at, err := d.file.Seek(offset, int(whence))
	if err != nil {
		return errnoOf(err)
	}
	return answer64(mod, result, uint64(at))
}

// fdSync is fd_sync and fd_datasync. A directory has nothing that was not passed on.
func (p *program) fdSync(_ context.Context, _ api.Module, a []uint64) uint32 {
	d := p.files.at(a[0])
	switch {
	case d == nil:
		return errnoBadf
	case d.file == nil || !d.write:
		return errnoSuccess
	}
	return errnoOf(d.file.Sync())
}

func (p *program) fdFilestatSetSize(_ context.Context, _ api.Module, a []uint64) uint32 {
	d, size, errno := p.positioned(a[0], a[1])
	switch {
	case errno != errnoSuccess:
		return errno
	case !d.write:
		return errnoBadf
	}
	return p.files.did(d.file.Truncate(size))
}

// fdAllocate makes a file long enough. No blocks are set aside for it.
func (p *program) fdAllocate(_ context.Context, _ api.Module, a []uint64) uint32 {
	d, at, errno := p.positioned(a[0], a[1])
	switch {
	case errno != errnoSuccess:
		return errno
	case !d.write:
		return errnoBadf
	case a[2] == 0:
		return errnoInval
	case a[2] > uint64(math.MaxInt64-at):
		return errnoFbig
	}
	info, err := d.file.Stat()
	if end := at + int64(a[2]); err == nil && end > info.Size() {
		return p.files.did(d.file.Truncate(end))
	}
	return errnoOf(err)
}

// did notes a change, unless it failed.
func (f *files) did(err error) uint32 {
	f.changed = f.changed || err == nil
	return errnoOf(err)
}

// poll says how much can be read from a descriptor and whether that is all, or why it cannot be waited for.
func (p *program) poll(fd uint32, write bool) (bytes uint64, hangup bool, errno uint16) {
	d := p.files.at(uint64(fd))
	switch {
	case d == nil || d.dir != nil:
		return 0, false, errnoBadf
	case write && (d.write || d.stream == stdout || d.stream == stderr):
		return 0, false, errnoSuccess
	case !write && d.stream == stdin:
		return uint64(len(p.input)), len(p.input) == 0, errnoSuccess
	case !write && d.read:
		return d.left(), false, errnoSuccess
	}
	return 0, false, errnoBadf
}

// left returns how much of a file is behind its position.
func (d *descriptor) left() uint64 {
	info, err := d.file.Stat()
	at, seekErr := d.file.Seek(0, io.SeekCurrent)
	if err != nil || seekErr != nil {
		return 0
	}
	return uint64(max(info.Size()-at, 0))
}
