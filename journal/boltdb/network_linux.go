package boltdb

import (
	"os"

	"golang.org/x/sys/unix"
)

// networkFS returns the name of the network file system that f is on, or "".
func networkFS(f *os.File) string {
	var s unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &s) != nil {
		return ""
	}
	return networkName(uint32(s.Type)) // some platforms sign-extend it
}

func networkName(magic uint32) string {
	switch magic {
	case 0x6969:
		return "NFS"
	case 0x517b, 0xfe534d42, 0xff534d42:
		return "SMB"
	case 0x01021997:
		return "9p"
	case 0x00c36400:
		return "Ceph"
	case 0x5346414f, 0x6b414653:
		return "AFS"
	case 0x73757245:
		return "Coda"
	case 0x0bd00bd0:
		return "Lustre"
	}
	return ""
}

// space returns how many bytes may still be written to the file system of f, or false when that is not known.
func space(f *os.File) (uint64, bool) {
	var s unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &s) != nil || s.Blocks == 0 {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
