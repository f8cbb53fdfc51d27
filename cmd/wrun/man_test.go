package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manuals are the pages of all verbs, by name.
func manuals(c *cobra.Command) map[string]string {
	pages := map[string]string{manualName(c): manual(c)}
	for _, sub := range shownVerbs(c) {
		for name, page := range manuals(sub) {
			pages[name] = page
		}
	}
	return pages
}

// requests are what a page may ask roff for, escapes what may stand in its text.
var (
	requests = []string{".TH", ".nh", ".ad", ".SH", ".PP", ".TP", ".RS", ".RE", ".nf", ".fi", ".sp"}
	escapes  = regexp.MustCompile(`\\(e|-|&|f[BIR]|\((aq|dq|ga|ha|ti)|\[u[0-9A-F]{4,6}\])`)
)

func TestManualsHoldNothingThatRoffWouldMistake(t *testing.T) {
	for name, page := range manuals(newRoot(&app{})) {
		if !strings.HasPrefix(page, ".TH \"") || strings.Count(page, ".nf\n") != strings.Count(page, ".fi\n") || strings.Count(page, ".RS 2\n") != strings.Count(page, ".RE\n") {
			t.Errorf("%s is not laid out as a page", name)
		}
		var sections []string
		for line := range strings.Lines(page) {
			if request, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); line[0] == '.' && !slices.Contains(requests, request) {
				t.Errorf("%s: %q is no request of ours", name, line)
			} else if request == ".SH" {
				sections = append(sections, rest)
			}
			if left := escapes.ReplaceAllString(line, ""); line[0] == '\'' || strings.Contains(left, `\`) || strings.TrimRight(line, " \n") == "" {
				t.Errorf("%s: %q is read otherwise than it is meant", name, line)
			}
		}
		if !slices.Equal(sections[:3], []string{"NAME", "SYNOPSIS", "DESCRIPTION"}) || sections[len(sections)-1] != "SEE ALSO" {
			t.Errorf("%s has the sections %q", name, sections)
		}
	}
}

func TestManualsSayWhatHelpSays(t *testing.T) {
	root := newRoot(&app{})
	pages := manuals(root)
	for _, c := range shownVerbs(root) {
		page := pages[manualName(c)]
		if page == "" {
			t.Errorf("%s has no page", c.Name())
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(page, roff("--"+f.Name)) {
				t.Errorf("the page of %s does not have --%s", c.Name(), f.Name)
			}
		})
	}
	if got := roff(`.a\b 'c' "d" ~^` + "`…x"); got != `\&.a\eb \(aqc\(aq \(dqd\(dq \(ti\(ha\(ga\[u2026]x` {
		t.Errorf("roff gives %s", got)
	}
	if got := roff("'so"); got != `\&\(aqso` {
		t.Errorf("roff gives %s", got)
	}
}

func TestRoffTakesManualsWithoutWarning(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("SKIPPED: there is no groff, so that nobody but our own test has judged the pages")
	}
	for name, page := range manuals(newRoot(&app{})) {
		cmd := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z")
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
