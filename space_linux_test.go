package wrun_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// envFullDisk has the tests of full disks visit every 4 KB, on every file system, instead of as many as fit into some seconds.
const envFullDisk = "WRUN_TEST_FULL_DISK"

// A disk that is full to some degree when an effect is to begin, and that somebody else fills to its last byte while the effect is
// on its way: either nothing was begun, or what came of it is in the log. It fails when no room is held: go test -tags broken_noroom.
func TestNoEffectIsWithoutAnOutcomeOnAFullDisk(t *testing.T) {
	for _, fs := range []struct {
		name  string
		mount func(*testing.T) string
		step  int64
	}{
		{"tmpfs", func(t *testing.T) string { return mountTmpfs(t, "size=16m") }, 24 << 10},
		{"ext4", func(t *testing.T) string { return mountExt4(t, 24<<20) }, 160 << 10},
	} {
		for _, size := range []int{1 << 10, 700 << 10} {
			t.Run(fmt.Sprintf("%s, a reply of %d bytes", fs.name, size), func(t *testing.T) {
				dir, step := fs.mount(t), fs.step
				if os.Getenv(envFullDisk) != "" {
					step = 4 << 10
				}
				var c counts
				for free := int64(64 << 10); free <= 4<<20; free += step {
					d := &fullDisk{t: t, dir: dir, size: size, name: fmt.Sprintf("%d bytes free", free)}
					c.add(d.trial(func() { d.leave(free) }, func() { d.leave(0) }))
				}
				c.judge(t)
			})
		}
	}
}

// A file system without inodes is full as well: a reply that is long is a file.
func TestNoEffectIsWithoutAnOutcomeWithoutInodes(t *testing.T) {
	for _, fs := range []struct {
		name  string
		mount func(*testing.T) string
	}{
		{"tmpfs", func(t *testing.T) string { return mountTmpfs(t, "size=64m,nr_inodes=64") }},
		{"ext4", func(t *testing.T) string { return mountExt4(t, 64<<20, "-N", "80") }},
	} {
		t.Run(fs.name, func(t *testing.T) {
			dir := fs.mount(t)
			var c counts
			for left := range 12 {
				d := &fullDisk{t: t, dir: dir, size: 100 << 10, name: fmt.Sprintf("%d inodes free", left)}
				c.add(d.trial(func() { d.leaveInodes(left) }, func() { d.leaveInodes(0) }))
			}
			c.judge(t)
		})
	}
}

// counts are how the trials have ended.
type counts struct{ refused, recorded int }

func (c *counts) add(recorded bool) {
	if recorded {
		c.recorded++
	} else {
		c.refused++
	}
}

func (c *counts) judge(t *testing.T) {
	t.Helper()
	t.Logf("%d effects were refused before they began, %d were recorded", c.refused, c.recorded)
	if c.refused == 0 || c.recorded == 0 {
		t.Error("want both")
	}
}

// fullDisk is one trial on a file system of its own.
type fullDisk struct {
	t         *testing.T
	dir, name string
	size      int
	effects   int
}

// trial makes an effect. before is called immediately before it is asked for, during while it is on its way. It returns whether
// its outcome was recorded; else it was not begun.
func (d *fullDisk) trial(before, during func()) (recorded bool) {
	t := d.t
	t.Helper()
	place := filepath.Join(d.dir, "state")
	defer func() {
		d.clear()
		if err := os.RemoveAll(place); err != nil {
			t.Fatal(err)
		}
	}()
	reply := bytes.Repeat([]byte(d.name), d.size/len(d.name)+1)[:d.size]
	first := true
	driver := runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		if first {
			before()
		}
		_, err := r.Do(ctx, "pay", runtime.Act{
			Name: "pay", Class: toolabi.Once, MaxReply: int64(d.size),
			Do: func(_ context.Context, a runtime.Attempt) ([]byte, error) {
				if err := a.BeforeSend(); err != nil {
					return nil, err
				}
				if d.effects++; first {
					during()
				}
				return reply, nil
			},
		})
		return []byte(`1`), err
	}}
	err := d.drive(place, driver)
	first = false
	log := d.log(place)
	switch result := slices.ContainsFunc(log, func(e journal.Entry) bool { return e.Kind == journal.Result && e.Step == "pay" }); {
	case d.effects == 0 && errors.Is(err, journal.ErrNoSpace) && !errors.Is(err, journal.ErrUnusable):
	case d.effects == 1 && result:
		recorded = true
	default:
		t.Errorf("%s: %d effects, a result in the log: %t, the run ended with %v", d.name, d.effects, result, err)
		recorded = result
	}
	d.clear()
	if err := d.drive(place, driver); err != nil || d.effects != 1 {
		t.Errorf("%s, and then enough: %d effects, %v", d.name, d.effects, err)
	}
	return recorded
}

