package agent

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/wrun-dev/wrun/runtime"
)

// ChangedError says that a run was begun with another agent, or another task, than it is to go on with.
type ChangedError struct {
	Run string
	// Diff says what is different, as lines of "diff -u".
	Diff string
}

// Error names the run.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("run %s was begun with something else; a run keeps the task, the model, the instructions, the tools and the limits that it began with", e.Run)
}

// Changed holds what a run of an agent is made of against what it would be made of now: a *ChangedError, or nil. Grants are not
// compared.
func Changed(run string, then, now *runtime.Spec) error {
	before, err := text(then)
	if err != nil {
		return err
	}
	after, err := text(now)
	if err != nil {
		return err
	}
	if before == after {
		return nil
	}
	lines := string(diff.Diff("run "+run, []byte(before), "now", []byte(after)))
	_, lines, _ = strings.Cut(lines, "\n") // its first line names the command
	return &ChangedError{Run: run, Diff: lines}
}

// text writes what a run is made of for people, a line for each thing, so that lines can be compared.
func text(s *runtime.Spec) (string, error) {
	a, err := Unpin(s.Plan)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	block := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s:\n  %s\n", name, strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  "))
		}
	}
	line("driver", s.Driver+" "+s.Version)
	line("task", string(s.Input))
	line("name", a.Name)
	a.Model.lines(line)
	block("instructions", a.Instructions)
	for _, m := range s.Modules {
		line("module", m.Name+" "+m.Digest.String())
	}
	for _, t := range a.Tools {
		line("tool", t)
	}
	block("rules", a.Rules)
	a.Limits.lines(line)
	line("fuel of each call", number(s.Limits.Fuel))
	line("turns in the context", number(a.Context.Turns))
	line("bytes of a result in the context", number(a.Context.ResultBytes))
	block("script", a.Model.Script)
	return b.String(), nil
}

// number is a number that somebody gave.
func number[T int | int64 | uint64](n T) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func (m *Model) lines(line func(name, value string)) {
	line("model", m.words())
	line("base url", m.BaseURL)
	line("key", m.Key)
	line("max_tokens", number(m.MaxTokens))
	line("temperature", m.Temperature.String())
	if m.Whole {
		line("stream", "false")
	}
	line("timeout in ms", number(m.TimeoutMS))
	if r := m.Retry; r.Attempts != 0 {
		line("retry", fmt.Sprintf("%d attempts, %d ms, at most %d ms", r.Attempts, r.BackoffMS, r.MaxBackoffMS))
	}
	if p := m.Prices; p != nil {
		line("prices", fmt.Sprintf("input %s, output %s, cache_read %s, cache_write %s", FormatAmount(p.Input), FormatAmount(p.Output),
			FormatAmount(orInput(p.CacheRead, p.Input)), FormatAmount(orInput(p.CacheWrite, p.Input))))
	}
}

// words are what SetModel reads.
func (m *Model) words() string {
	if m.Name == "" {
		return m.Protocol
	}
	return m.Protocol + "/" + m.Name
}

func (l *Limits) lines(line func(name, value string)) {
	line("limit of steps", number(l.Steps))
	line("limit of tokens", number(l.Tokens))
	if l.Cost != 0 {
		line("limit of cost", FormatAmount(l.Cost))
	}
	line("limit of time in ms", number(l.TimeMS))
	line("calls of an answer", number(l.Calls))
	line("calls at once", number(l.Parallel))
	line("repeats", number(l.Repeats))
}

// Where says in a line which model is asked, at which address, and with which key.
func (m *Model) Where() string {
	words := m.words()
	if m.BaseURL != "" {
		words += " at " + m.BaseURL
	}
	if m.Key != "" {
		words += " with the key " + m.Key
	}
	return words
}
