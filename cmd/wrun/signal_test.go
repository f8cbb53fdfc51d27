//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// The first signal waits for what is under way, the second ends the process at once, and that is just as safe.
func TestASecondSignalEndsTheProcessAtOnce(t *testing.T) {
	l, err := ledger.Start(ledger.Config{Behaviour: ledger.Behaviour{Hang: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir, bin := t.TempDir(), build(t, "")
	module := filepath.Join(dir, "payments.wasm")
	if err := os.WriteFile(module, wasmtest.Tool(t, "tools/payments"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrun := func(args ...string) *exec.Cmd {
		c := exec.Command(bin, append([]string{"-q", "--journal", filepath.Join(dir, "journal.db")}, args...)...)
		c.Env = append(os.Environ(), "WRUN_CACHE="+wasmtest.CodeCache(t))
		return c
	}
	input := fmt.Sprintf(`{"ledger":%q,"account":"acme","amount_cents":5,"reference":"r"}`, l.URL())
	call := wrun("call", module, "charge", input, "--id", "r", "--allow-http", l.URL())
	stderr, err := call.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := call.Start(); err != nil {
		t.Fatal(err)
	}
	if err := l.WaitHanging(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	signal := func() {
		if err := call.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	signal()
	if line, err := bufio.NewReader(stderr).ReadString('\n'); err != nil || !strings.HasPrefix(line, "stopping: ") {
		t.Fatalf("after the first signal it says %q, %v", line, err)
	}
	signal()
	if err := call.Wait(); call.ProcessState.ExitCode() != 143 {
		t.Errorf("it ends with %v, want exit code 143", err)
	}
	l.Release()
	resume := wrun("resume", "r")
	if err := resume.Run(); resume.ProcessState.ExitCode() != exitUncertain {
		t.Errorf("resume ends with %v, want exit code %d", err, exitUncertain)
	}
	if n := l.Count().Charges; n != 1 {
		t.Errorf("%d charges", n)
	}
}

// A process that is told to stop does so within two seconds, whatever the other side does; a bound of ten is tested. Its exit
// code is the signal's, and what it says is what is left to do.
func TestASignalEndsTheProcessAlthoughAnEffectIsOnItsWay(t *testing.T) {
	l, err := ledger.Start(ledger.Config{Behaviour: ledger.Behaviour{Hang: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir, bin := t.TempDir(), build(t, "")
	module := filepath.Join(dir, "payments.wasm")
	if err := os.WriteFile(module, wasmtest.Tool(t, "tools/payments"), 0o600); err != nil {
		t.Fatal(err)
	}
	call := exec.Command(bin, "-q", "--journal", filepath.Join(dir, "journal.db"), "call", module, "charge",
		fmt.Sprintf(`{"ledger":%q,"account":"acme","amount_cents":5,"reference":"r"}`, l.URL()), "--id", "r", "--allow-http", l.URL())
	call.Env = append(os.Environ(), "WRUN_CACHE="+wasmtest.CodeCache(t))
	var stderr strings.Builder
	call.Stderr = &stderr
	if err := call.Start(); err != nil {
		t.Fatal(err)
	}
	if err := l.WaitHanging(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := call.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := call.Wait(); call.ProcessState.ExitCode() != 130 {
		t.Errorf("it ends with %v, want exit code 130", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if said := stderr.String(); !strings.Contains(said, "error[W0401]") || !strings.Contains(said, "wrun") || !strings.Contains(said, "resolve r call/1") {
		t.Errorf("it says\n%s", said)
	}
}

// What looks after a journal and is stopped has no run to go on with: it says that nothing is left half done.
func TestAStoppedBackupNamesNoRun(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "journal.db"), filepath.Join(dir, "all.backup")
	j, err := boltdb.Create(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(signalError{syscall.SIGTERM})
	var out, errOut bytes.Buffer
	code := Main(ctx, []string{"--journal", path, "backup", file}, strings.NewReader(""), &out, &errOut)
	want := "error[W0415]: received terminated; nothing is left half done\n  next   the same command\n"
	if code != 143 || !strings.HasPrefix(errOut.String(), want) {
		t.Errorf("exit code %d, %s", code, &errOut)
	}
	if _, err := os.Lstat(file); !os.IsNotExist(err) {
		t.Errorf("it leaves a file, %v", err)
	}
}
