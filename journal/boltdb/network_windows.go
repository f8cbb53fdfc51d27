package boltdb

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// networkFS returns "network drive" for a file on one, or "".
func networkFS(f *os.File) string {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(f.Name()) + `\`)
	if err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "network drive"
	}
	return ""
}

// space returns how many bytes may still be written to the file system of f, or false when that is not known.
func space(f *os.File) (uint64, bool) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(f.Name()))
	if err != nil {
		return 0, false
	}
	var n uint64
	err = windows.GetDiskFreeSpaceEx(dir, &n, nil, nil)
	return n, err == nil
}
