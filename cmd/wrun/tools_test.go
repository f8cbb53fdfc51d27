package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/wasmtest"
)

// Every command of docs/tools.md prints what stands below it, on a machine that has no network for Go.
func TestTheCommandsOfToolsPrintWhatThePageShows(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("SKIPPED: the commands are written for a POSIX shell, and there is no bash")
	}
	page, err := os.ReadFile("../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, noLinker := exec.LookPath("wasm-ld")
	tmp, bin := t.TempDir(), build(t, "")
	env := append(os.Environ(), "WRUN_JOURNAL="+filepath.Join(tmp, "journal.db"), "WRUN_CACHE="+wasmtest.CodeCache(t), "XDG_CONFIG_HOME="+filepath.Join(tmp, "config"),
		"GOPROXY=off", "GOFLAGS=", "GOMODCACHE="+filepath.Join(tmp, "modules"), "GOWORK=off", "WASI_SDK_PATH=",
		"PATH="+filepath.Dir(bin)+string(os.PathListSeparator)+os.Getenv("PATH"))
	blocks := regexp.MustCompile("(?s)```console( c)?\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 3 {
		t.Fatalf("the page has %d blocks", len(blocks))
	}
	for _, block := range blocks {
		if block[1] != "" && noLinker != nil {
			t.Log("SKIPPED, TOOLS IN C NOT TRIED: there is no wasm-ld")
			continue
		}
		var got strings.Builder
		for line := range strings.Lines(block[2]) {
			command, ok := strings.CutPrefix(line, "$ ")
			if !ok {
				continue
			}
			c := exec.CommandContext(t.Context(), "bash", "-c", command)
			c.Dir, c.Env = tmp, env
			out, _ := c.CombinedOutput() // some of them fail, and show it
			got.WriteString(line + string(out))
		}
		if got := normal(got.String()); got != normal(block[2]) {
			t.Errorf("the commands print\n%s\nand the page shows\n%s", got, block[2])
		}
	}
}
