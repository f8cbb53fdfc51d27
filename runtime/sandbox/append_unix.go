//go:build unix

package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// appendNeedsSeek says that writing to the end is ours to do, which is not one step then.
const appendNeedsSeek = false

// setAppend sets whether every write goes to the end of the file. The system sees to it, so that writers do not write over
// each other.
func setAppend(f *os.File, on bool) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		if err != nil {
			failed = err
			return
		}
		if flags &^= unix.O_APPEND; on {
			flags |= unix.O_APPEND
		}
		_, failed = unix.FcntlInt(fd, unix.F_SETFL, flags)
	})
	if err != nil {
		return err
	}
	return failed
}
