package grantfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/grantfile"
)

var (
	block   = regexp.MustCompile("(?ms)^```[a-z]+ ([a-z]+)\n(.*?)^```$")
	flagRow = regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\|")
)

// Each file of the documentation is read, grants something of everything, or has the mistakes that stand behind it; and the table
// has every flag, in order.
func TestTheDocumentationIsTrue(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its paths are not absolute there")
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "grants.md"))
	if err != nil {
		t.Fatal(err)
	}
	var flags []string
	for _, m := range flagRow.FindAllStringSubmatch(string(text), -1) {
		flags = append(flags, m[1])
	}
	if !slices.Equal(flags, grantfile.Flags()) {
		t.Errorf("the table has %v, want %v", flags, grantfile.Flags())
	}
	var wrong error
	var kinds []string
	for _, m := range block.FindAllStringSubmatch(string(text), -1) {
		kinds = append(kinds, m[1])
		switch m[1] {
		case "grants":
			g, err := grantfile.Parse([]byte(m[2]))
			if err != nil {
				t.Error(err)
			}
			said := map[string]bool{}
			for _, w := range grantfile.Words(g) {
				said[w.Flag] = true
			}
			if len(said) != len(grantfile.Flags()) {
				t.Errorf("the example grants %v", said)
			}
		case "mistaken":
			_, wrong = grantfile.Parse([]byte(m[2]))
		case "error":
			if got, want := fmt.Sprint(wrong), strings.TrimSuffix(m[2], "\n"); got != want {
				t.Errorf("got the mistakes\n%s\nwant\n%s", got, want)
			}
		case "record":
			if _, err := grantfile.ParseRecord([]byte(m[2])); err != nil {
				t.Error(err)
			}
		}
	}
	if want := []string{"grants", "mistaken", "error", "record"}; !slices.Equal(kinds, want) {
		t.Errorf("found %v, want %v", kinds, want)
	}
}
