package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/wasmtest"
)

var updatePages = flag.Bool("update-pages", false, "write what is shown on a page that shows other things")

// The page shows what the example prints: it fails this test when that has drifted. TestDocs holds the sources on it.
func TestThePageOnDurabilityIsTheExample(t *testing.T) {
	for _, needed := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("SKIPPED: the example is a script that needs %s", needed)
		}
	}
	const example, file = "../../examples/durability", "../../docs/durability.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("bash", filepath.Join(example, "run.sh"))
	c.Env = append(os.Environ(), "WRUN_CACHE="+wasmtest.CodeCache(t), envModel+"=", envBaseURL+"=", envKey+"=")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("the example ends with %v:\n%s", err, out)
	}
	want := put(t, string(page), "<!-- held by cmd/wrun TestThePageOnDurabilityIsTheExample -->", printed(string(out)))
	if want == string(page) {
		return
	}
	if !*updatePages {
		t.Errorf("the page is not what the example is and prints; with -update-pages it becomes\n%s", want)
		return
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

var block = regexp.MustCompile("(?s)\n```[a-z]*\n.*?```\n")

// put puts a text into the first fenced block behind a mark.
func put(t *testing.T, page, mark, text string) string {
	t.Helper()
	before, behind, ok := strings.Cut(page, mark)
	at := block.FindStringIndex(behind)
	if !ok || at == nil {
		t.Fatalf("the page has no block behind %s", mark)
	}
	opening, _, _ := strings.Cut(behind[at[0]+1:], "\n")
	return before + mark + behind[:at[0]+1] + opening + "\n" + strings.TrimRight(text, "\n") + "\n```\n" + behind[at[1]:]
}

// printed is what a script of an example prints from its first round on, without what differs from one time to the next.
func printed(out string) string {
	out = normal(out)
	if i := strings.Index(out, "\n== round 1"); i >= 0 {
		out = out[i+1:]
	}
	return out
}
