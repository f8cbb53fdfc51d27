package boltdb

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// networkFS returns the name of the network file system that f is on, or "".
func networkFS(f *os.File) string {
	var s unix.Statfs_t
	if unix.Fstatfs(int(f.Fd()), &s) != nil {
		return ""
	}
	magic := uint32(s.Type) // some platforms sign-extend it
	if magic != fuseMagic {
		return networkName(magic)
	}
	var st unix.Stat_t
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || unix.Fstat(int(f.Fd()), &st) != nil {
		return ""
	}
	return fuseName(mountType(mounts, unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev))))
}

// networkNames are the file systems on which other machines change the same files, by the numbers of statfs(2): network and
// cluster file systems, and folders that a virtual machine shares with its host. Where the locks of a cluster do hold, an owner may
// still live on a machine of which nothing is known here.
//
// Numbers: statfs(2), include/uapi/linux/magic.h, and those that GNU coreutils knows.
var networkNames = map[uint32]string{
	0x6969:     "NFS",
	0x517b:     "SMB",
	0xfe534d42: "SMB",
	0xff534d42: "SMB",
	0x01021997: "9p",
	0x00c36400: "Ceph",
	0x5346414f: "AFS",
	0x6b414653: "AFS",
	0x73757245: "Coda",
	0x564c:     "NCP",
	0x0bd00bd0: "Lustre",
	0x01161970: "GFS2",
	0x7461636f: "OCFS2",
	0x19830326: "BeeGFS",
	0x47504653: "GPFS",
	0x20030528: "OrangeFS",
	0x61636673: "ACFS",
	0x013111a8: "IBRIX",
	0xaad7aaea: "PanFS",
	0xbeefdead: "StorNext",
	0x786f4256: "a shared folder of VirtualBox",
	0xbacbacbc: "a shared folder of VMware",
	0x7c7c6673: "a shared folder of Parallels",
}

func networkName(magic uint32) string { return networkNames[magic] }

// fuseMagic is the number of every file system that a program serves, local or not, and of virtiofs.
const fuseMagic = 0x65735546

// remoteFUSE are the programs that serve files of other machines, by the type of their mounts behind "fuse.".
var remoteFUSE = []string{
	"sshfs", "glusterfs", "ceph", "ceph-fuse", "s3fs", "s3ql", "goofys", "gcsfuse", "blobfuse", "blobfuse2", "mount-s3", "rclone", "davfs", "davfs2",
	"curlftpfs", "smbnetfs", "juicefs", "JuiceFS", "seaweedfs", "weed", "mfs", "moosefs", "lizardfs", "saunafs", "hdfs", "fuse_dfs", "vmhgfs-fuse",
	"gvfsd-fuse", "google-drive-ocamlfuse", "onedriver", "cernvm-fs", "cvmfs2", "afpfs",
}

// fuseName names the type of a mount with fuseMagic if it is served from elsewhere, or "". What is not known to be remote is taken,
// because files of this machine are served in the same way.
func fuseName(kind string) string {
	if kind == "virtiofs" {
		return "virtiofs, a folder that a virtual machine shares with its host"
	}
	for _, remote := range remoteFUSE {
		if kind == "fuse."+remote {
			return kind
		}
	}
	return ""
}

// mountType finds the type of a mount by its device in the text of /proc/PID/mountinfo; see proc(5). "" is none.
func mountType(mountinfo []byte, major, minor uint32) string {
	device := fmt.Sprintf("%d:%d", major, minor)
	lines := bufio.NewScanner(bytes.NewReader(mountinfo))
	for lines.Scan() {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if ok && len(fields) > 2 && fields[2] == device && len(kind) > 0 {
			return kind[0]
		}
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
