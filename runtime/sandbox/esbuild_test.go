package sandbox_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// TestESBuild runs a program of 20 MB that was not made for wrun: once on its standard input alone, once on a directory. The
// variable names the file esbuild.wasm of the package @esbuild/wasi-preview1.
func TestESBuild(t *testing.T) {
	const variable = "WRUN_ESBUILD_WASM"
	file := os.Getenv(variable)
	if file == "" {
		t.Skipf("%s is not set: esbuild was NOT run; it is the file esbuild.wasm of the npm package @esbuild/wasi-preview1", variable)
	}
	program := readFile(t, file)
	box, s := open(t, sandbox.Config{CacheDir: CodeCache(t)})
	run := func(c toolabi.Command, input string, mounts ...toolabi.Mount) toolabi.Outcome {
		t.Helper()
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(wrap(t, program, c)), Tool: "run", Input: []byte(input), Mounts: mounts}, nil)
		must(t, err)
		return out
	}
	text := func(out toolabi.Outcome) (s string) {
		t.Helper()
		if out.Err != nil {
			t.Fatalf("%v\n%s", out.Err, out.Stderr)
		}
		must(t, json.Unmarshal(out.Output, &s))
		return s
	}
	minify := toolabi.Command{Text: true, Args: []string{"--loader=ts", "--minify"}}
	if got := text(run(minify, "let x: number = 1 + 2\nconsole.log(x)")); got != "let x=1+2;console.log(x);\n" && got != "let x=3;console.log(x);\n" {
		t.Errorf("minified: %q", got)
	}
	toJS := toolabi.Command{Text: true, Args: []string{"--loader=json", "--minify"}} // the example of docs/abi.md
	if got := text(run(toJS, `{"colour": "red", "on": true}`)); got != "module.exports={colour:\"red\",on:!0};\n" {
		t.Errorf("as JavaScript: %q", got)
	}
	broken := run(minify, "let x: = 1")
	wantCode(t, broken, toolabi.Exited)
	if !strings.Contains(string(broken.Stderr), `Unexpected "="`) {
		t.Errorf("it says %s", broken.Stderr)
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.ts"), []byte(`import {b} from "./b"; export const a: number = b + 1`), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "b.ts"), []byte(`export const b: number = 41`), 0o600))
	bundle := toolabi.Command{
		Text: true, Args: []string{"--bundle", "--format=esm", "--outfile=/out.js", "/a.ts"},
		Dirs: []toolabi.Dir{{Name: "work", Path: "/", Write: true, Reason: "to bundle what is in it"}},
	}
	text(run(bundle, "{}", toolabi.Mount{Name: "work", Path: dir, Write: true}))
	if out := string(readFile(t, dir, "out.js")); !strings.Contains(out, "b = 41") && !strings.Contains(out, "b + 1") {
		t.Errorf("bundled: %s", out)
	}
	readOnly := run(bundle, "{}", toolabi.Mount{Name: "work", Path: dir})
	wantCode(t, readOnly, toolabi.Exited)
}
