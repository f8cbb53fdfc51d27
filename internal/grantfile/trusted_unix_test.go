//go:build unix

package grantfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wrun-dev/wrun/internal/grantfile"
)

func TestAFileThatOthersCouldHaveWrittenIsRefused(t *testing.T) {
	for _, c := range []struct {
		name      string
		file, dir os.FileMode
		owner     int // -1 leaves it
		why       string
	}{
		{"the user's own", 0o600, 0o700, -1, ""},
		{"read by others", 0o644, 0o755, -1, ""},
		{"written by the group", 0o620, 0o700, -1, "grants.yaml can be written by others (mode 0620)"},
		{"written by all", 0o602, 0o700, -1, "can be written by others (mode 0602)"},
		{"in a directory of the group", 0o600, 0o770, -1, "config can be written by others (mode 0770)"},
		{"in a directory of all", 0o600, 0o1777, -1, "can be written by others (mode 0777)"},
		{"of another user", 0o600, 0o700, 12345, "grants.yaml belongs to another user (12345)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "config")
			path := filepath.Join(dir, "grants.yaml")
			mustDo(t, os.Mkdir(dir, 0o700), os.WriteFile(path, []byte("{}"), 0o600), os.Chmod(path, c.file))
			if c.owner >= 0 {
				if err := os.Chown(path, c.owner, -1); err != nil {
					t.Skip("only root can give a file away")
				}
			}
			mustDo(t, os.Chmod(dir, c.dir))
			_, err := grantfile.ReadTrusted(path)
			var untrusted *grantfile.UntrustedError
			if c.why == "" && err != nil || c.why != "" && (!errors.As(err, &untrusted) || !strings.Contains(err.Error(), c.why)) {
				t.Errorf("got %v, want %q", err, c.why)
			}
		})
	}
}

func TestOnlyARegularFileIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config")
	fifo := filepath.Join(dir, "fifo")
	mustDo(t, os.Mkdir(dir, 0o700), syscall.Mkfifo(fifo, 0o600))
	for path, want := range map[string]string{fifo: "is not a regular file", dir: "is not a regular file"} {
		if _, err := grantfile.ReadTrusted(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	if _, err := grantfile.ReadTrusted(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
}

func mustDo(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}
