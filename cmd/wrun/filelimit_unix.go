//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreFileLimit leaves it to errors to say that a file may not grow (ulimit -f): the signal would end the process in the middle
// of what it does.
func ignoreFileLimit() { signal.Ignore(syscall.SIGXFSZ) }
