//go:build unix && !solaris && !illumos && !aix

package main

import "golang.org/x/sys/unix"

// writable says whether this user may write to a file or a directory.
func writable(path string) bool { return unix.Access(path, unix.W_OK) == nil }

// processMemory is how much memory the system lets this process have, and the command that says so; 0 for as much as there is.
func processMemory() (limit uint64, what string) {
	for _, r := range []struct {
		resource int
		what     string
	}{{unix.RLIMIT_DATA, "ulimit -d"}, {unix.RLIMIT_AS, "ulimit -v"}} {
		var l unix.Rlimit
		if unix.Getrlimit(r.resource, &l) == nil && l.Cur < 1<<60 && (limit == 0 || uint64(l.Cur) < limit) {
			limit, what = uint64(l.Cur), r.what
		}
	}
	return limit, what
}
