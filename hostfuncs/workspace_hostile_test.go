//go:build unix

package hostfuncs_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// outside is a directory beside the workspace that nobody was granted.
func outside(t *testing.T, f *files) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(f.dir), "outside")
	for _, d := range []string{dir, f.dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { wantTree(t, dir, map[string]string{"secret": "secret"}) })
	return dir
}

func link(t *testing.T, f *files, target, path string) {
	t.Helper()
	if err := os.Symlink(target, f.at(path)); err != nil {
		t.Fatal(err)
	}
}

func TestNoLinkLeadsOutOfTheWorkspace(t *testing.T) {
	f := newFiles(t)
	out := outside(t, f)
	link(t, f, "/etc/passwd", "absolute")
	link(t, f, "../outside/secret", "relative")
	link(t, f, "relative", "chain")
	link(t, f, out, "dir")
	link(t, f, "../outside", "updir")
	link(t, f, "../workspace", "around") // it leaves and comes back
	for _, path := range []string{"absolute", "relative", "chain", "dir/secret", "updir/secret", "around/absolute"} {
		_, err := f.read(toolabi.WorkspaceReadRequest{Path: path})
		wantError(t, err, toolabi.Denied, toolabi.EffectNone)
		if strings.Contains(err.Error(), f.dir) || strings.Contains(err.Error(), out) {
			t.Errorf("%v names what is on the host", err)
		}
	}
	for _, path := range []string{"dir/secret", "updir/secret", "dir/new", "updir/new/deeper", "around/new"} {
		_, err := f.write(toolabi.WorkspaceWriteRequest{Path: path, Body: []byte("x")})
		wantError(t, err, toolabi.Denied, toolabi.EffectNone)
		wantError(t, f.remove(path), toolabi.Denied, toolabi.EffectNone)
	}
	for _, dir := range []string{"dir", "updir", "around"} {
		_, err := f.list(toolabi.WorkspaceListRequest{Dir: dir})
		wantError(t, err, toolabi.Denied, toolabi.EffectNone)
	}
	got, err := f.list(toolabi.WorkspaceListRequest{Recursive: true})
	if err != nil || len(got.Files) != 6 {
		t.Errorf("listed %+v, %v", got, err)
	}
	for _, file := range got.Files {
		if file.Kind != "link" || file.Size != 0 {
			t.Errorf("listed %+v", file)
		}
	}
}

// A link is replaced by what is written in its place, and removed itself; where it led is not touched.
func TestALinkIsReplacedAndRemovedItself(t *testing.T) {
	f := newFiles(t)
	out := outside(t, f)
	f.put("target", "target")
	for _, to := range []string{"target", filepath.Join(out, "secret"), "../outside/secret", "../outside/new", "nowhere", "circle"} {
		link(t, f, to, "circle")
		_, err := f.write(toolabi.WorkspaceWriteRequest{Path: "circle", Body: []byte("x"), Expect: toolabi.WorkspaceAbsent})
		wantError(t, err, toolabi.Conflict, toolabi.EffectNone)
		f.put("circle", "mine")
		wantTree(t, f.dir, map[string]string{"target": "target", "circle": "mine"})
		if err := f.remove("circle"); err != nil {
			t.Error(err)
		}
		link(t, f, to, "circle")
		if err := f.remove("circle"); err != nil {
			t.Error(err)
		}
		wantTree(t, f.dir, map[string]string{"target": "target"})
	}
}

func TestLinksAreFollowedWithinTheWorkspaceOnly(t *testing.T) {
	f := newFiles(t)
	f.put("real/file", "in")
	link(t, f, "real", "alias")
	link(t, f, "../alias/file", "real/there")
	link(t, f, "loop2", "loop1")
	link(t, f, "loop1", "loop2")
	link(t, f, "nowhere", "dangling")
	for _, path := range []string{"alias/file", "real/there", "alias/there"} {
		if got, err := f.read(toolabi.WorkspaceReadRequest{Path: path}); err != nil || string(got.Body) != "in" {
			t.Errorf("read %s: %q, %v", path, got.Body, err)
		}
	}
	_, err := f.read(toolabi.WorkspaceReadRequest{Path: "loop1"})
	wantError(t, err, toolabi.Denied, toolabi.EffectNone)
	_, err = f.read(toolabi.WorkspaceReadRequest{Path: "dangling"})
	wantError(t, err, toolabi.NotFound, toolabi.EffectNone)
	_, err = f.write(toolabi.WorkspaceWriteRequest{Path: "loop1/x"})
	wantError(t, err, toolabi.Denied, toolabi.EffectNone)
	f.put("alias/new", "through")
	if got := tree(t, f.dir); got["real/new"] != "through" {
		t.Errorf("the directory holds %q", got)
	}
	got, err := f.list(toolabi.WorkspaceListRequest{Dir: "alias"})
	if err != nil || len(got.Files) != 3 || got.Files[0].Path != "alias/file" || got.Files[0].Size != 2 {
		t.Errorf("listed %+v, %v", got, err)
	}
}

