package scaffold_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/internal/scaffold"
)

func errorsAs[E error](err error, to *E) bool { return errors.As(err, to) }

var two = []scaffold.File{{Path: "a/b/c.txt", Content: []byte("c")}, {Path: "d.txt", Content: []byte("d")}}

func TestAToolIsMadeWhereNothingIs(t *testing.T) {
	dir := t.TempDir()
	for _, at := range []string{filepath.Join(dir, "new", "below"), dir + "/empty"} {
		if filepath.Base(at) == "empty" {
			if err := os.Mkdir(at, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := scaffold.Write(at, two); err != nil {
			t.Fatal(err)
		}
		for _, f := range two {
			if b, err := os.ReadFile(filepath.Join(at, f.Path)); err != nil || string(b) != string(f.Content) {
				t.Errorf("%s has %q, %v", f.Path, b, err)
			}
		}
	}
}

func TestAToolIsNotMadeOverAnything(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{dir, filepath.Join(dir, "mine")} {
		var occupied *scaffold.OccupiedError
		if err := scaffold.Write(at, two); !errors.As(err, &occupied) {
			t.Errorf("into %s: %v", at, err)
		}
	}
	if names := namesIn(t, dir); len(names) != 1 {
		t.Errorf("it has %q", names)
	}
}

func TestWhatCannotBeWrittenWholeLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	clash := append(two[:2:2], scaffold.File{Path: "d.txt/e", Content: []byte("e")})
	if err := scaffold.Write(filepath.Join(dir, "new"), clash); err == nil {
		t.Fatal("a file was written into a file")
	}
	if names := namesIn(t, dir); len(names) != 0 {
		t.Errorf("it leaves %q", names)
	}
	if err := scaffold.Write(filepath.Join(dir, "new"), append(two[:2:2], scaffold.File{Path: "../out"})); err == nil {
		t.Fatal("a file was written outside")
	}
	if names := namesIn(t, dir); len(names) != 0 {
		t.Errorf("it leaves %q", names)
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
