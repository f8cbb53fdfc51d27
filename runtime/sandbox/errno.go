package sandbox

import (
	"errors"
	"io/fs"
	"syscall"
)

// The errors of WASI that are answered here.
const (
	errnoSuccess     = 0
	errnoAcces       = 2
	errnoAgain       = 6
	errnoBadf        = 8
	errnoBusy        = 10
	errnoExist       = 20
	errnoFault       = 21
	errnoFbig        = 22
	errnoInval       = 28
	errnoIO          = 29
	errnoIsdir       = 31
	errnoLoop        = 32
	errnoMfile       = 33
	errnoNametoolong = 37
	errnoNoent       = 44
	errnoNospc       = 51
	errnoNosys       = 52
	errnoNotdir      = 54
	errnoNotempty    = 55
	errnoNotsock     = 57
	errnoNotsup      = 58
	errnoPerm        = 63
	errnoRofs        = 69
	errnoSpipe       = 70
	errnoTxtbsy      = 74
	errnoXdev        = 75
)

// errnos are the errors of the host with a counterpart in WASI; the first that fits counts. The names of the syscall package
// come first, since what they say is narrower.
var errnos = []struct {
	err   error
	errno uint32
}{
	{syscall.ENOTEMPTY, errnoNotempty},
	{syscall.EISDIR, errnoIsdir},
	{syscall.ENOTDIR, errnoNotdir},
	{syscall.ELOOP, errnoLoop},
	{syscall.ENAMETOOLONG, errnoNametoolong},
	{syscall.ENOSPC, errnoNospc},
	{syscall.EDQUOT, errnoNospc},
	{syscall.EFBIG, errnoFbig},
	{syscall.EROFS, errnoRofs},
	{syscall.EXDEV, errnoXdev},
	{syscall.EMFILE, errnoMfile},
	{syscall.ENFILE, errnoMfile},
	{syscall.EBUSY, errnoBusy},
	{syscall.ETXTBSY, errnoTxtbsy},
	{syscall.EAGAIN, errnoAgain},
	{syscall.EINVAL, errnoInval},
	{syscall.EBADF, errnoBadf},
	{syscall.EPERM, errnoPerm},
	{fs.ErrNotExist, errnoNoent},
	{fs.ErrExist, errnoExist},
	{fs.ErrPermission, errnoAcces},
	{fs.ErrClosed, errnoBadf},
	{errors.ErrUnsupported, errnoNotsup},
}

// errnoOf returns an error of the file system as a guest is told it. It is a number: nothing of the host's paths is in it.
func errnoOf(err error) uint32 {
	if err == nil {
		return errnoSuccess
	}
	for _, e := range errnos {
		if errors.Is(err, e.err) {
			return e.errno
		}
	}
	var system syscall.Errno
	if errors.As(err, &system) {
		return errnoIO
	}
	return errnoPerm // os.Root's own word: the path leaves the directory
}
