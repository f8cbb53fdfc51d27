package toolbuild_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/toolbuild"
)

func directory(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestWhatLiesThereSaysTheLanguage(t *testing.T) {
	for _, c := range []struct {
		files   []string
		lang    toolbuild.Lang
		sources []string
		says    string
	}{
		{[]string{"main.go"}, toolbuild.Go, []string{"main.go"}, ""},
		{[]string{"go.mod", "README.md"}, toolbuild.Go, []string{"go.mod"}, ""},
		{[]string{"b.c", "-a.c", "tool.toml", "x.h"}, toolbuild.C, []string{"./-a.c", "./b.c"}, ""},
		{[]string{"main.go", "a.c", "tool.toml"}, toolbuild.Go, []string{"main.go"}, ""},
		{[]string{"a.c"}, "", nil, "no tool.toml"},
		{[]string{"tool.toml"}, "", nil, "no sources in C"},
		{[]string{"README.md"}, "", nil, "no sources of a tool"},
		{nil, "", nil, "no sources of a tool"},
	} {
		files := map[string]string{}
		for _, name := range c.files {
			files[name] = ""
		}
		lang, sources, err := toolbuild.Look(directory(t, files))
		if lang != c.lang || !slices.Equal(sources, c.sources) {
			t.Errorf("%q: %s with %q, want %s with %q", c.files, lang, sources, c.lang, c.sources)
		}
		var nothing *toolbuild.NothingError
		if (c.says != "") != errors.As(err, &nothing) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.files, err, c.says)
		}
	}
}

const manifest = "name = \"x\"\nversion = \"1.0.0\"\ntools = [{ name = \"x\" }]\n"

func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv("WASI_SDK_PATH", "")
	for _, c := range []struct {
		files map[string]string
		lang  toolbuild.Lang
		says  string
	}{
		{map[string]string{"main.go": "package main"}, toolbuild.Go, "there is no go command"},
		{map[string]string{"x.c": "", "tool.toml": manifest}, toolbuild.C, "there is no clang"},
	} {
		_, err := toolbuild.Build(t.Context(), directory(t, c.files))
		var missing *toolbuild.MissingError
		if !errors.As(err, &missing) || missing.Lang != c.lang || missing.Get == "" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.lang, err)
		}
	}
}

// A compiler that finds none of its parts answers with their bare names.
func TestPartsOfACompilerAreLookedFor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the compiler of the test is a script of a POSIX shell")
	}
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"${2#*=}\"\n"
	if err := os.WriteFile(filepath.Join(dir, "clang"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("WASI_SDK_PATH", "")
	_, err := toolbuild.FindClang(t.Context())
	var missing *toolbuild.MissingError
	want := []string{"libclang_rt.builtins for wasm32", "wasi-libc", "wasm-ld"}
	if !errors.As(err, &missing) || !slices.Equal(missing.Parts, want) {
		t.Errorf("missing are %v, want %q", err, want)
	}
}

func TestWhatACompilerSaysIsKept(t *testing.T) {
	dir := directory(t, map[string]string{"go.mod": "module x\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() { nothing() }\n"})
	_, err := toolbuild.Build(t.Context(), dir)
	var failed *toolbuild.FailedError
	if !errors.As(err, &failed) || !strings.Contains(failed.Output, "undefined: nothing") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v", err)
	}
}

func TestAnEndedContextIsTheError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	_, err := toolbuild.Build(ctx, directory(t, map[string]string{"go.mod": "module x\n", "main.go": "package main\n\nfunc main() {}\n"}))
	if err == nil || err.Error() != "stopped" {
		t.Errorf("%v", err)
	}
}
