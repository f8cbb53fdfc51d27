//go:build unix

package sandbox

import "syscall"

// openFlags keep the opening of a pipe that has taken the file's place from waiting for a writer.
const openFlags = syscall.O_NONBLOCK
