package wasmtest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Committed returns the module that stands in dir, which is relative to the root of the module, beside its source, its build.sh and
// SHA256SUMS, which build.sh writes. Where one of the files is another than when the module was built, the test ends: the module
// would not be what its source says. It has no manifest.
func Committed(t testing.TB, dir string) []byte {
	t.Helper()
	dir, err := locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkSums(dir); err != nil {
		t.Fatalf("%v: run %s", err, filepath.Join(dir, "build.sh"))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.wasm"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d modules in %s, %v", len(files), dir, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkSums holds the files of a directory against its SHA256SUMS: each of them has to be there, and no other.
func checkSums(dir string) error {
	list, err := os.ReadFile(filepath.Join(dir, sums))
	if err != nil {
		return err
	}
	left := map[string]bool{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		left[e.Name()] = true
	}
	delete(left, sums)
	for lines := bufio.NewScanner(bytes.NewReader(list)); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != sum {
			return fmt.Errorf("%s has changed since the module was built", name)
		}
		delete(left, name)
	}
	for name := range left {
		return fmt.Errorf("%s is not in %s", name, sums)
	}
	return nil
}

const sums = "SHA256SUMS"
