//go:build unix

package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// hold takes the lock of a journal as a process does that was stopped while it wrote, until the script ends.
func hold(ts *testscript.TestScript, lock string) {
	f, err := os.OpenFile(lock, os.O_RDWR, 0)
	ts.Check(err)
	ts.Check(unix.Flock(int(f.Fd()), unix.LOCK_EX))
	ts.Defer(func() { f.Close() })
}
