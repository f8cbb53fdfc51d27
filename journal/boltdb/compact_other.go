//go:build !unix

package boltdb

import "os"

// likeness gives a file the mode of another one.
func likeness(path string, of os.FileInfo) error { return os.Chmod(path, of.Mode().Perm()) }
