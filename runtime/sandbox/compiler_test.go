package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// TestMain makes the test binary a compiler, or something that should be one, when it is started as such.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if verb, ok := verbs[os.Args[1]]; ok {
			if err := verb(os.Args[2:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// verbs are what the test binary does as another process.
var verbs = map[string]func(args []string) error{
	"compile-module": func(args []string) error {
		return sandbox.CompilerMain(context.Background(), os.Stdin, os.Stdout, args...)
	},
	// FILE: writes its process id to the file and does nothing more, not even read.
	"compile-hangs": func(args []string) error {
		if err := os.WriteFile(args[0], fmt.Append(nil, os.Getpid()), 0o600); err != nil {
			return err
		}
		select {}
	},
	// TEXT: answers with the text.
	"compile-says": func(args []string) error {
		_, err := os.Stdout.WriteString(args[0])
		return err
	},
	// TEXT: fails with the text.
	"compile-fails": func(args []string) error { return errors.New(args[0]) },
	// NAME: makes a file of this name with nothing of use in it, and says so.
	"compile-nonsense": func(args []string) error {
		file := filepath.Join(args[1], "wazero", args[0])
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		fmt.Printf(`{"file":"wazero/%s"}`, args[0])
		return os.WriteFile(file, []byte("nonsense"), 0o600)
	},
	"compile-dies": func([]string) error { return die() },
	// CACHE COMPILER...: calls echo in a sandbox.
	"call-echo": func(args []string) error {
		wasm, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		s := shelf{}
		d := s.add(wasm)
		box, err := sandbox.New(context.Background(), sandbox.Config{Source: s.source, CacheDir: args[0], Compiler: args[1:]})
		if err != nil {
			return err
		}
		out, err := box.Invoke(context.Background(), toolabi.Invocation{Module: d, Tool: "echo", Input: []byte("1")}, nil)
		fmt.Printf("%s", out.Output)
		return errors.Join(err, box.Close(context.Background()))
	},
}

// self is the test binary, as something.
func self(t testing.TB, verb ...string) []string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{exe}, verb...)
}

// cacheFor returns a directory that a sandbox takes as its cache.
func cacheFor(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// works calls the tool of echo.
func works(t testing.TB, box *sandbox.Sandbox, d toolabi.Digest) {
	t.Helper()
	out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: d, Tool: "echo", Input: []byte("1")}, nil)
	if err != nil || string(out.Output) != "1" {
		t.Errorf("the call came to %s, %v, %v", out.Output, out.Err, err)
	}
}

// bomb is small, is within every cap, and takes the compiler many seconds and hundreds of megabytes: every local that a
// branch may have set is another value after it.
func bomb(t testing.TB) []byte {
	return changed(t, func(g *guest) {
		var body []byte
		for i := range 7_000 {
			body = append(body, slices.Concat(LocalGet(uint32(i%60)), If, I32Const(1), LocalSet(uint32(i*7%60)), Else, I32Const(2), LocalSet(uint32(i*11%60)), End)...)
		}
		for range 20 {
			g.Func(i32, nil, 60, body)
		}
	})
}

// nothingStaged checks that no compilation left anything in a cache.
func nothingStaged(t testing.TB, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "staging-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
}

func TestACommandCompiles(t *testing.T) {
	for _, dir := range []string{"", cacheFor(t)} {
		box, s := open(t, sandbox.Config{CacheDir: dir, Compiler: self(t, "compile-module")})
		works(t, box, s.add(echo(t)))
		if dir != "" {
			next, s := open(t, sandbox.Config{CacheDir: dir, Compiler: self(t, "compile-fails", "asked although it is in the cache")})
			works(t, next, s.add(echo(t)))
			nothingStaged(t, dir)
		}
	}
}

// TestACommandIsNeededOnlyOnce lets many calls want one module, and another with the same code.
func TestACommandIsNeededOnlyOnce(t *testing.T) {
	begun := 0
	box, s := open(t, sandbox.Config{Compiler: self(t, "compile-module"), OnCompile: func(e sandbox.CompileEvent) {
		if !e.Done {
			begun++
		}
	}})
	d := s.add(echo(t))
	done := make(chan struct{})
	for range 10 {
		go func() {
			works(t, box, d)
			done <- struct{}{}
		}()
	}
	for range 10 {
		<-done
	}
	g := newGuest()
	renamed, err := sandbox.AttachManifest(s[d], &toolabi.Manifest{Name: "renamed", Version: "1.0.0", Tools: g.manifest.Tools})
	if err != nil {
		t.Fatal(err)
	}
	works(t, box, s.add(renamed))
	if begun != 1 {
		t.Errorf("it was compiled %d times", begun)
	}
}

