package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"testing"
	"time"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// op is one call of the guest "files", whose source says what the fields mean.
type op struct {
	Call   string `json:"call"`
	FD     uint32 `json:"fd"`
	To     uint32 `json:"to"`
	Path   string `json:"path"`
	New    string `json:"new"`
	Follow uint32 `json:"follow"`
	Oflags uint32 `json:"oflags"`
	Rights uint64 `json:"rights"`
	Flags  uint32 `json:"flags"`
	N      uint64 `json:"n"`
	Len    uint32 `json:"len"`
	Data   string `json:"data"`
	Times  int    `json:"times"`
}

type opResult struct {
	Errno  uint32
	Value  uint64
	Data   string
	Names  []string
	Others int
}

// Numbers of WASI that the tests use.
const (
	creat, directory, excl, trunc = 1, 2, 4, 8
	canRead, canWrite             = 1 << 1, 1 << 6

	success, again, badf, exist, inval, isdir, loop, mfile, nametoolong, noent = 0, 6, 8, 20, 28, 31, 32, 33, 37, 44
	notdir, notempty, notsock, notsup, perm, rofs, xdev                        = 54, 55, 57, 58, 63, 69, 75
)

// canary is what lies outside of every directory that a program gets.
const canary = "the canary"

// world is a directory that a program gets as /work, at descriptor 3, with a canary beside it, and one that it may only read
// as /ref, at descriptor 4.
type world struct {
	outside, work, ref string
	invoke             func(ctx context.Context, ops ...op) (toolabi.Outcome, error)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	outside := t.TempDir()
	w := &world{outside: outside, work: filepath.Join(outside, "work"), ref: filepath.Join(outside, "ref")}
	for _, dir := range []string{w.work, w.ref, filepath.Join(outside, "secret")} {
		must(t, os.Mkdir(dir, 0o700))
	}
	for _, file := range []string{"canary", "secret/canary"} {
		must(t, os.WriteFile(filepath.Join(outside, file), []byte(canary), 0o600))
	}
	must(t, os.WriteFile(filepath.Join(w.ref, "book"), []byte("words"), 0o600))
	box, s := open(t, sandbox.Config{CacheDir: CodeCache(t)})
	d := s.add(wrap(t, Command(t, "internal/wasmtest/guests/files"), toolabi.Command{Dirs: []toolabi.Dir{
		{Name: "work", Path: "/work", Write: true, Reason: "to test"},
		{Name: "ref", Path: "/ref", Reason: "to test"},
		{Name: "absent", Path: "/absent", Write: true, Reason: "to test"},
	}}))
	w.invoke = func(ctx context.Context, ops ...op) (toolabi.Outcome, error) {
		in, err := json.Marshal(ops)
		must(t, err)
		return box.Invoke(ctx, toolabi.Invocation{Module: d, Tool: "run", Input: in, Mounts: []toolabi.Mount{
			{Name: "ref", Path: w.ref, Write: true}, // more than the manifest asks for
			{Name: "work", Path: w.work, Write: true},
			{Name: "other", Path: w.outside, Write: true}, // not asked for at all
		}}, nil)
	}
	t.Cleanup(func() { w.check(t) })
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// check holds what lies outside against what was put there.
func (w *world) check(t testing.TB) {
	t.Helper()
	for _, dir := range []struct {
		name string
		want []string
	}{{"", []string{"canary", "ref", "secret", "work"}}, {"secret", []string{"canary"}}, {"ref", []string{"book"}}} {
		entries, err := os.ReadDir(filepath.Join(w.outside, dir.name))
		must(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if fmt.Sprint(names) != fmt.Sprint(dir.want) {
			t.Errorf("outside, %q holds %q, want %q", dir.name, names, dir.want)
		}
	}
	for _, file := range []string{"canary", "secret/canary"} {
		if b, err := os.ReadFile(filepath.Join(w.outside, file)); err != nil || string(b) != canary {
			t.Errorf("%s is %q, %v", file, b, err)
		}
	}
}

// do makes the calls and returns what came of them. Nothing that came of them may hold the canary or a path of the host.
func (w *world) do(t testing.TB, ops ...op) []opResult {
	t.Helper()
	out, err := w.invoke(t.Context(), ops...)
	must(t, err)
	if out.Err != nil {
		t.Fatalf("%v\n%s", out.Err, out.Stderr)
	}
	for _, secret := range []string{canary, w.outside} {
		if strings.Contains(string(out.Output)+string(out.Stderr), secret) {
			t.Errorf("%q got to the program: %s", secret, out.Output)
		}
	}
	var results []opResult
	must(t, json.Unmarshal(out.Output, &results))
	return results
}

// want makes one call in a call of its own and holds its errno, which may be one of several.
func (w *world) want(t testing.TB, o op, errnos ...uint32) opResult {
	t.Helper()
	r := w.do(t, o)[0]
	for _, e := range errnos {
		if r.Errno == e {
			return r
		}
	}
	t.Errorf("%s %q %q: errno %d, want %v", o.Call, o.Path, o.New, r.Errno, errnos)
	return r
}

func TestAProgramUsesItsDirectory(t *testing.T) {
	w := newWorld(t)
	r := w.do(t,
		op{Call: "path_create_directory", FD: 3, Path: "sub/"},
		op{Call: "path_open", FD: 3, Path: "sub/file", Oflags: creat | excl, Rights: canRead | canWrite}, // 5
		op{Call: "fd_write", FD: 5, Data: "hello"},
		op{Call: "fd_seek", FD: 5, N: 1},
		op{Call: "fd_read", FD: 5, Len: 10},
		op{Call: "path_open", FD: 3, Path: "sub", Oflags: directory}, // 6
		op{Call: "path_rename", FD: 6, Path: "file", To: 3, New: "moved"},
		op{Call: "list", FD: 3, Len: 100},
		op{Call: "path_unlink_file", FD: 3, Path: "sub/../moved"},
		op{Call: "path_remove_directory", FD: 3, Path: "sub"},
		op{Call: "fd_prestat_get", FD: 5},
		op{Call: "path_open", FD: 4, Path: "book"}, // 7
		op{Call: "fd_read", FD: 7, Len: 10},
	)
	for i, got := range r {
		if want := map[int]uint32{10: badf}[i]; got.Errno != want {
			t.Errorf("call %d: errno %d, want %d", i, got.Errno, want)
		}
	}
	if r[1].Value != 5 || r[4].Data != "ello" || r[12].Data != "words" || strings.Join(r[7].Names, " ") != ". .. moved sub" && strings.Join(r[7].Names, " ") != ". .. sub moved" {
		t.Errorf("results are %+v", r)
	}
}

// lay puts links of every kind that lead out into the directory, in place of all that was there.
func (w *world) lay(t testing.TB) {
	t.Helper()
	entries, err := os.ReadDir(w.work)
	must(t, err)
	for _, e := range entries {
		must(t, os.RemoveAll(filepath.Join(w.work, e.Name())))
	}
	for name, target := range map[string]string{
		"link": "../canary", "absolute": filepath.Join(w.outside, "canary"), "dir": "../secret", "dirabs": filepath.Join(w.outside, "secret"),
		"up": "..", "dangling": "../new", "loop": "loop", "chain": "link", "mixed": "dir/../canary", "proc": "/proc/self/cwd", "root": "/",
	} {
		must(t, os.Symlink(target, filepath.Join(w.work, name)))
	}
	must(t, os.Mkdir(filepath.Join(w.work, "sub"), 0o700))
	must(t, os.WriteFile(filepath.Join(w.work, "mine"), []byte("mine"), 0o600))
}

// outward are paths that lead out of the directory by themselves or through what lay put there, or that try to.
var outward = []string{
	"..", "../", "../canary", "../canary/", "sub/../../canary", "sub/../../secret/canary", "/etc/passwd", "//etc/passwd", "/", "/../canary",
	"./../canary", "sub//..//..//canary", "link", "link/", "absolute", "absolute/", "dir", "dir/", "dir/canary", "dirabs/canary", "dirabs/.", "dir/.", "dir/..",
	"up", "up/", "up/canary", "up/work/../canary", "dangling", "dangling/", "chain", "mixed", "loop", "loop/x", "proc/canary", "root/etc/passwd", "root/",
	"sub/" + strings.Repeat("../", 50) + "canary", strings.Repeat("../", 1300), "mine/../../canary", "../work/mine", "../work/../canary",
	"canary\x00", "..\x00/canary", "dir/\xff", "dir/new", "up/new", "dirabs/new",
}

// TestNoPathLeadsOut tries every function on every path that leads elsewhere.
func TestNoPathLeadsOut(t *testing.T) {
	w := newWorld(t)
	for _, path := range outward {
		var ops []op
		for _, follow := range []uint32{0, 1} {
			for _, oflags := range []uint32{0, creat, creat | excl, creat | trunc, trunc, directory} {
				ops = append(ops, op{Call: "path_open", FD: 3, Path: path, Follow: follow, Oflags: oflags, Rights: canRead | canWrite},
					op{Call: "path_open", FD: 3, Path: path, Follow: follow, Oflags: oflags, Rights: canRead})
			}
			ops = append(ops,
				op{Call: "path_filestat_set_times", FD: 3, Path: path, Follow: follow, N: 1, Flags: 1 | 4},
				op{Call: "path_link", FD: 3, Path: path, To: 3, New: "linked", Follow: follow},
				op{Call: "read", FD: 3, Path: path, Follow: follow, Data: "nothing"}) // whatever is read ends the program
		}
		ops = append(ops,
			op{Call: "path_filestat_get", FD: 3, Path: path, Follow: 1},
			op{Call: "path_create_directory", FD: 3, Path: path}, op{Call: "path_remove_directory", FD: 3, Path: path},
			op{Call: "path_symlink", FD: 3, Path: "../canary", New: path}, op{Call: "path_link", FD: 3, Path: "mine", To: 3, New: path})
		w.lay(t)
		for i, r := range w.do(t, ops...) {
			if o := ops[i]; r.Errno == success {
				t.Errorf("%s %q (follow %d, flags %d, new %q) succeeded", o.Call, o.Path, o.Follow, o.Oflags, o.New)
			}
		}
		// A link itself may be renamed, removed and replaced.
		w.do(t, op{Call: "path_rename", FD: 3, Path: path, To: 3, New: "caught"}, op{Call: "read", FD: 3, Path: "caught", Follow: 1, Data: "nothing"},
			op{Call: "path_rename", FD: 3, Path: "caught", To: 3, New: path}, op{Call: "path_rename", FD: 3, Path: "mine", To: 3, New: path},
			op{Call: "path_unlink_file", FD: 3, Path: path}, op{Call: "path_create_directory", FD: 3, Path: path})
		w.check(t)
	}
}

func TestLinksInsideAreFollowedAndNoneAreMade(t *testing.T) {
	w := newWorld(t)
	must(t, os.Mkdir(filepath.Join(w.work, "sub"), 0o700))
	must(t, os.WriteFile(filepath.Join(w.work, "sub/file"), []byte("inside"), 0o600))
	must(t, os.Symlink("sub/file", filepath.Join(w.work, "link")))
	must(t, os.Symlink("sub", filepath.Join(w.work, "dirlink")))
	w.want(t, op{Call: "read", FD: 3, Path: "link", Follow: 1, Data: "inside"}, success)
	w.want(t, op{Call: "read", FD: 3, Path: "dirlink/file", Data: "inside"}, success)
	w.want(t, op{Call: "path_open", FD: 3, Path: "link"}, loop)
	w.want(t, op{Call: "path_open", FD: 3, Path: "dirlink", Oflags: directory}, loop)
	w.want(t, op{Call: "path_symlink", FD: 3, Path: "sub", New: "new"}, perm)
	w.want(t, op{Call: "path_link", FD: 3, Path: "link", To: 3, New: "new", Follow: 1}, perm)
	if r := w.want(t, op{Call: "path_readlink", FD: 3, Path: "link"}, success); r.Data != "sub/file" {
		t.Errorf("the link points to %q", r.Data)
	}
	w.want(t, op{Call: "path_unlink_file", FD: 3, Path: "link"}, success)
	if b, err := os.ReadFile(filepath.Join(w.work, "sub/file")); err != nil || string(b) != "inside" {
		t.Errorf("the file behind the link is %q, %v", b, err)
	}
}

// TestWhatMayOnlyBeReadIsNotChanged has a manifest that asks to read and a grant that would allow to write.
func TestWhatMayOnlyBeReadIsNotChanged(t *testing.T) {
	w := newWorld(t)
	book := filepath.Join(w.ref, "book")
	before, err := os.Stat(book)
	must(t, err)
	var ops []op
	for _, oflags := range []uint32{trunc, creat | trunc, creat} {
		ops = append(ops, op{Call: "path_open", FD: 4, Path: "book", Oflags: oflags, Rights: canRead | canWrite},
			op{Call: "path_open", FD: 4, Path: "new", Oflags: creat | oflags})
	}
	ops = append(ops,
		op{Call: "path_open", FD: 4, Path: "book", Oflags: trunc, Rights: canRead},
		op{Call: "path_open", FD: 4, Path: "book", Rights: canWrite},
		op{Call: "path_open", FD: 4, Path: "book", Flags: 1},
		op{Call: "path_unlink_file", FD: 4, Path: "book"},
		op{Call: "path_create_directory", FD: 4, Path: "new"},
		op{Call: "path_remove_directory", FD: 4, Path: "book"},
		op{Call: "path_rename", FD: 4, Path: "book", To: 4, New: "cook"},
		op{Call: "path_rename", FD: 4, Path: "book", To: 3, New: "cook"},
		op{Call: "path_filestat_set_times", FD: 4, Path: "book", N: 1, Flags: 5},
		op{Call: "path_symlink", FD: 4, Path: "book", New: "new"},
		op{Call: "path_link", FD: 4, Path: "book", To: 4, New: "new"},
		op{Call: "path_link", FD: 4, Path: "book", To: 3, New: "new"},
		op{Call: "fd_filestat_set_times", FD: 4, N: 1, Flags: 5},
	)
	for i, r := range w.do(t, ops...) {
		if r.Errno != rofs {
			t.Errorf("%s %q: errno %d, want %d", ops[i].Call, ops[i].Path, r.Errno, rofs)
		}
	}
	r := w.do(t,
		op{Call: "path_open", FD: 4, Path: "book", Rights: canRead}, // 5
		op{Call: "fd_write", FD: 5, Data: "x"}, op{Call: "fd_filestat_set_size", FD: 5}, op{Call: "fd_allocate", FD: 5, Len: 100},
		op{Call: "fd_filestat_set_times", FD: 5, N: 1, Flags: 5}, op{Call: "path_open", FD: 4, Path: "book", Oflags: creat, Rights: canRead})
	for i, want := range []uint32{success, badf, badf, badf, rofs, success} {
		if r[i].Errno != want {
			t.Errorf("call %d on a file that is open to be read: errno %d, want %d", i, r[i].Errno, want)
		}
	}
	after, err := os.Stat(book)
	must(t, err)
	if b, err := os.ReadFile(book); err != nil || string(b) != "words" || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the file is %q of %v, %v", b, after.ModTime(), err)
	}
}

func TestDescriptorsAreBounded(t *testing.T) {
	w := newWorld(t)
	r := w.do(t,
		op{Call: "path_open", FD: 4, Path: "book", Times: 10_000},
		op{Call: "path_open", FD: 3, Path: "new", Oflags: creat},
		op{Call: "fd_close", FD: 200},
		op{Call: "path_open", FD: 4, Path: "book"},
	)
	if r[0].Errno != mfile || r[1].Errno != mfile || r[2].Errno != success || r[3].Errno != success || r[3].Value != 200 {
		t.Errorf("results are %+v", r)
	}
	if _, err := os.Stat(filepath.Join(w.work, "new")); err == nil {
		t.Error("a file was made that could not be opened")
	}
}

func TestDescriptorsCanBeMovedButNotFar(t *testing.T) {
	w := newWorld(t)
	for _, to := range []uint32{1 << 31, 1<<31 - 1, 1<<32 - 1, 256, 9} {
		w.want(t, op{Call: "fd_renumber", FD: 3, To: to}, badf)
	}
	r := w.do(t,
		op{Call: "fd_renumber", FD: 4, To: 3}, // /ref where /work was
		op{Call: "fd_prestat_get", FD: 4},
		op{Call: "path_create_directory", FD: 3, Path: "x"},
		op{Call: "read", FD: 3, Path: "book", Data: "words"},
		op{Call: "fd_close", FD: 3},
		op{Call: "fd_close", FD: 3},
		op{Call: "path_open", FD: 3, Path: "book"},
		op{Call: "fd_renumber", FD: 2, To: 2},
		op{Call: "fd_renumber", FD: 0, To: 0},
		op{Call: "sock_accept", FD: 0}, op{Call: "sock_accept", FD: 77}, op{Call: "proc_raise"},
	)
	for i, want := range []uint32{success, badf, rofs, success, success, badf, badf, success, success, notsock, badf, notsup} {
		if r[i].Errno != want {
			t.Errorf("call %d: errno %d, want %d", i, r[i].Errno, want)
		}
	}
}

func TestPathsAreBounded(t *testing.T) {
	w := newWorld(t)
	w.want(t, op{Call: "path_open", FD: 3, Path: strings.Repeat("a/", 2048) + "a"}, nametoolong)
	w.want(t, op{Call: "path_create_directory", FD: 3, Path: strings.Repeat("a", 300)}, nametoolong)
	w.want(t, op{Call: "path_open", FD: 3, Path: ""}, noent)
	w.want(t, op{Call: "path_rename", FD: 4, Path: "book", To: 3, New: "x"}, rofs)
	w.want(t, op{Call: "path_open", FD: 3, Path: "x", Oflags: creat | directory}, inval)
	w.want(t, op{Call: "path_open", FD: 3, Path: "x/", Oflags: creat}, isdir)
	w.want(t, op{Call: "path_open", FD: 3, Path: ".", Rights: canWrite}, isdir)
	w.want(t, op{Call: "path_remove_directory", FD: 3, Path: "."}, inval)
	w.want(t, op{Call: "path_remove_directory", FD: 4, Path: "book"}, rofs)
}

// TestALargeDirectoryIsReadBitByBit also goes back to its beginning, and far behind its end.
func TestALargeDirectoryIsReadBitByBit(t *testing.T) {
	w := newWorld(t)
	const many = 3000
	for i := range many {
		must(t, os.WriteFile(filepath.Join(w.work, fmt.Sprintf("file-%d", i)), nil, 0o600))
	}
	r := w.do(t,
		op{Call: "list", FD: 3, Len: 256}, op{Call: "list", FD: 3, Len: 1 << 20}, op{Call: "list", FD: 3, Len: 64},
		op{Call: "fd_readdir", FD: 3, Len: 64, N: many}, op{Call: "fd_readdir", FD: 3, Len: 64, N: 5}, op{Call: "fd_readdir", FD: 3, Len: 64, N: 1<<64 - 1},
		op{Call: "fd_readdir", FD: 3, Len: 23}, op{Call: "list", FD: 3, Len: 256},
	)
	for _, i := range []int{0, 1, 2, 7} {
		if r[i].Value != many+2 || r[i].Errno != 0 {
			t.Errorf("listing %d has %d entries, errno %d, want %d", i, r[i].Value, r[i].Errno, many+2)
		}
	}
	if len(r[3].Names) == 0 || len(r[4].Names) == 0 || len(r[5].Names) != 0 || r[5].Errno != 0 || r[6].Errno != inval {
		t.Errorf("results are %+v", r[3:7])
	}
}

func TestARenameOverADirectory(t *testing.T) {
	w := newWorld(t)
	for _, dir := range []string{"a", "b", "full/x"} {
		must(t, os.MkdirAll(filepath.Join(w.work, dir), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(w.work, "file"), []byte("f"), 0o600))
	w.want(t, op{Call: "path_rename", FD: 3, Path: "file", To: 3, New: "a"}, isdir)
	w.want(t, op{Call: "path_rename", FD: 3, Path: "a", To: 3, New: "file"}, notdir)
	w.want(t, op{Call: "path_rename", FD: 3, Path: "a", To: 3, New: "full"}, notempty, exist)
	w.want(t, op{Call: "path_rename", FD: 3, Path: "a", To: 3, New: "b"}, success)
	w.want(t, op{Call: "path_rename", FD: 3, Path: "b", To: 3, New: "b"}, success)
	w.want(t, op{Call: "path_rename", FD: 3, Path: "full", To: 3, New: "full/x/y"}, inval)
	w.want(t, op{Call: "path_rename", FD: 3, Path: "file/", To: 3, New: "g"}, notdir)
}

// TestADirectoryThatMovedIsNotMistaken renames the directory that a descriptor stands for, and puts another in its place.
func TestADirectoryThatMovedIsNotMistaken(t *testing.T) {
	w := newWorld(t)
	must(t, os.MkdirAll(filepath.Join(w.work, "a"), 0o700))
	must(t, os.WriteFile(filepath.Join(w.work, "a/file"), []byte("first"), 0o600))
	r := w.do(t,
		op{Call: "path_open", FD: 3, Path: "a", Oflags: directory},               // 5
		op{Call: "path_open", FD: 3, Path: "a/file", Rights: canRead | canWrite}, // 6
		op{Call: "path_rename", FD: 3, Path: "a", To: 3, New: "b"},
		op{Call: "path_create_directory", FD: 3, Path: "a"},
		op{Call: "read", FD: 5, Path: "file", Data: "first"},
		op{Call: "path_rename", FD: 5, Path: "file", To: 3, New: "moved"},
		op{Call: "fd_filestat_set_times", FD: 6, N: 1, Flags: 5},
		op{Call: "path_rename", FD: 5, Path: "file", To: 5, New: "renamed"},
	)
	for i, want := range []uint32{0, 0, 0, 0, 0, xdev, notsup, 0} {
		if r[i].Errno != want {
			t.Errorf("call %d: errno %d, want %d", i, r[i].Errno, want)
		}
	}
}

func TestWhatAProgramHadDoneIsKnownHoweverItEnds(t *testing.T) {
	w := newWorld(t)
	for _, tc := range []struct {
		name string
		ops  []op
		code toolabi.Code
		want toolabi.EffectState
	}{
		{"exit after a change", []op{{Call: "path_create_directory", FD: 3, Path: "one"}, {Call: "exit", N: 4}}, toolabi.Exited, toolabi.EffectApplied},
		{"exit after a refusal", []op{{Call: "path_create_directory", FD: 4, Path: "one"}, {Call: "exit", N: 4}}, toolabi.Exited, toolabi.EffectNone},
		{"exit after reading", []op{{Call: "path_open", FD: 4, Path: "book"}, {Call: "exit", N: 4}}, toolabi.Exited, toolabi.EffectNone},
	} {
		out, err := w.invoke(t.Context(), tc.ops...)
		must(t, err)
		wantCode(t, out, tc.code)
		if out.Err != nil && out.Err.Effect != tc.want {
			t.Errorf("%s: effect is %v, want %v", tc.name, out.Err.Effect, tc.want)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	limit := toolabi.NewError(toolabi.LimitTime, "enough")
	time.AfterFunc(100*time.Millisecond, func() { cancel(limit) })
	out, err := w.invoke(ctx, op{Call: "path_create_directory", FD: 3, Path: "two"}, op{Call: "spin"})
	must(t, err)
	wantCode(t, out, toolabi.LimitTime)
	if limit.Effect != toolabi.EffectNone {
		t.Error("the runtime's own error was changed")
	}
}

func TestADirectoryThatIsNotThereFailsTheCall(t *testing.T) {
	box, s := open(t, sandbox.Config{CacheDir: CodeCache(t)})
	d := s.add(wrap(t, Command(t, "internal/wasmtest/guests/files"), toolabi.Command{Dirs: []toolabi.Dir{{Name: "work", Path: "/work", Reason: "to test"}}}))
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for path, want := range map[string]toolabi.Code{
		filepath.Join(dir, "nothing"): toolabi.NotFound, file: toolabi.NotFound, "relative": toolabi.Internal, "": toolabi.Internal,
	} {
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: d, Tool: "run", Input: []byte("[]"), Mounts: []toolabi.Mount{{Name: "work", Path: path}}}, nil)
		must(t, err)
		wantCode(t, out, want)
		if out.Err != nil && (strings.Contains(out.Err.Message, dir) || out.Err.Effect != toolabi.EffectNone) {
			t.Errorf("%q: error is %+v", path, out.Err)
		}
	}
}

func TestOneCallOfAFunctionDoesOnlySoMuch(t *testing.T) {
	w := newWorld(t)
	r := w.do(t,
		op{Call: "path_open", FD: 3, Path: "f", Oflags: creat}, // 5
		op{Call: "fd_write_vector", FD: 5, Len: 1 << 20, N: 1 << 20},
		op{Call: "fd_write_vector", FD: 5, Len: 1, N: 1 << 20},
		op{Call: "fd_write_vector", FD: 2, Len: 1 << 20, N: 1 << 20},
	)
	for i, want := range []uint64{5, 16 << 20, 1024, 16 << 20} {
		if r[i].Errno != success || r[i].Value != want {
			t.Errorf("call %d: %+v, want %d", i, r[i], want)
		}
	}
}
