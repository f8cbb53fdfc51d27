//go:build unix

package toolbox_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/wrun-dev/wrun/internal/grantfile"
)

func TestFilesAreTheUsersAloneWhateverTheUmask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir, b := config(t)
	add(t, b, record("a", "1"), "1", nil)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %04o", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestABoxThatOthersCanWriteIsNotUsed(t *testing.T) {
	dir, b := config(t)
	one := record("a", "1")
	add(t, b, one, "1", nil)
	if err := os.Chmod(filepath.Join(dir, "tools"), 0o777); err != nil {
		t.Fatal(err)
	}
	var untrusted *grantfile.UntrustedError
	if _, err := b.List(); !errors.As(err, &untrusted) {
		t.Errorf("list: %v", err)
	}
	if err := b.Add(record("b", "2"), []byte("2"), nil); !errors.As(err, &untrusted) {
		t.Errorf("add: %v", err)
	}
	if err := b.Remove(one); !errors.As(err, &untrusted) {
		t.Errorf("remove: %v", err)
	}
}
