//go:build !linux && !darwin && !windows

package boltdb

import "os"

// networkFS cannot tell on this operating system.
func networkFS(*os.File) string { return "" }

func space(*os.File) (uint64, bool) { return 0, false }
