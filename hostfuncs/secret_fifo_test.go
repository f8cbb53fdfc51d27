//go:build unix

package hostfuncs_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
)

func TestAPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hostfuncs.ReadSecret(t.Context(), "file:"+path); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("got %v", err)
	}
}
