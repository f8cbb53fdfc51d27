package boltdb_test

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// What is at the journal's place may be anything. Nothing of it is waited for.
func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"pipe": func(path string) error { return unix.Mkfifo(path, 0o600) },
		"socket": func(path string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		},
		"directory":     func(path string) error { return os.Mkdir(path, 0o700) },
		"link":          func(path string) error { return os.Symlink("/etc/passwd", path) },
		"dangling link": func(path string) error { return os.Symlink("nowhere", path) },
		"circular link": func(path string) error { return os.Symlink(path, path) },
		"device":        func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		path := filepath.Join(t.TempDir(), "j")
		if err := make(path); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := boltdb.Open(t.Context(), path, boltdb.Options{}); !errors.Is(err, journal.ErrForeign) {
			t.Errorf("%s: open: %v, want %v", name, err, journal.ErrForeign)
		}
		if _, err := boltdb.Verify(t.Context(), path, boltdb.VerifyOptions{}, func(journal.Fault) {}); !errors.Is(err, journal.ErrForeign) {
			t.Errorf("%s: verify: %v, want %v", name, err, journal.ErrForeign)
		}
		if _, err := boltdb.Repair(t.Context(), path, path+".repaired", boltdb.RepairOptions{}); !errors.Is(err, journal.ErrForeign) {
			t.Errorf("%s: repair: %v, want %v", name, err, journal.ErrForeign)
		}
	}
}

// A second name of the file is another path, with locks of its own: bbolt's lock keeps two processes from using it at once.
func TestAHardLinkIsNotUsedTwiceAtOnce(t *testing.T) {
	j := fill(t, t.TempDir(), 2)
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Link(j.Path(), link); err != nil {
		t.Skip("no hard links here: ", err)
	}
	release, err := boltdb.Hold(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := boltdb.Open(t.Context(), link, boltdb.Options{BusyTimeout: 50 * time.Millisecond}); !errors.Is(err, journal.ErrBusy) {
		t.Errorf("open under another name: %v, want %v", err, journal.ErrBusy)
	}
	release()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(logs(t, link)); got != 2 {
		t.Errorf("it has %d runs, want 2", got)
	}
}

// A header page with the highest transaction and a right checksum may still name a root that is none.
func TestAHeaderPageThatNamesNoRootIsDamage(t *testing.T) {
	image, _ := sample(t)
	page := os.Getpagesize()
	path := filepath.Join(t.TempDir(), "journal.db")
	for name, root := range map[string]uint64{"behind the end": 1 << 40, "itself": 0, "the free list": 3, "a page of entries": uint64(branches(image)[0])} {
		b := append([]byte(nil), image...)
		m := b[page+16:]
		binary.LittleEndian.PutUint64(m[16:], root)
		binary.LittleEndian.PutUint64(m[48:], 1<<40)
		h := fnv.New64a()
		h.Write(m[:56])
		binary.LittleEndian.PutUint64(m[56:], h.Sum64())
		place(t, path, b)
		if got := use(t, path); got != nil {
			t.Errorf("%s: it looks whole", name)
		}
	}
}

// On a file system that is read-only a journal cannot be used, and can be verified and repaired elsewhere.
func TestAReadOnlyFileSystem(t *testing.T) {
	j := fill(t, t.TempDir(), 4)
	j.Close()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skip("SKIPPED: mounting needs root: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "journal.db")
	for _, locks := range []bool{false, true} {
		if locks {
			if err := unix.Mount("", dir, "", unix.MS_REMOUNT, ""); err != nil {
				t.Fatal(err)
			}
			f, err := boltdb.Open(t.Context(), path, boltdb.Options{})
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		} else if err := os.CopyFS(dir, os.DirFS(filepath.Dir(j.Path()))); err != nil {
			t.Fatal(err)
		} else if err := errors.Join(os.Remove(path+".lock"), os.Remove(path+".wait")); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
		if f, err := boltdb.Open(t.Context(), path, boltdb.Options{}); err == nil {
			f.Close()
			t.Error("it can be opened")
		} else if errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrForeign) {
			t.Errorf("open: %v", err)
		}
		if n := whole(t, path); n.Runs != 4 || n.Blobs != 4 {
			t.Errorf("verify, locks %t: %+v", locks, n)
		}
		done, err := boltdb.Repair(t.Context(), path, filepath.Join(t.TempDir(), "copy.db"), boltdb.RepairOptions{})
		if err != nil || done.Runs != 4 || done.Copied != 4 {
			t.Errorf("repair, locks %t: %+v, %v", locks, done, err)
		}
	}
}
