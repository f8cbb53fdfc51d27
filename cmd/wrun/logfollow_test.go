package main

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// stopper is an output that stops the command with a signal once something was written to it.
type stopper struct {
	strings.Builder
	stop func()
}

func (s *stopper) Write(b []byte) (int, error) {
	s.stop()
	return s.Builder.Write(b)
}

// Somebody who has seen enough presses Ctrl-C: exit code 130, and no run that would have to be gone on with.
func TestFollowingALogEndsWithCtrlC(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	writeRuns(t, path)
	for _, flags := range [][]string{nil, {"--json"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		out := &stopper{stop: func() { cancel(signalError{syscall.SIGINT}) }}
		var errOut strings.Builder
		code := Main(ctx, append([]string{"--journal", path, "log", "invoice-8", "-f"}, flags...), strings.NewReader(""), out, &errOut)
		if code != 130 || !strings.Contains(errOut.String(), "W0415") || strings.Contains(errOut.String(), "resume") || !strings.Contains(out.String(), "created") {
			t.Errorf("%v: exit code %d, %s\n%s", flags, code, &errOut, out)
		}
	}
}
