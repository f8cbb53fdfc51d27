package wasmtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var committed = []string{"internal/wasmtest/guests/keeper_c", "internal/wasmtest/guests/keeper_rust"}

func TestCommittedGuestsAreOfTheirSources(t *testing.T) {
	for _, dir := range committed {
		if b := Committed(t, dir); !bytes.HasPrefix(b, Header) {
			t.Errorf("what is in %s is no module", dir)
		}
	}
}

func TestACommittedGuestWhoseFilesChangedIsNoticed(t *testing.T) {
	for what, change := range map[string]func(dir string) error{
		"source":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "keeper.c"), []byte("int x;"), 0o600) },
		"module":  func(dir string) error { return os.WriteFile(filepath.Join(dir, "keeper.wasm"), Header, 0o600) },
		"removed": func(dir string) error { return os.Remove(filepath.Join(dir, "build.sh")) },
		"added":   func(dir string) error { return os.WriteFile(filepath.Join(dir, "more.c"), nil, 0o600) },
	} {
		dir := copied(t, committed[0])
		if err := checkSums(dir); err != nil {
			t.Fatal(err)
		}
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if err := checkSums(dir); err == nil {
			t.Errorf("%s: nothing was noticed", what)
		}
	}
}

// TestCommittedGuestsAreBuiltAsTheirScriptsSay builds them again where the compilers are those that they were built with.
func TestCommittedGuestsAreBuiltAsTheirScriptsSay(t *testing.T) {
	for _, from := range committed {
		t.Run(filepath.Base(from), func(t *testing.T) {
			dir := copied(t, from)
			var failed *exec.ExitError
			out, err := exec.Command("sh", filepath.Join(dir, "build.sh")).CombinedOutput()
			switch {
			case errors.As(err, &failed) && failed.ExitCode() == 3 || errors.Is(err, exec.ErrNotFound):
				t.Skipf("THE GUEST WAS NOT BUILT AGAIN: %v: %s", err, out)
			case err != nil:
				t.Fatalf("%v: %s", err, out)
			}
			if !bytes.Equal(read(t, filepath.Join(dir, sums)), read(t, filepath.Join(located(t, from), sums))) {
				t.Error("it comes to other bytes")
			}
		})
	}
}

func copied(t *testing.T, from string) string {
	dir := filepath.Join(t.TempDir(), "guest")
	if err := os.CopyFS(dir, os.DirFS(located(t, from))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, file string) []byte {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func located(t *testing.T, dir string) string {
	t.Helper()
	dir, err := locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
