//go:build unix

package sandbox_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/wrun-dev/wrun/runtime/sandbox"
)

func TestPipesAndDevicesAreNoModules(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo.wasm")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, os.DevNull} {
		_, err := sandbox.ReadFile(path)
		wantLoad(t, err, sandbox.NotAFile, path)
	}
}

func TestACacheThatOthersCanEnterIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "cache")
	cfg := sandbox.Config{Source: shelf{}.source, CacheDir: dir}
	box, err := sandbox.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the cache was made with mode %v, %v; want 0700", info.Mode(), err)
	}
	for _, mode := range []os.FileMode{0o777, 0o750, 0o701} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := sandbox.New(t.Context(), cfg); err == nil {
			t.Errorf("a cache of mode %v was used", mode)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.CacheDir = file
	if _, err := sandbox.New(t.Context(), cfg); err == nil {
		t.Error("a file was used as the cache")
	}
}
