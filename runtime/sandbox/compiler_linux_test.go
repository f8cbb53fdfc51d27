package sandbox_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// TestACompilerDiesWithItsParent kills a process whose compiler neither reads nor looks at anything.
func TestACompilerDiesWithItsParent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	argv := self(t, append([]string{"call-echo", cacheFor(t)}, self(t, "compile-hangs", file)...)...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(echo(t)), os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := pidIn(t, file)
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	gone(t, pid)
}

// TestACompilerInheritsNothing looks at the environment and the descriptors of a compiler that does nothing.
func TestACompilerInheritsNothing(t *testing.T) {
	t.Setenv("SECRET", "hunter2")
	file := filepath.Join(t.TempDir(), "pid")
	box, s := open(t, sandbox.Config{Compiler: self(t, "compile-hangs", file)})
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { left <- box.Prepare(ctx, s.add(echo(t))) }()
	proc := filepath.Join("/proc", strconv.Itoa(pidIn(t, file)))
	if env, err := os.ReadFile(filepath.Join(proc, "environ")); err != nil || len(env) > 0 {
		t.Errorf("its environment is %q, %v", env, err)
	}
	cancel()
	<-left
}

// TestACompilerIsBoundBeforeItReads gives a compiler the end of a pipe that it has not asked for, and nothing to read. It
// closes what it was given, and may not use more memory than it was told.
func TestACompilerIsBoundBeforeItReads(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	argv := self(t, "compile-module", cacheFor(t), "4294967296", "1", "0")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.ExtraFiles = []string{}, []*os.File{w}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if b, err := io.ReadAll(r); err != nil || len(b) > 0 { // ends with the last descriptor
		t.Errorf("read %q, %v", b, err)
	}
	limits, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "limits"))
	want := strconv.Itoa(1<<32 + 256<<20)
	if err != nil || !slices.ContainsFunc(strings.Split(string(limits), "\n"), func(l string) bool {
		return strings.HasPrefix(l, "Max data size") && strings.Count(l, want) == 2
	}) {
		t.Errorf("its limits are, %v,\n%swant %s bytes of data", err, limits, want)
	}
	in.Close()
	_ = cmd.Wait()
}
