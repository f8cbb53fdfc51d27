package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// noScripts are the verbs that tests run which are no scripts.
var noScripts = map[string]string{"demo": "TestTheReadmeShowsWhatTheDemoPrints", "tool dev": "tooldev_test.go"}

// TestEveryVerbAndExitCodeHasAScript holds that each verb is run by a script, and that one ends with each exit code.
func TestEveryVerbAndExitCodeHasAScript(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
		all.WriteByte('\n')
	}
	ran := func(pattern string) bool { return regexp.MustCompile(`(?m)^` + pattern).MatchString(all.String()) }
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			each(sub)
		}
		if name := strings.TrimPrefix(c.CommandPath(), "wrun "); c.Runnable() && c.HasParent() && !c.Hidden && name != "help" && noScripts[name] == "" &&
			!ran(`(?:! )?(?:exec|exits \d+|filesrun .*) wrun (?:-\S+(?: \S+\.db)? )*`+name+`\b`) {
			t.Errorf("no script runs wrun %s", name)
		}
	}
	each(newRoot(&app{out: io.Discard, errOut: io.Discard}))
	for _, e := range exits {
		for code := range strings.SplitSeq(e.code, "/") {
			if !ran(`exits `+code+` `) && !ran(`.*exit code `+code+`\b`) {
				t.Errorf("no script ends with exit code %s, %s", code, e.meaning)
			}
		}
	}
}
