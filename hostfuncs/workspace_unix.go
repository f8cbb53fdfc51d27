//go:build unix

package hostfuncs

import (
	"os"
	"syscall"
)

// openFlags keep the opening of a pipe that is in a file's place from waiting for a writer.
const openFlags = syscall.O_NONBLOCK

// syncDir makes sure that the names in a directory survive a crash.
func syncDir(dir *os.File) error { return dir.Sync() }