func TestWhatACommandRefusesIsMalformed(t *testing.T) {
	wasm := changed(t, func(g *guest) { g.FuncRaw(nil, nil, []byte{0, 0x6a, 0x0b}) })
	box, s := open(t, sandbox.Config{Compiler: self(t, "compile-module")})
	d := s.add(wasm)
	err := box.Prepare(t.Context(), d)
	wantLoad(t, err, sandbox.Malformed, "malformed WebAssembly: ")
	here, s2 := open(t, sandbox.Config{})
	if other := here.Prepare(t.Context(), s2.add(wasm)); other == nil || other.Error() != err.Error() {
		t.Errorf("the command says %v, and without one it is %v", err, other)
	}
}

func TestCompilingIsStoppedAtItsLimits(t *testing.T) {
	dir := cacheFor(t)
	s := shelf{}
	d := s.add(bomb(t))
	for _, tc := range []struct {
		name, says string
		cfg        sandbox.Config
	}{
		{"time", "it takes more than 1s to compile", sandbox.Config{CompileTimeout: time.Second}},
		{"memory", "it takes more than 128 MiB of memory to compile", sandbox.Config{CompileMemory: 128 << 20}},
		{"no memory at all", "it takes more than 1 MiB of memory to compile", sandbox.Config{CompileMemory: 1 << 20}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg := tc.cfg
			cfg.Source, cfg.CacheDir, cfg.Compiler = s.source, dir, self(t, "compile-module")
			box, _ := open(t, cfg)
			began := time.Now()
			err := box.Prepare(t.Context(), d)
			wantLoad(t, err, sandbox.CompileBudget, tc.says)
			if took := time.Since(began); cfg.CompileTimeout > 0 && took > 5*cfg.CompileTimeout {
				t.Errorf("it took %s", took)
			}
			nothingStaged(t, dir)
		})
	}
}

func TestACompilerThatFailsIsNoFaultOfTheModule(t *testing.T) {
	for _, tc := range []struct {
		name, says string
		argv       []string
	}{
		{"is not there", "run the compiler", []string{filepath.Join(t.TempDir(), "absent")}},
		{"dies", "the compiler ended without an answer: ", self(t, "compile-dies")},
		{"fails", "the compiler ended without an answer: exit status 1: oh dear", self(t, "compile-fails", "\n\x1b[31moh\x1b[0m\x07 dear\nat line 1")},
		{"fails at length", "oh oh", self(t, "compile-fails", strings.Repeat("oh ", 30_000))},
		{"says nothing", "answer \"\" cannot be read", self(t, "compile-says", "")},
		{"says garbage", "answer \"OK\\n\\x1b[2J\" cannot be read", self(t, "compile-says", "OK\n\x1b[2J")},
		{"says too much", "more behind it", self(t, "compile-says", `{"file":"a/b"}{"file":"a/b"}`)},
		{"says what it should not", "cannot be read", self(t, "compile-says", `{"files":["a/b"]}`)},
		{"says it at length", "cannot be read", self(t, "compile-says", `{"file":"`+strings.Repeat("a", 100_000))},
		{"names a file elsewhere", "no name of compiled code", self(t, "compile-says", `{"file":"../`+strings.Repeat("0", 64)+`"}`)},
		{"names an absolute file", "no name of compiled code", self(t, "compile-says", `{"file":"/etc/passwd"}`)},
		{"names a directory", "no name of compiled code", self(t, "compile-says", `{"file":"."}`)},
		{"names a file that is not there", "read what was compiled", self(t, "compile-says", `{"file":"a/`+strings.Repeat("0", 64)+`"}`)},
		{"makes a file of another name", "no name of compiled code", self(t, "compile-nonsense", "code")},
		{"makes code for another machine", "not for this process", self(t, "compile-nonsense", strings.Repeat("0", 64))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := cacheFor(t)
			box, s := open(t, sandbox.Config{CacheDir: dir, Compiler: tc.argv})
			err := box.Prepare(t.Context(), s.add(echo(t)))
			var l *sandbox.LoadError
			if err == nil || errors.As(err, &l) || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("error is %v, want one of the host that says %q", err, tc.says)
			}
			if len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x1b\x07") {
				t.Errorf("the error is %q", err)
			}
			nothingStaged(t, dir)
		})
	}
}

// TestNothingIsLeftOfCommands counts goroutines and open files around sandboxes whose compilers end in every way.
func TestNothingIsLeftOfCommands(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	use := func() {
		for _, argv := range [][]string{self(t, "compile-module"), self(t, "compile-says", ""), self(t, "compile-hangs", os.DevNull)} {
			s := shelf{}
			box, err := sandbox.New(context.Background(), sandbox.Config{Source: s.source, Compiler: argv, CompileTimeout: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			_ = box.Prepare(context.Background(), s.add(echo(t)))
			if err := box.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	use()
	goroutines, files := runtime.NumGoroutine(), openFiles()
	use()
	for i := 0; runtime.NumGoroutine() > goroutines; i++ {
		if i == 1_000_000 {
			t.Fatalf("%d goroutines, there were %d before", runtime.NumGoroutine(), goroutines)
		}
		runtime.Gosched()
	}
	if n := openFiles(); n > files {
		t.Errorf("%d open files, there were %d before", n, files)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "wrun-code-*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}
