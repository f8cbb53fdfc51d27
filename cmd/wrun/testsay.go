package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/tooltest"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// testTotals is what came of all cases.
type testTotals struct {
	Cases, Failed, Left int
	Took                time.Duration
}

func (t testTotals) String() string {
	return fmt.Sprintf("%d of %s", t.Failed, number(uint64(t.Cases), "case", "cases"))
}

// resultLine is a case as JSON.
type resultLine struct {
	File     string         `json:"file"`
	Case     string         `json:"case"`
	Tool     string         `json:"tool"`
	OK       bool           `json:"ok"`
	MS       int64          `json:"ms"`
	Calls    int            `json:"calls"`
	Failures []string       `json:"failures,omitempty"`
	Output   any            `json:"output,omitempty"`
	Err      *toolabi.Error `json:"error,omitempty"`
	Logs     []string       `json:"logs,omitempty"`
	Seen     []world.Event  `json:"seen,omitempty"`
}

// sayResult writes what came of a case: one line, and what is not as expected below it.
func (a *app) sayResult(path string, r tooltest.Result) error {
	if a.json {
		l := resultLine{
			File: path, Case: r.Case, Tool: r.Tool, OK: r.Passed(), MS: r.Duration.Milliseconds(), Calls: r.Calls, Failures: r.Failures, Err: r.Err, Output: shown([]byte(r.Output)),
		}
		if a.verbose {
			l.Logs, l.Seen = r.Logs, r.Seen
		}
		return a.line(l)
	}
	var b strings.Builder
	word := "ok  "
	if !r.Passed() {
		word = "FAIL"
	}
	fmt.Fprintf(&b, "%s  %s: %s  (%s)\n", word, filepath.Base(path), r.Case, r.Duration.Round(time.Millisecond))
	for _, f := range r.Failures {
		b.WriteString(below(f))
	}
	if a.verbose {
		for _, line := range r.Logs {
			b.WriteString(below("log  " + line))
		}
		for _, e := range r.Seen {
			b.WriteString(below(eventText(e)))
		}
	}
	return a.printf("%s", toolabi.CleanText(b.String(), maxSaid))
}

// below writes lines under a case.
func below(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n      ") + "\n"
}

// eventText is what the world saw, on a line.
func eventText(e world.Event) string {
	if e.Kind == world.KindMail {
		return fmt.Sprintf("mail  to %s: %s %s%s", strings.Join(e.Message.To, ", "), e.Message.Subject, e.Reply, e.Fault)
	}
	text := fmt.Sprintf("http  %s %s -> ", e.Method, e.URL)
	switch {
	case e.Unexpected:
		text += "unexpected"
	case e.Fault != "":
		text += string(e.Fault)
	default:
		text += fmt.Sprint(e.Status)
	}
	if e.Replayed {
		text += ", from its key"
	}
	return text
}

// sayCoverage writes what the cases leave out.
func (a *app) sayCoverage(c tooltest.Coverage) error {
	if a.json {
		return a.line(map[string]any{"coverage": c})
	}
	var b strings.Builder
	for _, part := range []struct {
		title string
		list  []string
	}{
		{"declared, and used by no case", c.Unused}, {"used, and not declared", c.Undeclared}, {"tools without a case", c.Untested},
	} {
		if len(part.list) > 0 {
			b.WriteString(part.title + "\n" + below(strings.Join(part.list, "\n")))
		}
	}
	return a.printf("%s", toolabi.CleanText(b.String(), maxSaid))
}

func (a *app) sayTotals(t testTotals) error {
	if a.json {
		return a.line(map[string]any{"cases": t.Cases, "failed": t.Failed, "left_out": t.Left, "ms": t.Took.Milliseconds()})
	}
	text := fmt.Sprintf("%s, %d failed", number(uint64(t.Cases), "case", "cases"), t.Failed)
	if t.Left > 0 {
		text += fmt.Sprintf(", %d left out", t.Left)
	}
	return a.printf("%s  (%s)\n", text, t.Took.Round(time.Millisecond))
}
