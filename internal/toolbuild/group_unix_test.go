//go:build unix

package toolbuild

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What a compiler or a test has started ends with it, whether it listens or not.
func TestWhatWasStartedEndsWithTheContext(t *testing.T) {
	for name, script := range map[string]string{
		"it listens":      `sleep 600 > alive; true`,
		"it does not":     `trap "" INT; sleep 600 > alive & wait`,
		"it has gone off": `sleep 600 > alive & exec sleep 600`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			alive := filepath.Join(dir, "alive")
			if err := syscall.Mkfifo(alive, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- run(ctx, dir, nil, "sh", "-c", script) }()
			f, err := os.Open(alive) // once somebody writes
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			cancel(io.ErrClosedPipe)
			if err := <-ended; err != io.ErrClosedPipe { // the cause, as it is
				t.Errorf("it ended with %v", err)
			}
			if err := f.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadAll(f); err != nil { // the end of the file is the end of all who write
				t.Errorf("somebody lives on: %v", err)
			}
		})
	}
}
