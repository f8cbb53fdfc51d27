//go:build !unix || solaris || illumos || aix

package boltdb

import "math"

// fileLimit is how long this process may make a file, in bytes.
func fileLimit() int64 { return math.MaxInt64 }
