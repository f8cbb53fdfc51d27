//go:build unix

package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// die ends the process by a signal.
func die() error {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// pidIn waits for a process to write its id into a file.
func pidIn(t testing.TB, file string) int {
	t.Helper()
	for {
		b, err := os.ReadFile(file)
		if pid, bad := strconv.Atoi(string(b)); err == nil && bad == nil {
			return pid
		}
		if t.Context().Err() != nil {
			t.Fatal("the process does not begin")
		}
		runtime.Gosched()
	}
}

func TestASignalIsNamed(t *testing.T) {
	box, s := open(t, sandbox.Config{Compiler: self(t, "compile-dies")})
	if err := box.Prepare(t.Context(), s.add(echo(t))); err == nil || !strings.Contains(err.Error(), "signal: killed, perhaps because the machine has no memory left") {
		t.Errorf("error is %v", err)
	}
}

// TestACompilationThatNobodyWaitsForIsEnded leaves a compiler that hangs. Its process is gone at once, not a zombie, and who
// comes later does not get what those before came to.
func TestACompilationThatNobodyWaitsForIsEnded(t *testing.T) {
	dir, file := cacheFor(t), filepath.Join(t.TempDir(), "pid")
	ended := make(chan struct{}, 1)
	box, s := open(t, sandbox.Config{CacheDir: dir, Compiler: self(t, "compile-hangs", file), OnCompile: func(e sandbox.CompileEvent) {
		if e.Done {
			ended <- struct{}{}
		}
	}})
	d := s.add(echo(t))
	why := errors.New("no longer wanted")
	two := [2]context.CancelCauseFunc{}
	left := make(chan error)
	for i := range two {
		var ctx context.Context
		ctx, two[i] = context.WithCancelCause(t.Context())
		go func() { left <- box.Prepare(ctx, d) }()
	}
	pid := pidIn(t, file)
	two[0](why)
	if err := <-left; err != why {
		t.Errorf("the first came to %v, want %v", err, why)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("it ended although somebody waits: %v", err)
	}
	two[1](why)
	if err := <-left; err != why {
		t.Errorf("the second came to %v, want %v", err, why)
	}
	<-ended
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("its process is still there: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { left <- box.Prepare(ctx, d) }()
	pidIn(t, file)
	cancel(why)
	if err := <-left; err != why {
		t.Errorf("who came later got %v, want %v", err, why)
	}
	<-ended
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	nothingStaged(t, dir)
}

// TestWhatACompilerStartedEndsWithIt has a shell as the compiler that starts another process.
func TestWhatACompilerStartedEndsWithIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	argv := []string{"/bin/sh", "-c", `"$0" compile-hangs "$1"; exit 1`, self(t)[0], file}
	box, s := open(t, sandbox.Config{Compiler: argv, CompileTimeout: 2 * time.Second})
	err := box.Prepare(t.Context(), s.add(echo(t)))
	wantLoad(t, err, sandbox.CompileBudget, "2s")
	gone(t, pidIn(t, file))
}

// gone waits until a process that is not a child of this one has ended.
func gone(t testing.TB, pid int) {
	t.Helper()
	for t.Context().Err() == nil {
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			return
		}
		if b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat")); err == nil && bytes.Contains(b, []byte(") Z ")) {
			return // whoever should collect it does not
		}
		runtime.Gosched()
	}
	t.Errorf("process %d is still there", pid)
}

// TestACompilerEndsWithWhoWantsItsWork closes the standard input of a compiler that is in the middle of a function.
func TestACompilerEndsWithWhoWantsItsWork(t *testing.T) {
	code := bomb(t)
	argv := self(t, "compile-module", cacheFor(t), "4294967296", strconv.Itoa(len(code)), "0")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{}
	cmd.Stdin = bytes.NewReader(code)
	var out bytes.Buffer
	cmd.Stdout = &out
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 || out.Len() > 0 {
		t.Errorf("it came to %v and says %q, want exit code 1 and nothing", err, out.Bytes())
	}
}

// TestATemporaryCacheIsNobodyElses removes the cache of a sandbox that has no directory for one, as systems do with old
// files, and puts something else under its name.
func TestATemporaryCacheIsNobodyElses(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	box, s := open(t, sandbox.Config{Compiler: self(t, "compile-module")})
	roots, err := filepath.Glob(filepath.Join(os.TempDir(), "wrun-code-*"))
	if err != nil || len(roots) != 1 {
		t.Fatal(roots, err)
	}
	for name, instead := range map[string]func() error{
		"a directory for all": func() error { return errors.Join(os.Mkdir(roots[0], 0o700), os.Chmod(roots[0], 0o777)) },
		"a link":              func() error { return os.Symlink(cacheFor(t), roots[0]) },
	} {
		if err := errors.Join(os.RemoveAll(roots[0]), instead()); err != nil {
			t.Fatal(err)
		}
		var l *sandbox.LoadError
		if err := box.Prepare(t.Context(), s.add(echo(t))); err == nil || errors.As(err, &l) {
			t.Errorf("%s: error is %v, want one of the host", name, err)
		}
	}
	if err := os.RemoveAll(roots[0]); err != nil {
		t.Fatal(err)
	}
	works(t, box, s.add(echo(t)))
}
