//go:build unix

package boltdb_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/wrun-dev/wrun/journal/boltdb"
)

// Who may use a journal may use it when somebody else, root perhaps, has compacted it.
func TestACompactedJournalBelongsToWhoItBelongedTo(t *testing.T) {
	j := fill(t, t.TempDir(), 2)
	if err := os.Chmod(j.Path(), 0o640); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 12345, 12346
		if err := os.Chown(j.Path(), uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.Compact(t.Context(), boltdb.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); info.Mode().Perm() != 0o640 || int(s.Uid) != uid || int(s.Gid) != gid {
		t.Errorf("it has mode %v and belongs to %d:%d, want 0640 and %d:%d", info.Mode(), s.Uid, s.Gid, uid, gid)
	}
}
