package sandbox

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// TestTheSumIsOfEverything changes files of several pieces in one place each, and what they are called.
func TestTheSumIsOfEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "code")
	named := codeFile{module: toolabi.DigestOf([]byte("module")), key: strings.Repeat("0", 64)}
	sum := func(f codeFile, content []byte) string {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := f.hash(path)
		if err != nil || !isHash(s) {
			t.Fatalf("%q, %v", s, err)
		}
		return s
	}
	content := make([]byte, 5*hashPiece/2)
	for i := range content {
		content[i] = byte(i / 1000)
	}
	seen := map[string]string{sum(named, content): "nothing"}
	for what, s := range map[string]string{
		"the module":         sum(codeFile{module: toolabi.DigestOf([]byte("other")), key: named.key}, content),
		"the key":            sum(codeFile{module: named.module, key: strings.Repeat("1", 64)}, content),
		"a byte less":        sum(named, content[:len(content)-1]),
		"a byte more":        sum(named, append(bytes.Clone(content), 0)),
		"a piece less":       sum(named, content[hashPiece:]),
		"the order":          sum(named, slices.Concat(content[hashPiece:2*hashPiece], content[:hashPiece], content[2*hashPiece:])),
		"one piece":          sum(named, content[:hashPiece]),
		"less than a piece":  sum(named, content[:hashPiece-1]),
		"everything":         sum(named, nil),
		"a bit of the first": sum(named, flipped(content, 0)),
		"a bit of the next":  sum(named, flipped(content, hashPiece)),
		"a bit of the last":  sum(named, flipped(content, len(content)-1)),
	} {
		if seen[s] != "" {
			t.Errorf("%s changes what %s changes", what, seen[s])
		}
		seen[s] = what
	}
	if again := sum(named, content); seen[again] != "nothing" {
		t.Error("the second time it is another sum")
	}
}

func flipped(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}
