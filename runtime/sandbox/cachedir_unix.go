//go:build unix

package sandbox

import (
	"io/fs"
	"os"
	"syscall"
)

func checkPrivate(dir string, info fs.FileInfo) error {
	if !info.IsDir() {
		return refuseCache(dir, info, "it is not a directory")
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return refuseCache(dir, info, "it belongs to another user")
	}
	if info.Mode().Perm()&0o077 != 0 {
		return refuseCache(dir, info, "others may enter it")
	}
	return nil
}
