//go:build !wasip1

package sdk_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestModuleImportsOnlyTheHostFunctionsItsToolsUse(t *testing.T) {
	for module, want := range map[string][]string{
		"./testdata/templated":  {"clock"}, // uses text/template
		"./testdata/everything": {"approve", "clock", "http_fetch", "http_send", "log", "progress", "random", "sleep", "tool_call"},
		"../tools/text":         nil, // uses text/template
		"../tools/payments":     {"http_fetch", "http_send", "log", "progress"},
		"../tools/mailer":       {"log", "mail_send"},
		"../tools/feed": {"clock", "config_get", "http_fetch", "kv_cas", "kv_delete", "kv_get", "kv_list", "kv_put", "log", "progress",
			"secret_has", "sleep"},
		"../tools/files": {"approve", "artifact_get", "artifact_put", "artifact_stat", "clock", "http_fetch", "http_send", "log", "progress", "random",
			"tool_call", "workspace_list", "workspace_read", "workspace_remove", "workspace_write"},
	} {
		if got := hostImports(t, module); !slices.Equal(got, want) {
			t.Errorf("%s imports %v, want %v", module, got, want)
		}
	}
}

func TestEveryHostFunctionIsUsedByABundledTool(t *testing.T) {
	dirs, err := os.ReadDir("../tools")
	if err != nil {
		t.Fatal(err)
	}
	user := map[string]string{}
	for _, d := range dirs {
		for _, name := range hostImports(t, "../tools/"+d.Name()) {
			user[name] = d.Name()
		}
	}
	for _, f := range toolabi.Functions {
		if user[f.Name] == "" {
			t.Errorf("no module under tools/ uses %s: authors have nothing to look at", f.Name)
		}
	}
}

// built holds what hostImports found out, by package: linking is what takes time.
var built = map[string][]string{}

// hostImports returns the host functions that a module imports, in the order of the alphabet.
func hostImports(t *testing.T, pkg string) []string {
	t.Helper()
	if names, ok := built[pkg]; ok {
		return names
	}
	b, err := os.ReadFile(build(t, pkg))
	if err != nil {
		t.Fatal(err)
	}
	imports, err := importsOf(b)
	if err != nil {
		t.Fatal(err)
	}
	for from := range imports {
		if from != toolabi.ImportModule && from != toolabi.WASIModule {
			t.Errorf("%s imports from %s", pkg, from)
		}
	}
	var names []string
	for _, name := range imports[toolabi.ImportModule] {
		if !slices.Contains([]string{toolabi.ImportInputRead, toolabi.ImportOutputWrite, toolabi.ImportResultRead}, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	built[pkg] = names
	return names
}

// build builds a module the way wrun does and returns its file.
func build(t *testing.T, pkg string) string {
	t.Helper()
	readSources(t, ".", "../toolabi", pkg)
	file := filepath.Join(t.TempDir(), "module.wasm")
	c := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-o", file, pkg)
	c.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return file
}

// readSources opens what a build reads, so that go test runs again when it has changed.
func readSources(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			_, err = os.ReadFile(path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// importsOf returns the names that a module imports, by the module they come from. It knows functions only, which is all
// that Go's linker writes.
func importsOf(wasm []byte) (map[string][]string, error) {
	r := bytes.NewReader(wasm)
	if _, err := r.Seek(8, io.SeekStart); err != nil {
		return nil, err
	}
	for {
		id, err := r.ReadByte()
		if err != nil {
			return nil, fmt.Errorf("find the import section: %w", err)
		}
		size, err := binary.ReadUvarint(r)
		if err != nil {
			return nil, err
		}
		if id == 2 {
			return readImports(r)
		}
		if _, err := r.Seek(int64(size), io.SeekCurrent); err != nil {
			return nil, err
		}
	}
}

func readImports(r *bytes.Reader) (map[string][]string, error) {
	count, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	imports := map[string][]string{}
	for range count {
		module, err1 := readName(r)
		name, err2 := readName(r)
		kind, err3 := r.ReadByte()
		_, err4 := binary.ReadUvarint(r) // the index of its type
		if err := errors.Join(err1, err2, err3, err4); err != nil || kind != 0 {
			return nil, fmt.Errorf("import %s.%s of kind %d: %w", module, name, kind, err)
		}
		imports[module] = append(imports[module], name)
	}
	return imports, nil
}

func readName(r *bytes.Reader) (string, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil || n > uint64(r.Len()) {
		return "", fmt.Errorf("name of %d bytes: %w", n, err)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(r, b)
	return string(b), err
}
