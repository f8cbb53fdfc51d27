package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Where somebody stops the command instead of answering, nothing was added.
func TestASignalAtTheQuestionLeavesNothing(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	defer terminal.Close()
	dir := t.TempDir()
	module := filepath.Join(dir, "good.wasm")
	wasm, err := badModules["good"]()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(module, wasm, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WRUN_CACHE", filepath.Join(dir, "cache"))
	ctx, cancel := context.WithCancelCause(t.Context())
	errOut := &until{text: "[y/N] ", then: func() { cancel(signalError{syscall.SIGINT}) }}
	var out bytes.Buffer
	config := filepath.Join(dir, "config")
	code := Main(ctx, []string{"--config", config, "tool", "add", module}, terminal, &out, errOut)
	if code != 130 || out.Len() != 0 || !strings.Contains(errOut.String(), "Add bad 1.0.0 with these grants?") {
		t.Errorf("exit code %d, standard output %q, standard error\n%s", code, out.String(), errOut.String())
	}
	if _, err := os.Stat(config); err == nil {
		t.Error("it has made the directory of the configuration")
	}
}

// until is a writer that calls a function once a text was written.
type until struct {
	mu   sync.Mutex // guards b
	b    bytes.Buffer
	text string
	then func()
}

func (u *until) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n, err := u.b.Write(p)
	if strings.Contains(u.b.String(), u.text) {
		u.then()
	}
	return n, err
}

func (u *until) String() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.b.String()
}
