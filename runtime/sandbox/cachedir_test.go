package sandbox_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// answering is a guest that answers with a number, by code that differs in nothing but that: two such modules run with each other's code.
func answering(t testing.TB, n int32) []byte {
	g := newGuest()
	var length int
	for i := range int32(10) {
		b, err := toolabi.Encode(toolabi.Reply{Output: []byte{'0' + byte(i)}})
		if err != nil {
			t.Fatal(err)
		}
		g.Data(replyAt+100*i, b)
		length = len(b)
	}
	return g.invoke(0, I32Const(replyAt+100*n), I32Const(int32(length)), Call(g.output), Drop).build(t)
}

// compiled calls a module in a sandbox of its own, and returns what it answers and whether it was compiled.
func compiled(t testing.TB, cfg sandbox.Config, wasm []byte) (answer string, fresh bool) {
	t.Helper()
	s := shelf{}
	cfg.Source = s.source
	cfg.OnCompile = func(sandbox.CompileEvent) { fresh = true }
	box, err := sandbox.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(wasm), Tool: "echo"}, nil)
	if err != nil || out.Err != nil {
		t.Fatal(out.Err, err)
	}
	if err := box.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return string(out.Output), fresh
}

// codeFiles returns the files of code in a cache.
func codeFiles(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "native-2-*", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// waysToCompile are the configurations that have a cache in a directory.
func waysToCompile(t testing.TB, dir string) map[string]sandbox.Config {
	return map[string]sandbox.Config{
		"here":         {CacheDir: dir},
		"by a command": {CacheDir: dir, Compiler: self(t, "compile-module")},
	}
}

// TestCodeThatWasAlteredIsNotRun damages the one file of a cache.
func TestCodeThatWasAlteredIsNotRun(t *testing.T) {
	write := func(path string, b []byte) error { return os.WriteFile(path, b, 0o600) }
	read := func(t *testing.T, path string) []byte {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	other := cacheFor(t)
	compiled(t, sandbox.Config{CacheDir: other}, answering(t, 2))
	valid := read(t, codeFiles(t, other)[0])
	for name, damage := range map[string]func(t *testing.T, path string) error{
		"one bit":   func(t *testing.T, path string) error { b := read(t, path); b[len(b)/2] ^= 1; return write(path, b) },
		"the last":  func(t *testing.T, path string) error { b := read(t, path); b[len(b)-1] ^= 1; return write(path, b) },
		"cut":       func(t *testing.T, path string) error { return os.Truncate(path, 100) },
		"empty":     func(t *testing.T, path string) error { return os.Truncate(path, 0) },
		"longer":    func(t *testing.T, path string) error { return write(path, append(read(t, path), 0)) },
		"gone":      func(t *testing.T, path string) error { return os.Remove(path) },
		"another's": func(t *testing.T, path string) error { return write(path, valid) },
		"huge":      func(t *testing.T, path string) error { return os.Truncate(path, 1<<30) },
		"a directory": func(t *testing.T, path string) error {
			os.Remove(path)
			return os.MkdirAll(filepath.Join(path, "x"), 0o700)
		},
		"a link": func(t *testing.T, path string) error {
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			return os.Symlink(path+".old", path)
		},
		"without a record": func(t *testing.T, path string) error {
			return os.Rename(path, filepath.Join(filepath.Dir(path), strings.Split(filepath.Base(path), "-")[0]))
		},
		"under another record": func(t *testing.T, path string) error {
			key, _, _ := strings.Cut(filepath.Base(path), "-")
			return os.Rename(path, filepath.Join(filepath.Dir(path), key+"-"+strings.Repeat("0", 64)))
		},
		"of another processor": func(t *testing.T, path string) error {
			_, sum, _ := strings.Cut(filepath.Base(path), "-")
			return os.Rename(path, filepath.Join(filepath.Dir(path), strings.Repeat("0", 64)+"-"+sum))
		},
		"of another module": func(t *testing.T, path string) error {
			key, _, _ := strings.Cut(filepath.Base(path), "-")
			theirs := filepath.Base(codeFiles(t, other)[0])
			if strings.HasPrefix(theirs, key) {
				t.Fatal("two modules have one key")
			}
			if err := write(filepath.Join(filepath.Dir(path), theirs), valid); err != nil {
				return err
			}
			return os.Remove(path)
		},
		"of another module, under this one's key": func(t *testing.T, path string) error {
			key, _, _ := strings.Cut(filepath.Base(path), "-")
			_, sum, _ := strings.Cut(filepath.Base(codeFiles(t, other)[0]), "-")
			if err := os.Remove(path); err != nil {
				return err
			}
			return write(filepath.Join(filepath.Dir(path), key+"-"+sum), valid)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := cacheFor(t)
			for way, cfg := range waysToCompile(t, dir) {
				if answer, _ := compiled(t, cfg, answering(t, 1)); answer != "1" {
					t.Fatalf("it says %s", answer)
				}
				if answer, fresh := compiled(t, cfg, answering(t, 1)); answer != "1" || fresh {
					t.Fatalf("%s: it says %s, compiled again: %v", way, answer, fresh)
				}
				file := codeFiles(t, dir)[0]
				if err := damage(t, file); err != nil {
					t.Fatal(err)
				}
				if answer, fresh := compiled(t, cfg, answering(t, 1)); answer != "1" || !fresh {
					t.Errorf("%s: it says %s, compiled again: %v", way, answer, fresh)
				}
				if answer, fresh := compiled(t, cfg, answering(t, 1)); answer != "1" || fresh {
					t.Errorf("%s: then it says %s, compiled again: %v", way, answer, fresh)
				}
				if err := os.RemoveAll(filepath.Dir(filepath.Dir(file))); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestFilesThatWereSwappedAreNotRun gives each of two modules the code of the other.
func TestFilesThatWereSwappedAreNotRun(t *testing.T) {
	dir := cacheFor(t)
	for n := range int32(2) {
		compiled(t, sandbox.Config{CacheDir: dir}, answering(t, n))
	}
	files := codeFiles(t, dir)
	for _, names := range [][2]string{{files[0], files[0] + "~"}, {files[1], files[0]}, {files[0] + "~", files[1]}} {
		if err := os.Rename(names[0], names[1]); err != nil {
			t.Fatal(err)
		}
	}
	for n := range int32(2) {
		if answer, fresh := compiled(t, sandbox.Config{CacheDir: dir}, answering(t, n)); answer != string('0'+n) || !fresh {
			t.Errorf("module %d says %s, compiled again: %v", n, answer, fresh)
		}
	}
}

// TestProcessesCompileTheSameAtOnce starts them together on an empty cache.
func TestProcessesCompileTheSameAtOnce(t *testing.T) {
	dir := cacheFor(t)
	wasm := echo(t)
	argv := self(t, append([]string{"call-echo", dir}, self(t, "compile-module")...)...)
	var cmds []*exec.Cmd
	var said [4]bytes.Buffer
	for i := range said {
		c := exec.Command(argv[0], argv[1:]...)
		c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(wasm), &said[i], os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, c)
	}
	for i, c := range cmds {
		if err := c.Wait(); err != nil || said[i].String() != "1" {
			t.Errorf("one of them says %q, %v", said[i].String(), err)
		}
	}
	box, s := open(t, sandbox.Config{CacheDir: dir, Compiler: self(t, "compile-fails", "asked although it is in the cache")})
	works(t, box, s.add(wasm))
	if files := codeFiles(t, dir); len(files) != 1 {
		t.Errorf("the cache holds %q, want one file", files)
	}
	if files := judgedFiles(t, dir); len(files) != 1 {
		t.Errorf("it is known from %q, want one file", files)
	}
	nothingStaged(t, dir)
}

// TestLeftoversAreRemoved puts what killed processes leave into a cache, and what a version before has put there.
func TestLeftoversAreRemoved(t *testing.T) {
	dir := cacheFor(t)
	put := func(name string, age time.Duration) string {
		path := filepath.Join(dir, name, "wazero-v1-amd64-linux", strings.Repeat("0", 64))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("code"), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(dir, name), when, when); err != nil {
			t.Fatal(err)
		}
		return path
	}
	gone := []string{put("staging-1", 25*time.Hour), put("view-1", 1000*time.Hour)}
	kept := []string{put("staging-2", 23*time.Hour), put("view-2", 0), put("something", 1000*time.Hour), put("compiled-by-v1", 0)}
	if answer, fresh := compiled(t, sandbox.Config{CacheDir: dir}, answering(t, 1)); answer != "1" || !fresh {
		t.Errorf("it says %s, compiled: %v", answer, fresh)
	}
	for _, path := range gone {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", path, err)
		}
	}
	for _, path := range kept {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// TestAViewThatWasRemovedIsMadeAgain is about a process that lives for long and loads its next module.
func TestAViewThatWasRemovedIsMadeAgain(t *testing.T) {
	dir := cacheFor(t)
	for way, cfg := range waysToCompile(t, dir) {
		box, s := open(t, cfg)
		views, err := filepath.Glob(filepath.Join(dir, "view-*"))
		if err != nil || len(views) == 0 {
			t.Fatal(views, err)
		}
		for _, v := range views {
			if err := os.RemoveAll(v); err != nil {
				t.Fatal(err)
			}
		}
		works(t, box, s.add(echo(t)))
		if t.Failed() {
			t.Fatal(way)
		}
		if err := box.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	left := 0
	if err := eachFile(dir, func(string) error { left++; return nil }); err != nil || left != 2 {
		t.Errorf("%d files are in the cache, %v; want one of code and one of what is known", left, err)
	}
}

// TestACacheThatCannotBeWrittenIsDoneWithout puts a file where the directory of code should be.
func TestACacheThatCannotBeWrittenIsDoneWithout(t *testing.T) {
	dir := cacheFor(t)
	box, s := open(t, sandbox.Config{CacheDir: dir})
	native, err := filepath.Glob(filepath.Join(dir, "native-2-*"))
	if err != nil || len(native) != 1 {
		t.Fatal(native, err)
	}
	if err := os.Remove(native[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(native[0], nil, 0o600); err != nil { // no directory can be made there
		t.Fatal(err)
	}
	works(t, box, s.add(echo(t)))
}
