package wasmtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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
	"time"

	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// Tool builds the Go guest package in dir, asks it for its manifest and attaches that.
func Tool(t testing.TB, dir string) []byte {
	t.Helper()
	return must(MakeTool(dir))(t)
}

// Build builds the Go guest package in dir, which is relative to the root of the module or absolute, as a WASI reactor. The
// result is kept outside of the tree, by the content of all that it is made of. Every source file of this module that it is
// made of is read in the test process, so that go test runs a test again when one of them changes.
func Build(t testing.TB, dir string) []byte {
	t.Helper()
	return must(makeReactor(dir))(t)
}

// Command builds the Go guest package in dir, as for Build, as an ordinary program of WASI. It has no manifest.
func Command(t testing.TB, dir string) []byte {
	t.Helper()
	return must(MakeCommand(dir))(t)
}

// must ends a test that cannot have its guest.
func must(wasm []byte, err error) func(testing.TB) []byte {
	return func(t testing.TB) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return wasm
	}
}

// MakeTool is Tool for programs that are no tests.
func MakeTool(dir string) ([]byte, error) {
	return cached(dir, "tool.wasm", func(_, out string) error {
		wasm, err := makeReactor(dir)
		if err != nil {
			return err
		}
		m, err := sandbox.Describe(context.Background(), wasm)
		if err != nil {
			return err
		}
		wasm, err = sandbox.AttachManifest(wasm, m)
		if err != nil {
			return err
		}
		return os.WriteFile(out, wasm, 0o600)
	})
}

// MakeCommand is Command for programs that are no tests.
func MakeCommand(dir string) ([]byte, error) {
	return cached(dir, "program.wasm", func(in, out string) error {
		_, err := goCommand(in, "build", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-o", out, ".")
		return err
	})
}

func makeReactor(dir string) ([]byte, error) {
	return cached(dir, "module.wasm", func(in, out string) error {
		_, err := goCommand(in, "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-o", out, ".")
		return err
	})
}

// cached returns what build writes to a file, or what it wrote when the sources were the same; build is told where the
// package is. Processes that race for it write the same.
func cached(dir, kind string, build func(in, out string) error) ([]byte, error) {
	in, err := locate(dir)
	if err != nil {
		return nil, err
	}
	pkgs, err := list(in)
	if err != nil {
		return nil, err
	}
	key, err := hashSources(pkgs)
	if err != nil {
		return nil, err
	}
	store, err := cacheDir("guests")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(store, key+"-"+kind)
	if b, err := os.ReadFile(file); err == nil {
		return b, nil
	}
	tmp, err := os.MkdirTemp(store, "build-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, "out.wasm")
	if err := build(in, out); err != nil {
		return nil, fmt.Errorf("build guest %s: %w", dir, err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	// On some systems a file that another process has open cannot be replaced; then it is there already.
	if err := os.Rename(out, file); err != nil && !exists(file) {
		return nil, err
	}
	return b, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// CodeCache returns a directory for compiled code that all tests of the user share, for sandbox.Config.CacheDir.
func CodeCache(t testing.TB) string {
	t.Helper()
	dir, err := CodeCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// CodeCacheDir is CodeCache for programs that are no tests.
func CodeCacheDir() (string, error) { return cacheDir("code") }

// cacheDir returns a directory that outlives the tests, without what was written in it more than two weeks ago.
func cacheDir(name string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "wrun-wasmtest", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	old := time.Now().Add(-14 * 24 * time.Hour)
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // another test may be removing it
		}
		if info, err := d.Info(); err == nil && info.ModTime().Before(old) {
			_ = os.Remove(path)
		}
		return nil
	})
	return dir, nil
}

func locate(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return dir, nil
	}
	base, err := root()
	return filepath.Join(base, dir), err
}

// root returns the directory of this module's go.mod, above the working directory.
func root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if exists(filepath.Join(dir, "go.mod")) {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			err = errors.New("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// pkg is what go list says of a package.
type pkg struct {
	Dir, ImportPath     string
	Standard            bool
	GoFiles, EmbedFiles []string
	SFiles              []string
	Module              *struct {
		Path, Version string
		Main          bool
	}
}

// list returns a guest package and all that it is made of.
func list(dir string) ([]pkg, error) {
	out, err := goCommand(dir, "list", "-deps", "-json=Dir,ImportPath,Standard,GoFiles,EmbedFiles,SFiles,Module", ".")
	if err != nil {
		return nil, err
	}
	var pkgs []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the output of go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

// hashSources returns a name for what the packages hold. Those of the standard library and of other modules are named by
// their versions.
func hashSources(pkgs []pkg) (string, error) {
	h := sha256.New()
	version, err := goCommand("", "env", "GOVERSION")
	if err != nil {
		return "", err
	}
	fmt.Fprintf(h, "%s", version)
	for _, p := range pkgs {
		switch {
		case p.Standard:
		case p.Module != nil && !p.Module.Main:
			fmt.Fprintf(h, "%s %s %s\n", p.ImportPath, p.Module.Path, p.Module.Version)
		default:
			if err := hashPackage(h, p); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// hashPackage reads the directory too, so that go test notices a new file.
func hashPackage(h io.Writer, p pkg) error {
	if _, err := os.ReadDir(p.Dir); err != nil {
		return err
	}
	for _, name := range slices.Concat(p.GoFiles, p.EmbedFiles, p.SFiles) {
		b, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%s/%s %d %x\n", p.ImportPath, name, len(b), sha256.Sum256(b))
	}
	return nil
}

func goCommand(dir string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return stdout.Bytes(), nil
}
