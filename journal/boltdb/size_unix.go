//go:build unix

package boltdb

import (
	"os"
	"syscall"
)

// taken is how many bytes a file takes: a journal's file is longer than what is in it.
func taken(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(s.Blocks) * 512
	}
	return info.Size()
}
