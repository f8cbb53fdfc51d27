//go:build !linux

package boltdb

// stopped cannot tell on this operating system.
func stopped(int) bool { return false }
