package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/authority"
	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// text is what a person is shown before they are asked: what there is to decide on. The rest is for tool inspect. The author of the module has a part in it.
func (p *proposal) text() string {
	var b strings.Builder
	b.WriteString(describeForGrants(p.info))
	fmt.Fprintf(&b, "more     wrun tool inspect %s\n", quoted(p.given))
	if p.before != nil {
		p.changes(&b)
	}
	b.WriteString("\nGranted to these bytes, wherever they are used:\n")
	lines(&b, grantLines(p.grants, p.before))
	if p.before != nil {
		var gone []string
		kept := grantfile.Words(p.grants)
		for _, w := range grantfile.Words(p.before.Grants) {
			if !slices.Contains(kept, w) {
				gone = append(gone, wordText(w))
			}
		}
		if len(gone) > 0 {
			b.WriteString("No longer granted:\n")
			lines(&b, gone)
		}
	}
	if !p.useless.IsZero() {
		b.WriteString("Not asked for, and left out:\n")
		lines(&b, grantLines(p.useless, nil))
	}
	if missing := authority.Missing(p.info.Manifest, p.grants); len(missing) > 0 {
		b.WriteString("Asked for and not granted:\n")
		var needs []string
		for _, n := range missing {
			needs = append(needs, toolabi.CleanLine(n.What, 500)+": "+flagText(n.Flag, n.Value))
		}
		lines(&b, needs)
	}
	return toolabi.CleanText(b.String(), 1<<20)
}

// changes says in what the module differs from the one that it takes the place of.
func (p *proposal) changes(b *strings.Builder) {
	fmt.Fprintf(b, "\nIt takes the place of %s %s, digest %s.\n", p.before.Name, p.before.Version, p.before.Digest.Short())
	if p.before.Digest == p.info.Digest {
		b.WriteString("These are the same bytes.\n")
		return
	}
	if p.was == nil {
		b.WriteString("What has changed cannot be said: the bytes of that one cannot be used any more.\n")
		return
	}
	changes := authority.Compare(compared(p.was), compared(p.info))
	if len(changes) == 0 {
		b.WriteString("They say the same about themselves.\n")
	}
	lines(b, changeLines(changes))
}

func lines(b *strings.Builder, texts []string) {
	for _, t := range texts {
		fmt.Fprintf(b, "  %s\n", t)
	}
	if len(texts) == 0 {
		b.WriteString("  nothing\n")
	}
}

// grantLines are grants, one a line. Those that before did not have are marked, where there is a before.
func grantLines(g hostfuncs.Grants, before *grantfile.Record) (texts []string) {
	var had []grantfile.Word
	if before != nil {
		had = grantfile.Words(before.Grants)
	}
	for _, w := range grantfile.Words(g) {
		text := wordText(w)
		if before != nil && !slices.Contains(had, w) {
			text += "   (new)"
		}
		texts = append(texts, text)
	}
	return texts
}

func wordText(w grantfile.Word) string { return toolabi.CleanLine(flagText(w.Flag, w.Value), 2000) }

// changeLines are changes, one a line, with an exclamation mark before what is wider.
func changeLines(changes []authority.Change) (texts []string) {
	for _, c := range changes {
		mark := " "
		if c.Wider {
			mark = "!"
		}
		texts = append(texts, fmt.Sprintf("%s %s: %s", mark, c.About, toolabi.CleanLine(c.What, 500)))
	}
	return texts
}

func compared(m *sandbox.Module) authority.Module {
	return authority.Module{Manifest: m.Manifest, Functions: m.Functions, WASI: m.WASI}
}
