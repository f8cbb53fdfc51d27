package toolbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile waits until no other process holds the lock, which ends with the file's handle.
func lockFile(f *os.File) error {
	if err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped)); err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil
}

// syncDir does nothing: directories of Windows cannot be synced, their changes are journaled by the file system.
func syncDir(string) error { return nil }
