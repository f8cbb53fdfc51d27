//go:build unix

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

// A process that watches goes on with what is answered, until it is told to stop.
func TestAWatchingProcessGoesOnWithWhatIsAnswered(t *testing.T) {
	dir, bin := t.TempDir(), build(t, "")
	module, file := filepath.Join(dir, "flows.wasm"), filepath.Join(dir, "journal.db")
	if err := os.WriteFile(module, wasmtest.Tool(t, "internal/wasmtest/guests/flows"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) *exec.Cmd {
		c := exec.Command(bin, append([]string{"-q", "--journal", file}, args...)...)
		c.Env = append(os.Environ(), "WRUN_CACHE="+wasmtest.CodeCache(t), "XDG_CONFIG_HOME="+dir)
		return c
	}
	ask := command("call", module, "ask", `{"text":"may I?"}`, "--id", "a")
	if err := ask.Run(); ask.ProcessState.ExitCode() != exitWaiting {
		t.Fatalf("the call ends with %v", err)
	}
	var out strings.Builder
	watch := command("resume", "--due", "--watch")
	watch.Stdout = &out
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- watch.Wait() }()
	if text, err := command("approve", "a", "call/1", "--by", "ann").CombinedOutput(); err != nil {
		t.Fatalf("approve: %v\n%s", err, text)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h, err := wrun.Open(ctx, wrun.Config{Journal: file})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for _, err := range h.Watch(ctx, "a") {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := watch.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ended
	if watch.ProcessState.ExitCode() != 143 || out.String() != `a  done  {"by":"ann","note":""}`+"\n" {
		t.Errorf("it ends with %d and says %q", watch.ProcessState.ExitCode(), out.String())
	}
}
