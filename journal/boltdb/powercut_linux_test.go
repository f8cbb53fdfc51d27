package boltdb_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

// TestNothingAcknowledgedIsLostInAPowerCut cuts a file system off its device, without letting it write what it still
// holds in memory, in the middle of appends. It fails when syncs are left out: go test -tags broken_nosync.
func TestNothingAcknowledgedIsLostInAPowerCut(t *testing.T) {
	for _, how := range []struct {
		mode string
		old  bool
	}{{"append", false}, {"append", true}, {"append and compact", true}} {
		t.Run(fmt.Sprint(how.mode, ", journal was there before: ", how.old), func(t *testing.T) {
			disk := newDisk(t)
			path := filepath.Join(disk.dir, "state", "journal.db")
			if how.old {
				disk.mount(t)
				create(t, filepath.Dir(path)).Close()
				disk.unmount(t) // which writes everything to the device
			}
			for i := range 4 {
				disk.mount(t)
				c := start(t, how.mode, path, "r", "0")
				acked := ""
				for range 10 + 7*i {
					acked = c.expect(t, "ACK")
				}
				disk.cut(t)
				c.Process.Kill()
				last := max(number(t, acked), c.rest(t))
				c.Wait()
				disk.unmount(t)

				disk.mount(t)
				check(t, path, last)
				disk.unmount(t)
			}
		})
	}
}

// check opens a journal after a crash and looks for what was acknowledged, blobs included.
func check(t *testing.T, path string, acked int) {
	t.Helper()
	j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Errorf("after entry %d was acknowledged: %v", acked, err)
		return
	}
	defer j.Close()
	for fault := range journal.Verify(t.Context(), j) {
		t.Errorf("after entry %d was acknowledged: %v", acked, fault)
	}
	if got := length(t, j, "r"); got < acked+1 || got > acked+2 {
		t.Errorf("entry %d was acknowledged, the log has %d entries", acked, got)
	}
}

// disk is a small disk in a file that can lose its power.
type disk struct{ image, dir string }

// newDisk makes one; without the rights and tools for it the test is skipped.
func newDisk(t *testing.T) *disk {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: cutting the power of a disk needs root")
	}
	d := &disk{image: filepath.Join(t.TempDir(), "disk"), dir: filepath.Join(t.TempDir(), "mnt")}
	if err := errors.Join(os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, 64<<20), os.Mkdir(d.dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", d.image).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no disk to cut the power of: mkfs.ext4: %v: %s", err, out)
	}
	if out, err := d.tryMount(); err != nil {
		t.Skipf("SKIPPED: no disk to cut the power of: mount: %v: %s", err, out)
	}
	t.Cleanup(func() { unix.Unmount(d.dir, unix.MNT_DETACH) })
	d.unmount(t)
	return d
}

func (d *disk) tryMount() ([]byte, error) {
	return exec.Command("mount", "-o", "loop", "-t", "ext4", d.image, d.dir).CombinedOutput()
}

func (d *disk) mount(t *testing.T) {
	t.Helper()
	if out, err := d.tryMount(); err != nil {
		t.Fatalf("mount: %v: %s", err, strings.TrimSpace(string(out)))
	}
}

func (d *disk) unmount(t *testing.T) {
	t.Helper()
	if err := unix.Unmount(d.dir, 0); err != nil {
		t.Fatalf("unmount: %v", err)
	}
}

// cut ends all writing to the device at once: FS_IOC_SHUTDOWN, with the flag that also drops the file system's journal.
func (d *disk) cut(t *testing.T) {
	t.Helper()
	const shutdown, noLogFlush = 0x8004587d, 2
	f, err := os.Open(d.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flag := uint32(noLogFlush)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&flag))); errno != 0 {
		t.Skip("SKIPPED: this kernel cannot cut the power of a file system: ", errno)
	}
}

