package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newMan(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR",
		Short:  "Write the manual pages, one for each verb",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fileError(err)
			}
			return a.writeManuals(c.Root(), args[0])
		},
	}
}

// writeManuals writes the pages of a command and of those below it.
func (a *app) writeManuals(c *cobra.Command, dir string) error {
	path := filepath.Join(dir, manualName(c)+".1")
	if err := os.WriteFile(path, []byte(manual(c)), 0o644); err != nil { // for all users
		return fileError(err)
	}
	if err := a.either(map[string]any{"file": path}, "%s\n", path); err != nil {
		return err
	}
	for _, sub := range shownVerbs(c) {
		if err := a.writeManuals(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// shownVerbs are the verbs below a command that are not hidden.
func shownVerbs(c *cobra.Command) (shown []*cobra.Command) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			shown = append(shown, sub)
		}
	}
	return shown
}

func manualName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manual is the page of a command in roff, out of the texts that help shows. It says no date, so that it is the same whenever it is made.
func manual(c *cobra.Command) string {
	var b strings.Builder
	name := manualName(c)
	version, _ := buildVersions()
	fmt.Fprintf(&b, ".TH \"%s\" \"1\" \"\" \"wrun %s\" \"wrun\"\n.nh\n.ad l\n", roff(strings.ToUpper(name)), roff(version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n", roff(name), roff(c.Short))
	use := c.UseLine()
	if len(shownVerbs(c)) > 0 {
		use = c.CommandPath() + " VERB"
	}
	fmt.Fprintf(&b, "\\fB%s\\fR\n", roff(use))
	b.WriteString(".SH DESCRIPTION\n")
	manualText(&b, cmp.Or(c.Long, c.Short+"."))
	for i, sub := range shownVerbs(c) {
		if i == 0 {
			b.WriteString(".SH VERBS\n")
		}
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR(1)\n%s\n", roff(manualName(sub)), roff(sub.Short))
	}
	manualFlags(&b, "OPTIONS", c.NonInheritedFlags())
	manualFlags(&b, "OPTIONS OF EVERY VERB", c.InheritedFlags())
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n")
		manualText(&b, c.Example)
	}
	b.WriteString(".SH SEE ALSO\n")
	see := []string{"\\fBwrun\\-explain\\fR(1)"}
	for p := c.Parent(); p != nil; p = p.Parent() {
		see = append([]string{"\\fB" + roff(manualName(p)) + "\\fR(1)"}, see...)
	}
	b.WriteString(strings.Join(see, ",\n") + "\n")
	return b.String()
}

// manualText writes paragraphs. What is indented stays as it is laid out.
func manualText(b *strings.Builder, text string) {
	laidOut, first := false, true
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		line = strings.TrimRight(line, " \n")
		indented := strings.HasPrefix(line, "  ")
		if indented != laidOut && (indented || line != "") {
			b.WriteString(map[bool]string{true: ".PP\n.RS 2\n.nf\n", false: ".fi\n.RE\n.PP\n"}[indented])
			laidOut = indented
		} else if line == "" && !first {
			b.WriteString(map[bool]string{true: ".sp\n", false: ".PP\n"}[laidOut])
		}
		if line != "" {
			b.WriteString(roff(strings.TrimPrefix(line, "  ")) + "\n")
		}
		first = false
	}
	if laidOut {
		b.WriteString(".fi\n.RE\n")
	}
}

// manualFlags writes a section about flags.
func manualFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	head := ".SH " + title + "\n"
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		b.WriteString(head)
		head = ""
		value, about := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(b, "\\fB\\-%s\\fR, ", roff(f.Shorthand))
		}
		fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", roff(f.Name))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		if !strings.Contains(about, "(default") && !strings.Contains(" false 0 0s [] ", " "+f.DefValue+" ") && f.DefValue != "" {
			about += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(b, "\n%s\n", roff(about))
	})
}

// roff is a line of text as roff takes it: nothing in it is a request or an escape, and what is copied from it can be typed.
func roff(line string) string {
	var b strings.Builder
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		b.WriteString(`\&`)
	}
	for _, r := range line {
		switch {
		case roffNames[r] != "":
			b.WriteString(roffNames[r])
		case r >= 0x7f:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		case r < ' ':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// roffNames are the characters that roff would take for something else, or show as something else.
var roffNames = map[rune]string{'\\': `\e`, '-': `\-`, '\'': `\(aq`, '"': `\(dq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`}
