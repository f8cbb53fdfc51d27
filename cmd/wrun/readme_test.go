package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/wasmtest"
)

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// between returns what stands in a fenced block of the README between two marks.
func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	block, _, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("the README has no block %q to %q", from, to)
	}
	return block
}

// build builds the command as a user would have it.
func build(t *testing.T, tags string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "wrun")
	if out, err := exec.Command("go", "build", "-tags", tags, "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// The page that shows the demo fails this test when it and the demo differ.
func TestTheReadmeShowsWhatTheDemoPrints(t *testing.T) {
	want := between(t, readme(t), "<!-- held by cmd/wrun TestTheReadmeShowsWhatTheDemoPrints -->\n```\n", "```\n")
	config := t.TempDir() // of an operator who denies everything, which the demo has to stay out of
	if err := os.Mkdir(filepath.Join(config, "wrun"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "wrun", "policy.yaml"), []byte("default: deny\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	demo := exec.Command(build(t, ""), "-q", "demo")
	demo.Env = append(os.Environ(), "WRUN_CACHE="+wasmtest.CodeCache(t), "XDG_CONFIG_HOME="+config)
	out, err := demo.Output()
	if err != nil {
		t.Fatalf("demo: %v\n%s", err, out)
	}
	if got := normal(string(out)); got != normal(want) {
		t.Errorf("the demo prints\n%s\nand the README shows\n%s", got, want)
	}
}

// The negative control: where effects come before their intents, the demo fails.
func TestTheDemoNoticesEffectsBeforeTheirIntents(t *testing.T) {
	demo := exec.Command(build(t, "broken_nointent"), "demo")
	demo.Env = append(os.Environ(), "WRUN_CACHE="+wasmtest.CodeCache(t))
	out, err := demo.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "demo-b was charged 2 times") {
		t.Errorf("the demo ends with %v:\n%s", err, out)
	}
}

// The table of the README is the one of the example, each time.
func TestTheReadmeShowsWhatCrashtestPrints(t *testing.T) {
	want := between(t, readme(t), "<!-- held by cmd/wrun TestTheReadmeShowsWhatCrashtestPrints -->\n```\n", "```\n")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/crashtest")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "payments.wasm"), wasmtest.Tool(t, "tools/payments"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(build(t, ""), "-q", "crashtest", "plan.yaml", "--world", "world.yaml", "--input", "@input.json", "--second", "0")
	c.Dir, c.Env = dir, append(os.Environ(), "WRUN_CACHE="+wasmtest.CodeCache(t), "XDG_CONFIG_HOME="+dir)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("crashtest: %v\n%s", err, out)
	}
	if string(out) != want {
		t.Errorf("it prints\n%s\nand the README shows\n%s", out, want)
	}
}

// The library section is the driver and the example of the root package, word for word.
func TestTheReadmesLibrarySectionIsTheExample(t *testing.T) {
	example, err := os.ReadFile("../../example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for part := range strings.SplitSeq(between(t, readme(t), "<!-- held by cmd/wrun TestTheReadmesLibrarySectionIsTheExample -->\n```go\n", "```"), "\n\n") {
		if !strings.Contains(flat(string(example)), flat(part)) {
			t.Errorf("example_test.go does not have\n%s", part)
		}
	}
}

func TestTheReadmeListsEveryExitCode(t *testing.T) {
	for _, e := range exits {
		if row := fmt.Sprintf("| %s | %s |", e.code, e.meaning); !strings.Contains(readme(t), row) {
			t.Errorf("the README lacks %q", row)
		}
	}
}
