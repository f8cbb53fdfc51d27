// Package docpage reads the pages of the documentation for the tests that hold them: which pages there are, and their fenced
// blocks with what is said about them.
//
// It knows no language of a block, and runs nothing. CONTRIBUTING.md has the conventions.
package docpage

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Page is one file in Markdown.
type Page struct {
	File   string // from the root of the tree, with slashes: docs/plans.md
	Text   string // with line feeds alone at the ends of its lines
	Blocks []Block
	Wrong  []string // with their lines, what hides code from tests: a fence that does not end or does not begin its line, code that is only indented
	notes  []string // its comments
}

// Block is a fenced block: what stands between a line of three backquotes and the next one.
type Block struct {
	Line int    // of the first fence, from 1
	Lang string // the first word behind the fence, such as yaml
	Word string // the others, such as plan
	Note string // the comment on the line above, without its arrows, such as "not run: needs root"
	Text string // with the line feed of its last line
}

// Name is what people call the page: its path without the extension, without docs/ in front and without /README behind.
func (p Page) Name() string {
	name := strings.TrimPrefix(strings.TrimSuffix(p.File, ".md"), "docs/")
	if dir, base := path.Split(name); base == "README" && dir != "" {
		return path.Clean(dir)
	}
	return name
}

// Said returns what stands in the page's comments that begin with a word and a colon, or with the word and a line feed, in their
// order: Said("needs") is what <!-- needs: ledger --> has behind the colon.
func (p Page) Said(word string) (all []string) {
	for _, n := range p.notes {
		if rest, ok := strings.CutPrefix(n, word); ok && rest != "" && (rest[0] == ':' || rest[0] == '\n') {
			all = append(all, strings.TrimSpace(rest[1:]))
		}
	}
	return all
}

// Groups returns the page's files of these kinds, each with the blocks about it: a block of YAML with a word, such as plan, and the
// blocks with a word behind it until the next one. Kinds are words.
func (p Page) Groups(kinds ...string) (groups [][]Block) {
	open := false
	for _, b := range p.Blocks {
		switch {
		case b.Word == "":
		case b.Lang == "yaml":
			if open = slices.Contains(kinds, b.Word); open {
				groups = append(groups, []Block{b})
			}
		case open:
			groups[len(groups)-1] = append(groups[len(groups)-1], b)
		}
	}
	return groups
}

// Read reads every file in Markdown below root, in the order of their paths. Directories whose names begin with a dot are left out.
func Read(root string) ([]Page, error) {
	var pages []Page
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".md":
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		pages = append(pages, parse(filepath.ToSlash(rel), string(text)))
		return nil
	})
	return pages, err
}

var (
	fence   = regexp.MustCompile("^```([^\\s`]*) *([^`]*)$")
	comment = regexp.MustCompile(`(?s)^<!-- ?(.*?) ?-->\n`)
	item    = regexp.MustCompile(`^([*+-]|\d+[.)]) `)
)

func parse(file, text string) Page {
	p := Page{File: file, Text: strings.ReplaceAll(text, "\r\n", "\n")}
	lines := strings.SplitAfter(p.Text, "\n")
	inList, above := false, ""
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\n")
		note := ""
		switch open, trimmed := fence.FindStringSubmatch(line), strings.TrimLeft(line, " \t>"); {
		case open != nil:
			b := Block{Line: i + 1, Lang: open[1], Word: strings.TrimSpace(open[2]), Note: above}
			for i++; i < len(lines) && strings.TrimRight(lines[i], " \n") != "```"; i++ {
				b.Text += lines[i]
			}
			if i >= len(lines) {
				p.wrong(b.Line, "the block does not end")
			}
			p.Blocks = append(p.Blocks, b)
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			p.wrong(i+1, "a fence is three backquotes at the beginning of their line, with nothing but words behind them")
		case strings.HasPrefix(line, "<!--"):
			m := comment.FindStringSubmatch(strings.Join(lines[i:], ""))
			if m == nil {
				p.wrong(i+1, "a comment ends with --> at the end of a line")
				break
			}
			note = m[1]
			p.notes = append(p.notes, note)
			i += strings.Count(m[0], "\n") - 1
		case line == "":
		case item.MatchString(line):
			inList = true
		case (line[0] == '\t' || strings.HasPrefix(line, "    ")) && !inList && (i == 0 || lines[i-1] == "\n"):
			p.wrong(i+1, "code that is only indented: put it into a fenced block")
		case line[0] != ' ' && line[0] != '\t':
			inList = false
		}
		above = note
	}
	return p
}

func (p *Page) wrong(line int, what string) {
	p.Wrong = append(p.Wrong, fmt.Sprintf("%s:%d: %s", p.File, line, what))
}
