package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/wasmtest"
)

// What differs from one use of these commands to the next, beside what differs on other pages.
var varyingReplays = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`12:00:00\.\d+`), "12:00:00.000"},
	{regexp.MustCompile(`\b[\d.]+(µs|ms|s)\b`), "35ms"},
	{regexp.MustCompile(`\b\d+ B\b`), "SIZE"},
	{regexp.MustCompile(`\d+ entries`), "N entries"},
}

const salesPlan = `tools:
  till: ./till.wasm
steps:
  - id: five
    tool: till.charge
    with: { url: "${ .input.url }", cents: "${ .input.cents }" }
  - id: seven
    tool: till.charge
    with: { url: "${ .input.url }", cents: 700 }
  - id: eleven
    tool: till.charge
    with: { url: "${ .input.url }", cents: 1100 }
  - id: thirteen
    tool: till.charge
    with: { url: "${ .input.url }", cents: 1300 }
`

// Every command of docs/replay.md says what stands below it.
func TestThePageOnReplayShowsWhatTheCommandsSay(t *testing.T) {
	page, err := os.ReadFile("../../docs/replay.md")
	if err != nil {
		t.Fatal(err)
	}
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) }))
	t.Cleanup(shop.Close)
	bin, dir := build(t, ""), t.TempDir()
	for name, content := range map[string][]byte{
		"till.wasm": wasmtest.Tool(t, "internal/wasmtest/guests/till"), "till-2.wasm": wasmtest.Tool(t, "internal/wasmtest/guests/till2"), "sales.yaml": []byte(salesPlan),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wrun := func(args ...string) string {
		cmd := exec.Command(bin, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "WRUN_JOURNAL=journal.db", "WRUN_CACHE="+wasmtest.CodeCache(t), "XDG_CONFIG_HOME="+dir)
		out, err := cmd.CombinedOutput()
		if _, exited := err.(*exec.ExitError); err != nil && !exited {
			t.Fatal(err)
		}
		return string(out)
	}
	for run, cents := range map[string]string{"sales": "500", "more-sales": "600"} {
		wrun("run", "sales.yaml", "--id", run, "--input", `{"url":"`+shop.URL+`","cents":`+cents+`}`, "--allow-http", shop.URL)
	}
	normalize := func(s string) string {
		s = squeezed(strings.ReplaceAll(s, dir+string(filepath.Separator), ""))
		for _, v := range varyingReplays {
			s = v.is.ReplaceAllString(s, v.as)
		}
		return s
	}
	commands := 0
	for _, block := range strings.Split(strings.ReplaceAll(string(page), "\r\n", "\n"), "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```\n")
		for _, part := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			got := normalize(wrun(strings.Fields(command)[1:]...))
			if want = normalize(want); got != want {
				t.Errorf("$ %s\nsays\n%s\nand the page\n%s", command, got, want)
			}
			commands++
		}
	}
	if commands < 6 {
		t.Errorf("the page has only %d commands", commands)
	}
}
