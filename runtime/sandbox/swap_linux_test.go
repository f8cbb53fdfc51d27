package sandbox_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// swapBytes is how large the swap of these tests is.
const swapBytes = 512 << 20

// swapOn gives the machine swap, compressed in memory or in a file, until the test is over.
func swapOn(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SWAPPED PAGES WERE NOT TRIED: that takes root")
	}
	device, err := zram(t)
	if err != nil {
		t.Logf("no swap in memory: %v", err)
		device = swapFile(t)
	}
	must(t, writeSwapHeader(device))
	path, err := unix.BytePtrFromString(device)
	must(t, err)
	if _, _, errno := unix.Syscall(unix.SYS_SWAPON, uintptr(unsafe.Pointer(path)), 0, 0); errno != 0 {
		t.Skipf("SWAPPED PAGES WERE NOT TRIED: swapon %s: %v", device, errno)
	}
	t.Cleanup(func() {
		if _, _, errno := unix.Syscall(unix.SYS_SWAPOFF, uintptr(unsafe.Pointer(path)), 0, 0); errno != 0 {
			t.Errorf("swapoff %s: %v", device, errno)
		}
	})
}

// zram adds a disk of compressed memory for the test.
func zram(t *testing.T) (device string, err error) {
	b, err := os.ReadFile("/sys/class/zram-control/hot_add")
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(b))
	t.Cleanup(func() {
		if err := os.WriteFile("/sys/class/zram-control/hot_remove", []byte(id), 0); err != nil {
			t.Errorf("remove the disk zram%s: %v", id, err)
		}
	})
	err = os.WriteFile("/sys/block/zram"+id+"/disksize", []byte(strconv.Itoa(swapBytes)), 0)
	return "/dev/zram" + id, err
}

// swapFile makes a file without holes.
func swapFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "swap")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	must(t, err)
	piece := make([]byte, 1<<20)
	for range swapBytes / len(piece) {
		_, err = f.Write(piece)
		must(t, err)
	}
	must(t, errors.Join(f.Sync(), f.Close()))
	return path
}

// writeSwapHeader makes swap of a disk or a file, as mkswap does.
func writeSwapHeader(path string) error {
	page := os.Getpagesize()
	header := make([]byte, page)
	binary.NativeEndian.PutUint32(header[1024:], 1)
	binary.NativeEndian.PutUint32(header[1028:], uint32(swapBytes/page-1))
	copy(header[page-10:], "SWAPSPACE2")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(header)
	return errors.Join(err, f.Sync(), f.Close())
}

// reclaimVariable names the file by which memory of the control group is taken back that the process is in.
const reclaimVariable = "WRUN_TEST_RECLAIM"

// controlGroup makes a control group for the test, of version 1 or 2, and returns that file of it.
func controlGroup(t *testing.T) string {
	t.Helper()
	for _, file := range []string{"/sys/fs/cgroup/memory/*/memory.force_empty", "/sys/fs/cgroup/*/memory.reclaim"} {
		dir, err := os.MkdirTemp(filepath.Dir(filepath.Dir(file)), "wrun-test-*")
		if err != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
		})
		file = filepath.Join(dir, filepath.Base(file))
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	t.Skip("RECLAIMED PAGES WERE NOT TRIED: no control group for memory can be made here")
	return ""
}

// reclaim has the kernel take back the memory of a control group, as much as it can.
func reclaim(t testing.TB, file string) {
	err := os.WriteFile(file, []byte("1G"), 0)
	if err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EBUSY) {
		t.Error(err)
	}
}