// drive drives the run in a process of its own, as far as the journal can tell.
func (d *fullDisk) drive(place string, driver runtime.DriverInfo) error {
	d.t.Helper()
	j, err := boltdb.Create(d.t.Context(), filepath.Join(place, "journal.db"), boltdb.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	e, err := runtime.New(runtime.Config{Journal: j, Rescue: func(string, journal.Step, []byte) { d.t.Errorf("%s: the reply is rescued", d.name) }})
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := e.Start(d.t.Context(), "r", runtime.Spec{Driver: "pay", Input: []byte(`{}`)}, nil, false); err != nil {
		d.t.Fatal(err)
	}
	_, err = e.Drive(d.t.Context(), "r", runtime.DriveOptions{Driver: &driver})
	if err := j.Close(); err != nil {
		d.t.Errorf("%s: close the journal: %v", d.name, err)
	}
	return err
}

// log is the run's log, from a journal that must be right.
func (d *fullDisk) log(place string) (log []journal.Entry) {
	d.t.Helper()
	j, err := boltdb.Open(d.t.Context(), filepath.Join(place, "journal.db"), boltdb.Options{})
	if err != nil {
		d.t.Fatalf("%s: %v", d.name, err)
	}
	defer j.Close()
	journaltest.Check(d.t, j)
	for e, err := range j.Read(d.t.Context(), "r", 0) {
		if err != nil {
			d.t.Fatal(err)
		}
		log = append(log, e)
	}
	return log
}

func (d *fullDisk) statfs() unix.Statfs_t {
	d.t.Helper()
	var s unix.Statfs_t
	if err := unix.Statfs(d.dir, &s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

// leave fills the disk but for so many bytes.
func (d *fullDisk) leave(free int64) {
	d.t.Helper()
	f, err := os.OpenFile(filepath.Join(d.dir, "filler"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		d.t.Fatal(err)
	}
	at := info.Size()
	for step := int64(1 << 20); step >= 4<<10; { // the last blocks may not be had in one piece
		s := d.statfs()
		n := min(int64(s.Bavail)*s.Bsize-free, step) &^ (4<<10 - 1)
		if n <= 0 {
			return
		}
		switch err := unix.Fallocate(int(f.Fd()), 0, at, n); {
		case err == nil:
			at += n
		case errors.Is(err, unix.ENOSPC):
			step /= 2
		case !errors.Is(err, unix.EINTR):
			d.t.Fatal(err)
		}
	}
}

// leaveInodes takes all inodes but so many.
func (d *fullDisk) leaveInodes(n int) {
	d.t.Helper()
	dir := filepath.Join(d.dir, "inodes")
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) && !errors.Is(err, unix.ENOSPC) {
		d.t.Fatal(err)
	}
	for i := 0; d.statfs().Ffree > uint64(n); i++ {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(n, "-", i)), os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, unix.ENOSPC) {
			return
		}
		if err != nil {
			d.t.Fatal(err)
		}
		f.Close()
	}
}

// clear gives the disk back.
func (d *fullDisk) clear() {
	for _, name := range []string{"filler", "inodes"} {
		if err := os.RemoveAll(filepath.Join(d.dir, name)); err != nil {
			d.t.Fatal(err)
		}
	}
}

func mountTmpfs(t *testing.T, options string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: filling a disk needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, options); err != nil {
		t.Skip("SKIPPED: no disk to fill: ", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// mountExt4 makes a file system in a file; the journal of ext4 itself stays small, and nothing is set aside for root.
func mountExt4(t *testing.T, size int64, options ...string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: filling a disk needs root")
	}
	image, dir := filepath.Join(t.TempDir(), "disk"), t.TempDir()
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, size)); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-q", "-b", "4096", "-J", "size=4", "-m", "0"}, options...)
	if out, err := exec.Command("mkfs.ext4", append(args, image)...).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no disk to fill: mkfs.ext4: %v: %s", err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", "-t", "ext4", image, dir).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no disk to fill: mount: %v: %s", err, strings.TrimSpace(string(out)))
	}
	t.Cleanup(func() { unix.Unmount(dir, 0) })
	return dir
}

// A reply that finds no room after all, because it is longer than was said, goes where there is some, and can be said from there.
func TestAReplyThatFindsNoRoomIsSavedElsewhere(t *testing.T) {
	d := &fullDisk{t: t, dir: mountTmpfs(t, "size=16m"), name: "full"}
	elsewhere := t.TempDir()
	t.Setenv("TMPDIR", elsewhere)
	place := filepath.Join(d.dir, "state")
	j, err := boltdb.Create(t.Context(), filepath.Join(place, "journal.db"), boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	e, err := runtime.New(runtime.Config{Journal: j, RescueDir: place})
	if err != nil {
		t.Fatal(err)
	}
	reply := bytes.Repeat([]byte{0, 1, 2, 0xff}, 1<<20)
	driver := runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		got, err := r.Do(ctx, "pay", runtime.Act{Name: "pay", Class: toolabi.Once, MaxReply: 1 << 10, Do: func(_ context.Context, a runtime.Attempt) ([]byte, error) {
			if err := a.BeforeSend(); err != nil {
				return nil, err
			}
			d.effects++
			d.leave(0)
			return reply, nil
		}})
		if err == nil && !bytes.Equal(got, reply) {
			t.Errorf("the driver is given %d other bytes", len(got))
		}
		return []byte(`1`), err
	}}
	if _, err := e.Start(t.Context(), "r", runtime.Spec{Driver: "pay", Input: []byte(`{}`)}, nil, false); err != nil {
		t.Fatal(err)
	}
	_, err = e.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &driver})
	var lost *runtime.UnrecordedError
	if !errors.As(err, &lost) || !errors.Is(err, journal.ErrNoSpace) || len(lost.Replies) != 1 || filepath.Dir(lost.Replies[0].Path) != elsewhere {
		t.Fatalf("the run ends with %v, want one that names a file in %s", err, elsewhere)
	}
	if parts, err := filepath.Glob(filepath.Join(place, "wrun-rescued-*")); len(parts) > 0 || err != nil {
		t.Errorf("a part of it is left on the full disk: %v, %v", parts, err)
	}
	d.clear()
	said, err := os.ReadFile(lost.Replies[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	back, err := e.ParseReply("pay", said)
	if err != nil || !bytes.Equal(back, reply) {
		t.Fatalf("the file gives %d bytes, %v, want the %d that came", len(back), err, len(reply))
	}
	if err := e.Resolve(t.Context(), "r", "pay", runtime.Resolution{Happened: true, Reply: back, By: "test"}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &driver}); err != nil || d.effects != 1 {
		t.Errorf("%d effects, %v", d.effects, err)
	}
}
