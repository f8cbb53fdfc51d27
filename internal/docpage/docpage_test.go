package docpage

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const page = "# Page\r\n\r\n" + `<!-- needs: ledger -->
<!-- setup
wrun version
-->

* an item

      that goes on

<!-- not run: it takes an hour -->
` + "```sh\nmake\n```" + `

text with ` + "`code`" + `

` + "```yaml plan\nsteps: []\n```\n\n```console\n$ wrun version\n```\n\n```json input\n1\n\n2\n```\n\n```yaml policy\nrules: []\n```\n\n```text error\nx\n```\n"

func TestAPageHasItsBlocksWithWhatIsSaidAboutThem(t *testing.T) {
	p := parse("tools/x/README.md", page)
	if p.Wrong != nil {
		t.Fatal(p.Wrong)
	}
	want := []Block{
		{Line: 13, Lang: "sh", Note: "not run: it takes an hour", Text: "make\n"},
		{Line: 19, Lang: "yaml", Word: "plan", Text: "steps: []\n"},
		{Line: 23, Lang: "console", Text: "$ wrun version\n"},
		{Line: 27, Lang: "json", Word: "input", Text: "1\n\n2\n"},
		{Line: 33, Lang: "yaml", Word: "policy", Text: "rules: []\n"},
		{Line: 37, Lang: "text", Word: "error", Text: "x\n"},
	}
	if !reflect.DeepEqual(p.Blocks, want) {
		t.Errorf("got\n%+v\nwant\n%+v", p.Blocks, want)
	}
	if got := p.Said("needs"); !reflect.DeepEqual(got, []string{"ledger"}) {
		t.Errorf("it needs %q", got)
	}
	if got := p.Said("setup"); !reflect.DeepEqual(got, []string{"wrun version"}) {
		t.Errorf("its setup is %q", got)
	}
	if got := p.Groups("plan"); !reflect.DeepEqual(got, [][]Block{{want[1], want[3]}}) {
		t.Errorf("its plans are %+v", got)
	}
	if got := p.Groups("policy", "plan"); len(got) != 2 || len(got[1]) != 2 {
		t.Errorf("its plans and policies are %+v", got)
	}
}

func TestPagesHaveNames(t *testing.T) {
	for file, want := range map[string]string{
		"README.md": "README", "docs/plans.md": "plans", "docs/recipes/mail.md": "recipes/mail", "tools/feed/README.md": "tools/feed", "docs/recipes/README.md": "recipes",
	} {
		if got := (Page{File: file}).Name(); got != want {
			t.Errorf("%s is called %s, want %s", file, got, want)
		}
	}
}

func TestCodeThatNoTestWouldSeeIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\n```sh\nmake\n":         "x.md:3: the block does not end",
		"* a\n\n  ```sh\n  ```\n":    "x.md:3: a fence is",
		"> ```\n> make\n> ```\n":     "x.md:1: a fence is",
		"~~~\nmake\n~~~\n":           "x.md:1: a fence is",
		"``` `a` ```\n":              "x.md:1: a fence is",
		"a\n\n    make\n":            "x.md:3: code that is only indented",
		"* a\n\nb\n\n\tmake\n":       "x.md:5: code that is only indented",
		"    make\n":                 "x.md:1: code that is only indented",
		"<!-- a --> b\n":             "x.md:1: a comment ends",
		"<!-- a\n":                   "x.md:1: a comment ends",
		"````\n```\nmake\n```\n````": "x.md:1: a fence is",
	} {
		if wrong := parse("x.md", text).Wrong; len(wrong) == 0 || !strings.HasPrefix(wrong[0], want) {
			t.Errorf("%q: %q, want %s", text, wrong, want)
		}
	}
}

func TestEveryPageOfTheTreeIsRead(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"README.md", "docs/a.md", "docs/recipes/b.md", ".git/c.md", "docs/d.txt"} {
		file = filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("a\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range pages {
		got = append(got, p.File)
	}
	if want := []string{"README.md", "docs/a.md", "docs/recipes/b.md"}; !reflect.DeepEqual(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}
