package sandbox_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// wazeroData returns the folder of wazero in the module cache: its test data are programs of several compilers.
func wazeroData(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	must(t, err)
	return filepath.Join(strings.TrimSpace(string(out)), "imports", "wasi_snapshot_preview1")
}

func readFile(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	must(t, err)
	return b
}

// runs returns a function that runs a program on a directory, which it finds at /, and returns the text it writes.
func runs(t testing.TB, box *sandbox.Sandbox, s shelf, program []byte) func(t testing.TB, dir, input string, args ...string) string {
	return func(t testing.TB, dir, input string, args ...string) string {
		t.Helper()
		wasm := wrap(t, program, toolabi.Command{Text: true, Args: args, Dirs: []toolabi.Dir{
			{Name: "root", Path: "/", Write: true, Reason: "to test"}, {Name: "tmp", Path: "/tmp", Reason: "to test"},
		}})
		inv := toolabi.Invocation{Module: s.add(wasm), Tool: "run", Input: []byte(input), Mounts: []toolabi.Mount{{Name: "tmp", Path: t.TempDir()}}}
		if dir != "" {
			inv.Mounts = append(inv.Mounts, toolabi.Mount{Name: "root", Path: dir, Write: true})
		}
		out, err := box.Invoke(t.Context(), inv, nil)
		must(t, err)
		if out.Err != nil {
			t.Fatalf("%q: %v\n%s", args, out.Err, out.Stderr)
		}
		var text string
		must(t, json.Unmarshal(out.Output, &text))
		return text
	}
}

// TestProgramsOfOtherCompilers runs what TinyGo, Rust and Zig made.
func TestProgramsOfOtherCompilers(t *testing.T) {
	data := wazeroData(t)
	box, s := open(t, sandbox.Config{CacheDir: CodeCache(t)})
	root := t.TempDir()
	const tons = 8096
	for _, dir := range []string{"some/a-", "some/ab-", "tons"} {
		must(t, os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(root, "some/-"), nil, 0o600))
	for i := range tons {
		must(t, os.WriteFile(filepath.Join(root, "tons", strconv.Itoa(i)), nil, 0o600))
	}
	lines := func(text string) []string {
		found := slices.DeleteFunc(strings.Fields(text), func(s string) bool { return s == "./." || s == "./.." })
		slices.Sort(found)
		return found
	}
	for _, compiler := range []string{"cargo-wasi", "tinygo", "zig-cc", "zig"} {
		t.Run(compiler, func(t *testing.T) {
			run := runs(t, box, s, readFile(t, data, "testdata", compiler, "wasi.wasm"))
			for _, tc := range []struct {
				dir, what string
				want      int
			}{{"some", "./a-", 0}, {"some", ".", 3}, {"tons", ".", tons}} {
				if got := lines(run(t, filepath.Join(root, tc.dir), "", "ls", tc.what)); len(got) != tc.want {
					t.Errorf("%s in %s: %d names, want %d", tc.what, tc.dir, len(got), tc.want)
				}
			}
			if got := run(t, filepath.Join(root, "some"), "", "ls", "-"); got != "ENOTDIR\n" {
				t.Errorf("listing a file: %q", got)
			}
			if compiler != "tinygo" { // which cannot read one twice: tinygo-org/tinygo#3823
				if got := lines(run(t, filepath.Join(root, "some"), "", "ls", ".", "repeat")); len(got) != 6 {
					t.Errorf("listing twice: %q", got)
				}
			}
			const stat = "stdin isatty: false\nstdout isatty: false\nstderr isatty: false\n/ isatty: false\n"
			if got := run(t, root, "", "stat"); got != stat {
				t.Errorf("terminals: %q", got)
			}
			cat := runs(t, box, s, readFile(t, data, "example", "testdata", compiler, "cat.wasm"))
			must(t, os.WriteFile(filepath.Join(root, "test.txt"), []byte("greet filesystem\n"), 0o600))
			if got := cat(t, root, "", "test.txt"); got != "greet filesystem\n" {
				t.Errorf("cat: %q", got)
			}
		})
	}
	zig := runs(t, box, s, readFile(t, data, "testdata", "zig", "wasi.wasm"))
	if got := zig(t, "", "", "preopen"); got != "0: stdin\n1: stdout\n2: stderr\n3: /tmp\n" {
		t.Errorf("directories: %q", got)
	}
	c := runs(t, box, s, readFile(t, data, "testdata", "zig-cc", "wasi.wasm"))
	for _, tc := range []struct {
		want, input string
		args        []string
	}{
		{"STDIN\n", "1", []string{"poll"}}, {"STDIN\n", "", []string{"poll", "0", "500"}}, {"OK\n", "", []string{"sleepmillis", "500"}},
		{"OK\n", "", []string{"open-rdonly"}}, {"OK\n", "", []string{"open-wronly"}},
	} {
		if got := c(t, t.TempDir(), tc.input, tc.args...); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.args, got, tc.want)
		}
	}
	args := runs(t, box, s, readFile(t, data, "testdata", "print_args.wasm"))
	if got := args(t, "", "", "a", "", "two words"); got != "observed\x00a\x00\x00two words\x00" {
		t.Errorf("arguments: %q", got)
	}
	name := runs(t, box, s, readFile(t, data, "testdata", "print_prestat_dirname.wasm"))
	if got := name(t, root, ""); got != "/" {
		t.Errorf("name of the directory: %q", got)
	}
}

