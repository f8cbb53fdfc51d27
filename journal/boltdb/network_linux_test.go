package boltdb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wrun-dev/wrun/journal/boltdb"
)

func TestNetworkFileSystemsAreNamed(t *testing.T) {
	for magic, want := range map[uint32]string{
		unix.NFS_SUPER_MAGIC: "NFS", unix.SMB_SUPER_MAGIC: "SMB", unix.SMB2_SUPER_MAGIC: "SMB", unix.CIFS_SUPER_MAGIC: "SMB",
		unix.V9FS_MAGIC: "9p", unix.CEPH_SUPER_MAGIC: "Ceph", unix.AFS_SUPER_MAGIC: "AFS", unix.AFS_FS_MAGIC: "AFS",
		unix.CODA_SUPER_MAGIC: "Coda", unix.NCP_SUPER_MAGIC: "NCP", unix.OCFS2_SUPER_MAGIC: "OCFS2",
		0x0bd00bd0: "Lustre", 0x01161970: "GFS2", 0x19830326: "BeeGFS", 0x47504653: "GPFS", 0x20030528: "OrangeFS",
		0x61636673: "ACFS", 0x013111a8: "IBRIX", 0xaad7aaea: "PanFS", 0xbeefdead: "StorNext",
		0x786f4256: "a shared folder of VirtualBox", 0xbacbacbc: "a shared folder of VMware", 0x7c7c6673: "a shared folder of Parallels",
		// What one machine alone changes is fine, and so is what lies over or under something else.
		unix.EXT4_SUPER_MAGIC: "", unix.XFS_SUPER_MAGIC: "", unix.BTRFS_SUPER_MAGIC: "", unix.TMPFS_MAGIC: "", unix.OVERLAYFS_SUPER_MAGIC: "",
		unix.F2FS_SUPER_MAGIC: "", unix.MSDOS_SUPER_MAGIC: "", unix.EXFAT_SUPER_MAGIC: "", unix.ECRYPTFS_SUPER_MAGIC: "", unix.FUSE_SUPER_MAGIC: "",
		0x2fc12fc1: "", // ZFS
		0:          "",
	} {
		if got := boltdb.NetworkName(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
}

// The number of FUSE says nothing; the type of the mount does.
func TestFilesThatAProgramServesAreJudgedByTheProgram(t *testing.T) {
	const mounts = `24 29 0:22 / /proc rw,nosuid shared:12 - proc proc rw
29 1 252:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
61 29 0:49 / /home/ada/far rw,nosuid,nodev shared:300 master:7 - fuse.sshfs ada@example.com:/ rw,user_id=1000
62 29 0:50 / /home/ada/a\040-\040b rw - fuse.gocryptfs /home/ada/cipher rw
63 29 0:51 / /mnt/c rw - fuseblk /dev/sda2 rw
64 29 0:52 / /shared rw - virtiofs work rw
65 29 0:53 / /data rw - fuse.ceph-fuse ceph-fuse rw
cut off 0:54
66 29 0:55 / /x rw -
`
	for _, tt := range []struct {
		minor   uint32
		kind    string
		refused bool
	}{
		{49, "fuse.sshfs", true}, {50, "fuse.gocryptfs", false}, {51, "fuseblk", false}, {52, "virtiofs", true}, {53, "fuse.ceph-fuse", true},
		{54, "", false}, {55, "", false}, {99, "", false},
	} {
		kind := boltdb.MountType([]byte(mounts), 0, tt.minor)
		name := boltdb.FuseName(kind)
		if kind != tt.kind || (name != "") != tt.refused || tt.refused && !strings.Contains(name, strings.TrimPrefix(kind, "fuse.")) {
			t.Errorf("0:%d is a mount of type %q, called %q, want %q, refused %t", tt.minor, kind, name, tt.kind, tt.refused)
		}
	}
	own, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat("/proc", &st); err != nil {
		t.Fatal(err)
	}
	if got := boltdb.MountType(own, unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev))); got != "proc" {
		t.Errorf("/proc is a mount of type %q", got)
	}
}

func FuzzMountType(f *testing.F) {
	f.Add([]byte("61 29 0:49 / /far rw shared:300 - fuse.sshfs ada@example.com:/ rw\n"))
	f.Add([]byte(" - \n0:49 - \n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		kind := boltdb.MountType(text, 0, 49)
		if strings.ContainsAny(kind, " \n") {
			t.Errorf("the type is %q", kind)
		}
		boltdb.FuseName(kind)
	})
}

// The state of a process stands behind its name, which may look like anything.
func TestAStoppedProcessIsKnown(t *testing.T) {
	for line, want := range map[string]bool{
		"7 (wrun) S 1 7 7 0": false, "7 (wrun) T 1 7 7 0": true, "7 (wrun) t 1 7 7 0": true, "7 (a) T b) S 1 7": false,
		"7 (a) S b) T 1 7": true, "7 (wrun)": false, "7 (wrun) ": false, "": false, "T": false,
	} {
		if got := boltdb.StoppedIn([]byte(line)); got != want {
			t.Errorf("%q: stopped %t, want %t", line, got, want)
		}
	}
}

func FuzzStoppedIn(f *testing.F) {
	f.Add([]byte("7 (wrun) T 1 7 7 0"))
	f.Fuzz(func(t *testing.T, line []byte) { boltdb.StoppedIn(line) })
}

// A journal that is on one is refused, with its name. Such a mount needs a server; what decides is tested above.
func TestAJournalOnThisDiskIsNoNetworkShare(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if name := boltdb.NetworkFS(f); name != "" {
		t.Errorf("the temporary directory is on %s", name)
	}
}