func TestOtherNamesOfAFileKeepWhatTheyHad(t *testing.T) {
	f := newFiles(t)
	out := outside(t, f)
	if err := os.Link(filepath.Join(out, "secret"), f.at("shared")); err != nil {
		t.Fatal(err)
	}
	f.put("shared", "mine")
	if err := f.remove("shared"); err != nil {
		t.Error(err)
	}
}

func TestNothingButFilesIsOpenedOrReplaced(t *testing.T) {
	f := newFiles(t)
	f.put("file", "x")
	if err := syscall.Mkfifo(f.at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(f.dir) // the name of a socket must be short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	names := []string{"pipe", "socket"}
	if err := syscall.Mknod(f.at("device"), syscall.S_IFCHR|0o600, 1<<8|5); err == nil { // takes root
		names = append(names, "device")
	}
	if err := os.Mkdir(f.at("dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	names = append(names, "dir")
	link(t, f, "pipe", "to-pipe")
	before := tree(t, f.dir)
	for _, name := range append(names, "to-pipe") {
		_, err := f.read(toolabi.WorkspaceReadRequest{Path: name})
		wantError(t, err, toolabi.Denied, toolabi.EffectNone)
		if name != "dir" {
			_, err = f.list(toolabi.WorkspaceListRequest{Dir: name})
			wantError(t, err, toolabi.Denied, toolabi.EffectNone)
		}
		_, err = f.write(toolabi.WorkspaceWriteRequest{Path: name + "/below", Body: []byte("x")})
		if name != "dir" {
			wantError(t, err, toolabi.Denied, toolabi.EffectNone)
		} else if err = f.remove("dir/below"); err != nil {
			t.Error(err)
		}
		if name == "to-pipe" {
			continue
		}
		for _, expect := range []string{"", toolabi.WorkspaceAbsent, strings.Repeat("a", 64)} {
			_, err = f.write(toolabi.WorkspaceWriteRequest{Path: name, Body: []byte("x"), Expect: expect})
			wantError(t, err, toolabi.Denied, toolabi.EffectNone)
		}
		wantError(t, f.remove(name), toolabi.Denied, toolabi.EffectNone)
	}
	_, err = f.list(toolabi.WorkspaceListRequest{Dir: "file"})
	wantError(t, err, toolabi.Denied, toolabi.EffectNone)
	_, err = f.write(toolabi.WorkspaceWriteRequest{Path: "file/below"})
	wantError(t, err, toolabi.Denied, toolabi.EffectNone)
	_, err = f.list(toolabi.WorkspaceListRequest{Dir: "no/such"})
	wantError(t, err, toolabi.NotFound, toolabi.EffectNone)
	wantTree(t, f.dir, before)
	got, err := f.list(toolabi.WorkspaceListRequest{})
	kinds := map[string]string{}
	for _, file := range got.Files {
		kinds[file.Path] = file.Kind
	}
	if err != nil || kinds["pipe"] != "other" || kinds["socket"] != "other" || kinds["dir"] != "dir" || kinds["to-pipe"] != "link" || kinds["file"] != "file" {
		t.Errorf("listed %v, %v", kinds, err)
	}
}

func TestTheWorkspaceItselfMustBeADirectory(t *testing.T) {
	f := newFiles(t)
	for name, make := range map[string]func() error{
		"a file":          func() error { return os.WriteFile(f.dir, nil, 0o600) },
		"a pipe":          func() error { return syscall.Mkfifo(f.dir, 0o600) },
		"a dangling link": func() error { return os.Symlink("nowhere", f.dir) },
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		_, err := f.list(toolabi.WorkspaceListRequest{})
		e := wantError(t, err, toolabi.Unavailable, toolabi.EffectNone)
		if strings.Contains(e.Message, filepath.Dir(f.dir)) {
			t.Errorf("%s: %q names what is on the host", name, e.Message)
		}
		_, err = hostfuncs.RestoreWorkspace(t.Context(), f.call.Grants.Workspace, "r", nil, f.kept)
		var unusable *hostfuncs.WorkspaceError
		if !errors.As(err, &unusable) || unusable.Path != f.dir {
			t.Errorf("%s: restoring ends with %v", name, err)
		}
		if err := os.Remove(f.dir); err != nil {
			t.Fatal(err)
		}
	}
	real := filepath.Join(filepath.Dir(f.dir), "real")
	if err := errors.Join(os.Mkdir(real, 0o700), os.Symlink(real, f.dir)); err != nil {
		t.Fatal(err)
	}
	f.put("file", "the operator may name a link")
	wantTree(t, real, map[string]string{"file": "the operator may name a link"})
}

func TestPermissionsAreKept(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	f := newFiles(t)
	mode := func(path string) fs.FileMode {
		info, err := os.Lstat(filepath.Join(f.dir, path))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	f.put("d/e/f", "x")
	for path, want := range map[string]fs.FileMode{"": fs.ModeDir | 0o700, "d": fs.ModeDir | 0o700, "d/e": fs.ModeDir | 0o700, "d/e/f": 0o600} {
		if got := mode(path); got != want {
			t.Errorf("%q was made with %v, want %v", path, got, want)
		}
	}
	for _, c := range [][2]fs.FileMode{{0o644, 0o644}, {0o755 | fs.ModeSetuid, 0o755}, {0o770 | fs.ModeSetgid | fs.ModeSticky, 0o770}, {0o400, 0o400}} {
		if err := os.Chmod(f.at("d/e/f"), c[0]); err != nil {
			t.Fatal(err)
		}
		f.put("d/e/f", "y")
		if got := mode("d/e/f"); got != c[1] {
			t.Errorf("a file with %v has %v when it was written", c[0], got)
		}
	}
}

func TestADirectoryThatMayNotBeChangedIsADenial(t *testing.T) {
	f := newFiles(t)
	f.put("d/f", "old")
	if err := os.Chmod(f.at("d"), 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(f.at("d"), 0o700)
	if os.WriteFile(f.at("d/probe"), nil, 0o600) == nil {
		os.Remove(f.at("d/probe"))
		t.Skip("this user may do everything")
	}
	_, err := f.write(toolabi.WorkspaceWriteRequest{Path: "d/f", Body: []byte("new")})
	wantError(t, err, toolabi.Denied, toolabi.EffectNone)
	wantError(t, f.remove("d/f"), toolabi.Denied, toolabi.EffectNone)
	wantTree(t, f.dir, map[string]string{"d": "dir", "d/f": "old"})
}

func TestLongAndDeepNames(t *testing.T) {
	f := newFiles(t)
	long := strings.Repeat("n", 255)
	deep := strings.Repeat("d/", 200) + "f"
	for _, path := range []string{long, long + "/" + long + "/" + long, deep} {
		f.put(path, "x")
		if got, err := f.read(toolabi.WorkspaceReadRequest{Path: path}); err != nil || string(got.Body) != "x" {
			t.Errorf("read %.30s: %q, %v", path, got.Body, err)
		}
		if path == long {
			if err := f.remove(path); err != nil {
				t.Error(err)
			}
		}
	}
	got, err := f.list(toolabi.WorkspaceListRequest{Recursive: true, Limit: 1000})
	if err != nil || len(got.Files) != 204 || got.More {
		t.Errorf("listed %d, more %v, %v", len(got.Files), got.More, err)
	}
}

// While requests are answered, somebody puts a link out of the workspace, a pipe and a directory in the place of a directory and of
// a file, again and again.
func TestWhatIsSwappedMeanwhileLeadsNowhere(t *testing.T) {
	f := newFiles(t)
	outside(t, f)
	f.put("real/secret", "mine")
	f.put("plain", "mine")
	link(t, f, "../outside", "out")
	link(t, f, "../outside/secret", "leak")
	if err := syscall.Mkfifo(f.at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			dir, file := []string{"real", "out", "fifo"}[i%3], []string{"plain", "leak", "fifo"}[i%3]
			for from, to := range map[string]string{dir: "d", file: "f"} {
				_ = os.RemoveAll(f.at(to))
				_ = os.Symlink(from, f.at(to))
				_ = os.Remove(f.at(to))
				if info, err := os.Lstat(f.at(from)); err == nil && !info.IsDir() {
					_ = os.Link(f.at(from), f.at(to))
				} else {
					_ = os.Mkdir(f.at(to), 0o700)
				}
			}
		}
	})
	for range 40 {
		for _, path := range []string{"d/secret", "f"} {
			if got, err := f.read(toolabi.WorkspaceReadRequest{Path: path}); err == nil && string(got.Body) != "mine" {
				t.Errorf("read %s: %q", path, got.Body)
			}
			_ = f.remove(path)
			_, _ = f.write(toolabi.WorkspaceWriteRequest{Path: path, Body: []byte("mine")})
		}
		_, _ = f.write(toolabi.WorkspaceWriteRequest{Path: "d/new/er", Body: []byte("mine")})
		got, err := f.list(toolabi.WorkspaceListRequest{Dir: "d", Recursive: true})
		for _, file := range got.Files {
			if err == nil && file.Path == "d/secret" && file.Size == 6 {
				t.Errorf("listed %+v, which is outside", file)
			}
		}
	}
	close(stop)
	swapping.Wait()
}

// A file that grows all the time is read as it was at one moment, or not at all.
func TestAFileThatChangesIsReadWholeOrNotAtAll(t *testing.T) {
	f := newFiles(t)
	f.put("log", "")
	log, err := os.OpenFile(f.at("log"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	stop := make(chan struct{})
	var growing sync.WaitGroup
	growing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, _ = log.WriteString("a line\n")
				_ = log.Truncate(700)
			}
		}
	})
	for range 300 {
		got, err := f.read(toolabi.WorkspaceReadRequest{Path: "log"})
		if err != nil {
			if e := wantError(t, err, toolabi.Conflict, toolabi.EffectNone); e.Retry != toolabi.RetrySafe {
				t.Errorf("%v is not worth a retry", e)
			}
			continue
		}
		if uint64(len(got.Body)) != got.Size || got.Digest != toolabi.DigestOf(got.Body).String() {
			t.Fatalf("read %d bytes of %d, digest %s", len(got.Body), got.Size, got.Digest)
		}
	}
	close(stop)
	growing.Wait()
}