func TestProgramsThatAreRefused(t *testing.T) {
	data := wazeroData(t)
	for file, kind := range map[string]sandbox.LoadKind{
		"exit_on_start.wasm":          sandbox.ABI, // it exports no memory
		"exit_on_start_unstable.wasm": sandbox.ABI, // nor does this, which is older than preview 1
	} {
		_, err := sandbox.AttachManifest(readFile(t, data, "testdata", file), &toolabi.Manifest{
			Name: "program", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "run"}}, Command: &toolabi.Command{},
		})
		var l *sandbox.LoadError
		if !errors.As(err, &l) || l.Kind != kind {
			t.Errorf("%s: %v, want %s", file, err, kind)
		}
	}
}

// suiteVariable names the folder of github.com/WebAssembly/wasi-testsuite, of the branch with its programs.
const suiteVariable = "WRUN_WASI_TESTSUITE"

// suiteDiffers are the tests of the suite that do not pass, with what they want that is not offered. docs/abi.md says it too.
var suiteDiffers = map[string]string{
	"environ_get-multiple-variables":       "an environment",
	"environ_sizes_get-multiple-variables": "an environment",
	"nofollow_errors":                      "symbolic links",
	"path_exists":                          "symbolic links",
	"path_link":                            "hard links",
	"path_symlink_trailing_slashes":        "symbolic links",
	"readlink":                             "symbolic links",
	"symlink_create":                       "symbolic links",
	"symlink_filestat":                     "symbolic links",
}

// TestWASITestSuite runs the programs of the suite for preview 1 as tools, each on a copy of its folder. A test that is
// expected to differ and passes is a failure too.
func TestWASITestSuite(t *testing.T) {
	dir := os.Getenv(suiteVariable)
	if dir == "" {
		t.Skipf("%s is not set: the WASI test suite was NOT run; it is the branch prod/testsuite-base of github.com/WebAssembly/wasi-testsuite", suiteVariable)
	}
	programs, err := filepath.Glob(filepath.Join(dir, "tests", "*", "testsuite", "wasm32-wasip1", "*.wasm"))
	must(t, err)
	if len(programs) < 60 {
		t.Fatalf("%s holds %d programs for preview 1", dir, len(programs))
	}
	box, s := open(t, sandbox.Config{CacheDir: CodeCache(t)})
	for _, program := range programs {
		name := strings.TrimSuffix(filepath.Base(program), ".wasm")
		t.Run(name, func(t *testing.T) {
			wrong := runSuite(t, box, s, program)
			wants, differs := suiteDiffers[name]
			switch {
			case differs && wrong == "":
				t.Errorf("it passes, and is listed as wanting %s", wants)
			case differs:
				t.Skipf("it wants %s: %s", wants, wrong)
			case wrong != "":
				t.Error(wrong)
			}
		})
	}
}

// runSuite runs one program and says what is not as its description wants it.
func runSuite(t *testing.T, box *sandbox.Sandbox, s shelf, program string) string {
	var spec struct {
		Args   []string
		Root   string
		Exit   uint32 `json:"exit_code"`
		Stdout string
		Env    map[string]string
	}
	if b, err := os.ReadFile(strings.TrimSuffix(program, ".wasm") + ".json"); err == nil {
		must(t, json.Unmarshal(b, &spec))
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	c := toolabi.Command{Args: spec.Args, Text: true}
	inv := toolabi.Invocation{Tool: "run", Started: 1_700_000_000_000_000_000}
	if spec.Root != "" {
		root := t.TempDir()
		must(t, os.CopyFS(root, os.DirFS(filepath.Join(filepath.Dir(program), spec.Root))))
		c.Dirs = []toolabi.Dir{{Name: "root", Path: "/", Write: true, Reason: "to test"}}
		inv.Mounts = []toolabi.Mount{{Name: "root", Path: root, Write: true}}
	}
	inv.Module = s.add(wrap(t, readFile(t, program), c))
	out, err := box.Invoke(t.Context(), inv, nil)
	must(t, err)
	var text string
	if out.Err == nil {
		must(t, json.Unmarshal(out.Output, &text))
	}
	switch {
	case spec.Exit == 0 && out.Err != nil:
		return out.Err.Error() + "\n" + string(out.Stderr)
	case spec.Exit != 0 && (out.Err == nil || out.Err.Detail != "status "+strconv.Itoa(int(spec.Exit))):
		return "it ended with " + out.Err.Error()
	case spec.Stdout != "" && text != spec.Stdout:
		return "it wrote " + text
	}
	return ""
}
