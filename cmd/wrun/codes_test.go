package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTheCodesPageHasEveryExitCode(t *testing.T) {
	var text strings.Builder
	text.WriteString("| code | meaning |\n|---|---|\n")
	for _, e := range exits {
		fmt.Fprintf(&text, "| %s | %s |\n", e.code, e.meaning)
	}
	holdPart(t, "codes.md", "exits", text.String())
}

func TestTheCodesPageHasEveryCode(t *testing.T) {
	var text strings.Builder
	sorted := slices.SortedFunc(slices.Values(codes), func(a, b code) int { return strings.Compare(a.id, b.id) })
	for i, k := range sorted {
		if i > 0 && sorted[i-1].id == k.id {
			t.Errorf("two codes are called %s", k.id)
		}
		fmt.Fprintf(&text, "### %s: %s\n\nExit code %d.\n\n%s\n\n", k.id, k.title, k.exit, paragraphs(k.text))
	}
	holdPart(t, "codes.md", "codes", text.String())
}

// paragraphs is the text of a code as Markdown: what is indented is a block, and nothing else is taken for a mark.
func paragraphs(text string) string {
	var b strings.Builder
	laidOut := false
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		indented := strings.HasPrefix(line, "  ")
		if indented != laidOut {
			b.WriteString(map[bool]string{true: "<!-- held by cmd/wrun TestTheCodesPageHasEveryCode -->\n```text\n", false: "```\n"}[indented])
			laidOut = indented
		}
		if indented {
			b.WriteString(strings.TrimPrefix(line, "  "))
			continue
		}
		b.WriteString(strings.NewReplacer("<", `\<`, "*", `\*`, "_", `\_`).Replace(line))
	}
	if laidOut {
		b.WriteString("```\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestTheSourcesListEveryCode holds the list of codes against what is declared: one that is left out could not be explained.
func TestTheSourcesListEveryCode(t *testing.T) {
	text, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), `= code{"`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		if !slices.ContainsFunc(codes, func(k code) bool { return k.id == id }) {
			t.Errorf("%s is declared, and not in the list of codes", id)
		}
	}
}

func TestTheIndexHasEveryPage(t *testing.T) {
	index, err := os.ReadFile("../../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("../../docs", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		page, err := filepath.Rel("../../docs", path)
		if page = filepath.ToSlash(page); page != "README.md" && !strings.Contains(string(index), "]("+page+")") {
			t.Errorf("docs/README.md does not list %s", page)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
