//go:build !unix

package boltdb

import "os"

// taken is how many bytes a file takes.
func taken(info os.FileInfo) int64 { return info.Size() }
