//go:build unix

package grantfile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func trust(path string, info fs.FileInfo) error {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return &UntrustedError{Path: path, Why: fmt.Sprintf("belongs to another user (%d), who could grant what they like; what grants has to be the user's own", s.Uid)}
	}
	if info.Mode().Perm()&0o022 != 0 {
		return &UntrustedError{Path: path, Why: fmt.Sprintf("can be written by others (mode %04o), who could grant what they like", info.Mode().Perm()), Mode: true}
	}
	return nil
}
