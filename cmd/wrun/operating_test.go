package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

// What differs from one use of these commands to the next.
var varyingCopies = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`\d{8}T\d{6}\.\d{9}Z`), "TIME"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d 12:00:00`), "DATE"},
	{regexp.MustCompile(`[\d.]+ (bytes|kB|MB)\b`), "SIZE"},
	{regexp.MustCompile(`from the journal [0-9a-f]{12}`), "from the journal ID"},
	{regexp.MustCompile(` +`), " "}, // columns are as wide as what differs
}

func normalCopies(dir, s string) string {
	s = normal(strings.ReplaceAll(s, dir+string(filepath.Separator), ""))
	for _, v := range varyingCopies {
		s = v.is.ReplaceAllString(s, v.as)
	}
	return s
}

// Every command of docs/operating.md says what stands below it.
func TestThePageOnOperatingShowsWhatTheCommandsSay(t *testing.T) {
	page, err := os.ReadFile("../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Start(ledger.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	bin, dir := build(t, ""), t.TempDir()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	wasm := filepath.Join(t.TempDir(), "payments.wasm")
	if err := os.WriteFile(wasm, wasmtest.Tool(t, "tools/payments"), 0o600); err != nil {
		t.Fatal(err)
	}
	wrun := func(args ...string) (string, int) {
		cmd := exec.Command(bin, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "WRUN_JOURNAL=journal.db", "WRUN_CACHE="+wasmtest.CodeCache(t), "XDG_CONFIG_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if _, exited := err.(*exec.ExitError); err != nil && !exited {
			t.Fatal(err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	for i, run := range []string{"invoice-6", "invoice-7"} {
		l.SetBehaviour(ledger.Behaviour{Drop: i}) // the second reply is lost
		input := fmt.Sprintf(`{"ledger":%q,"account":"acme","amount_cents":5,"reference":%q}`, l.URL(), run)
		if out, code := wrun("call", wasm, "charge", input, "--id", run, "--allow-http", l.URL()); code != 4*i {
			t.Fatalf("%s: exit code %d\n%s", run, code, out)
		}
	}
	commands := 0
	for _, block := range strings.Split(strings.ReplaceAll(string(page), "\r\n", "\n"), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```\n")
		for _, part := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			args := strings.Fields(command)
			if args[0] != "wrun" {
				t.Fatalf("not a command of wrun: %s", command)
			}
			out, _ := wrun(args[1:]...)
			got, want := strings.TrimSpace(normalCopies(dir, out)), strings.TrimSpace(normalCopies(dir, want))
			if got != want {
				t.Errorf("$ %s\nsays\n%s\nand the page\n%s", command, got, want)
			}
			commands++
		}
	}
	if commands < 8 {
		t.Errorf("the page has only %d commands", commands)
	}
}