// TestAFullDiskRefusesAndGoesOn also needs a file system of its own.
func TestAFullDiskRefusesAndGoesOn(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: filling a disk needs root")
	}
	dir := newTmpfs(t, "size=4m")
	j := create(t, dir)
	if err := j.Append(t.Context(), "r", 0, created()); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	err := os.WriteFile(filler, make([]byte, 8<<20), 0o600)
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("filling the disk: %v", err)
	}
	if err := j.Append(t.Context(), "other", 0, created()); !errors.Is(err, journal.ErrNoSpace) {
		t.Errorf("a new run: got %v, want %v", err, journal.ErrNoSpace)
	}
	if _, _, err := j.Reserve(t.Context(), 1); !errors.Is(err, journal.ErrNoSpace) {
		t.Errorf("reserve: got %v, want %v", err, journal.ErrNoSpace)
	}
	long := record("x")
	long.Body = make([]byte, journal.MaxInline)
	at := uint64(1)
	for ; at < 100; at++ { // an entry that begins nothing goes into what the file has
		err := j.Append(t.Context(), "r", at, long)
		if err == nil {
			continue
		}
		if !errors.Is(err, journal.ErrNoSpace) || errors.Is(err, journal.ErrUnusable) {
			t.Errorf("append: got %v, want %v", err, journal.ErrNoSpace)
		}
		break
	}
	if at == 100 {
		t.Error("the full disk takes 100 long entries")
	}
	if _, _, err := j.Put(t.Context(), strings.NewReader(strings.Repeat("x", 1<<20))); !errors.Is(err, journal.ErrNoSpace) {
		t.Errorf("put: got %v, want %v", err, journal.ErrNoSpace)
	}
	if _, err := boltdb.Create(t.Context(), filepath.Join(dir, "other", "journal.db"), boltdb.Options{}); !errors.Is(err, journal.ErrNoSpace) {
		t.Errorf("create: got %v, want %v", err, journal.ErrNoSpace)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		if err := j.Append(t.Context(), "r", at+i, record(fmt.Sprint(i))); err != nil {
			t.Errorf("append once there is room again: %v", err)
		}
	}
	if got := length(t, j, "r"); got != int(at)+3 {
		t.Errorf("the log has %d entries, want %d", got, at+3)
	}
	journaltest.Check(t, j)
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// A copy for which there is no room leaves everything as it was, at whichever point the room ends.
func TestAFullDiskStopsACopy(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: filling a disk needs root")
	}
	big := stocked(t, t.TempDir())
	large(t, big, 60)
	b, run := backup(t, big), export(t, big, "large-0")
	for kb := 0; kb <= 10000; kb += 1000 { // of which a copy takes half
		dir := newTmpfs(t, "size=32m")
		j := stocked(t, dir)
		large(t, j, 60)
		another := create(t, filepath.Join(dir, "another"))
		want := look(t, j)
		filler, err := os.Create(filepath.Join(dir, "filler"))
		if err != nil {
			t.Fatal(err)
		}
		left := func() int64 {
			var s unix.Statfs_t
			if err := unix.Statfs(dir, &s); err != nil {
				t.Fatal(err)
			}
			return int64(s.Bavail) * s.Bsize
		}
		if _, err := filler.Write(make([]byte, max(0, left()-int64(kb)<<10))); err != nil {
			t.Fatal(err)
		}
		full := 0
		for what, err := range map[string]error{
			"compact": func() error { _, err := j.Compact(t.Context(), boltdb.CopyOptions{}); return err }(),
			"backup": bundle.Write(t.Context(), filepath.Join(dir, "all.backup"), false, func(w io.Writer) error {
				_, err := j.Backup(t.Context(), w, boltdb.CopyOptions{})
				return err
			}),
			"import": func() error {
				_, err := another.Import(t.Context(), bytes.NewReader(run), boltdb.ImportOptions{})
				return err
			}(),
			"restore": func() error {
				_, err := boltdb.Restore(t.Context(), filepath.Join(dir, "other.db"), bytes.NewReader(b), boltdb.RestoreOptions{})
				return err
			}(),
		} {
			if err != nil && !errors.Is(err, journal.ErrNoSpace) && !errors.Is(err, unix.ENOSPC) {
				t.Errorf("%d KiB, %s: %v, want %v", kb, what, err, journal.ErrNoSpace)
			}
			if err != nil {
				full++
			}
		}
		t.Logf("%d KiB: %d of 4 were refused", kb, full)
		if kb == 0 && full != 4 {
			t.Errorf("on a full disk %d of 4 were refused", full)
		}
		if err := errors.Join(filler.Close(), os.Remove(filler.Name()), j.Close(), another.Close()); err != nil {
			t.Fatal(err)
		}
		j = open(t, j.Path())
		if got := look(t, j); !got.equal(want) {
			t.Errorf("%d KiB: the journal holds something else", kb)
		}
		if err := begin(t.Context(), j, "later"); err != nil {
			t.Errorf("%d KiB: %v", kb, err)
		}
		another = open(t, another.Path())
		if _, err := another.Import(t.Context(), bytes.NewReader(run), boltdb.ImportOptions{}); err != nil && !errors.Is(err, journal.ErrExists) {
			t.Errorf("%d KiB: import once there is room: %v", kb, err)
		}
		journaltest.Check(t, another)
		if hidden, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(hidden) > 0 {
			t.Errorf("%d KiB: it leaves %v, %v", kb, hidden, err)
		}
		if err := errors.Join(j.Close(), another.Close(), unix.Unmount(dir, 0)); err != nil {
			t.Error(err)
		}
	}
}

// A run whose owner went with the power has to be free: a claim must not be on the disk before the file that says who lives.
func TestAnOwnerThatAPowerCutEndedIsDead(t *testing.T) {
	disk := newDisk(t)
	for i := range 8 {
		disk.mount(t)
		path := filepath.Join(disk.dir, fmt.Sprint("state-", i), "journal.db")
		c := start(t, "claim", path)
		owner := c.expect(t, "CLAIMED")
		disk.cut(t)
		c.Process.Kill()
		c.Wait()
		disk.unmount(t)

		disk.mount(t)
		j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if live, err := j.Liveness(owner); err != nil || live != journal.Dead {
			t.Errorf("after a power cut the owner of a run is %v, %v, want it dead", live, err)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
		disk.unmount(t)
	}
}
