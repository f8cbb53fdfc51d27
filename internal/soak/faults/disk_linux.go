package faults

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// disk is a small disk in a file, with a file system that can be cut off it.
type disk struct {
	image, dir string
	fs         string // ext4 or xfs
	options    string // of the mount
}

// newDisk makes one, and mounts it. errSkip says that this machine cannot.
func newDisk(dir, fs, options string) (*disk, error) {
	if os.Geteuid() != 0 {
		return nil, errSkip("cutting the power of a disk needs root")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	d := &disk{image: filepath.Join(dir, "disk"), dir: filepath.Join(dir, "mnt"), fs: fs, options: options}
	size, mkfs := int64(64<<20), []string{"mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1"}
	if fs == "xfs" {
		size, mkfs = 320<<20, []string{"mkfs.xfs", "-q", "-f"}
	}
	if _, err := exec.LookPath(mkfs[0]); err != nil {
		return nil, errSkip("there is no " + mkfs[0])
	}
	if err := errors.Join(os.WriteFile(d.image, nil, 0o600), os.Truncate(d.image, size), os.MkdirAll(d.dir, 0o700)); err != nil {
		return nil, err
	}
	if out, err := exec.Command(mkfs[0], append(mkfs[1:], d.image)...).CombinedOutput(); err != nil {
		return nil, errSkip(fmt.Sprintf("%s: %v: %s", mkfs[0], err, out))
	}
	if err := d.mount(); err != nil {
		return nil, errSkip(err.Error())
	}
	return d, nil
}

func (d *disk) mount() error {
	options := "loop"
	if d.options != "" {
		options += "," + d.options
	}
	if out, err := exec.Command("mount", "-o", options, "-t", d.fs, d.image, d.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("mount %s: %w: %s", d.fs, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// unmount waits for whoever has just died to let go of its files.
func (d *disk) unmount() error {
	var err error
	for range 200 {
		if err = unix.Unmount(d.dir, 0); !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("unmount: %w", err), unix.Unmount(d.dir, unix.MNT_DETACH))
	}
	return nil
}

// cut ends all writing to the device at once: FS_IOC_SHUTDOWN, with the flag that also drops the file system's own journal. The
// ioctl is that of XFS, which ext4 took over.
func (d *disk) cut() error {
	const shutdown, noLogFlush = 0x8004587d, 2
	f, err := os.Open(d.dir)
	if err != nil {
		return err
	}
	defer f.Close()
	flag := uint32(noLogFlush)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&flag))); errno != 0 {
		return errSkip(fmt.Sprint("this kernel cannot cut the power of a file system: ", errno))
	}
	return nil
}

// power brings the disk back after a cut, as a machine does that starts again.
func (d *disk) power() error { return errors.Join(d.unmount(), d.mount()) }

// close unmounts it for good.
func (d *disk) close() error { return d.unmount() }
