package grantfile_test

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/docpage"
	"github.com/wrun-dev/wrun/internal/grantfile"
)

var flagRow = regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\|")

// Each file of the documentation is read, grants something of everything, or has the mistakes that stand behind it; and the table
// has every flag, in order.
func TestTheDocumentationIsTrue(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its paths are not absolute there")
	}
	pages, err := docpage.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	said := map[string]bool{}
	for _, p := range pages {
		if p.Name() == "grants" {
			var flags []string
			for _, m := range flagRow.FindAllStringSubmatch(p.Text, -1) {
				flags = append(flags, m[1])
			}
			if !slices.Equal(flags, grantfile.Flags()) {
				t.Errorf("the table has %v, want %v", flags, grantfile.Flags())
			}
		}
		for _, group := range p.Groups("grants", "mistaken", "record") {
			var wrong error
			for _, b := range group {
				found[b.Word]++
				switch b.Word {
				case "grants":
					var g hostfuncs.Grants
					if g, wrong = grantfile.Parse([]byte(b.Text)); wrong != nil {
						t.Errorf("%s:%d: %v", p.File, b.Line, wrong)
					}
					for _, w := range grantfile.Words(g) {
						said[w.Flag] = true
					}
				case "mistaken":
					_, wrong = grantfile.Parse([]byte(b.Text))
				case "error":
					if got, want := fmt.Sprint(wrong), strings.TrimSuffix(b.Text, "\n"); got != want {
						t.Errorf("%s:%d: got the mistakes\n%s\nwant\n%s", p.File, b.Line, got, want)
					}
				case "record":
					if _, err := grantfile.ParseRecord([]byte(b.Text)); err != nil {
						t.Errorf("%s:%d: %v", p.File, b.Line, err)
					}
				}
			}
		}
	}
	if len(said) != len(grantfile.Flags()) {
		t.Errorf("the examples grant %v", said)
	}
	for _, kind := range []string{"grants", "mistaken", "error", "record"} {
		if found[kind] == 0 {
			t.Errorf("found no %s in %v", kind, found)
		}
	}
}
