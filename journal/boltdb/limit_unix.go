//go:build unix && !solaris && !illumos && !aix

package boltdb

import (
	"math"

	"golang.org/x/sys/unix"
)

// fileLimit is how long this process may make a file, in bytes; math.MaxInt64 where nobody says.
func fileLimit() int64 {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &l) != nil || uint64(l.Cur) > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(l.Cur)
}
