package journal_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func TestStepGrammar(t *testing.T) {
	for s, want := range map[string]bool{
		"charge": true, "charge/2": true, "charge/2/1": true, "charge~2/1": true, "charge[0]": true, "a[1][2]": true,
		"a[1]~2/3~4/5": true, "_a-b.c": true, "0": true, strings.Repeat("a", 64): true, "a/1/2/3/4/5/6/7/8/9/10/11": true,
		"charge?": true, "charge?~2": true, "charge[3]?": true, "charge/2?": true, "charge~2/2?~3": true,
		"?": false, "charge??": false, "charge~2?": false, "charge?/1": false, "charge/1?/2": false, "charge?[1]": false,
		"a~999999": true, "a[999999999]": true,
		"": false, "/": false, "a/": false, "/1": false, "a//1": false, "a/0": false, "a/01": false, "a/b": false, "a~1": false,
		"a~0": false, "a~": false, "a~02": false, "a~2~3": false, "a[]": false, "a[01]": false, "a[-1]": false, "a~2[1]": false,
		"-a": false, ".a": false, "..": false, "a b": false, "é": false, "a\x00": false, "a\n": false, "a/1\n": false, "a\xff": false,
		strings.Repeat("a", 65): false, "a/1/2/3/4/5/6/7/8/9/10/11/12": false, "a~1000000": false, "a[1][1][1][1][1]": false,
		"a/1234567890": false, "a/" + strings.Repeat("9", 300): false,
	} {
		if err := journal.Step(s).Validate(); (err == nil) != want {
			t.Errorf("%.80q: got %v, want allowed: %t", s, err, want)
		}
	}
}

func TestStepParts(t *testing.T) {
	for _, c := range []struct {
		step, parent, first, plain journal.Step
		attempt, ordinal           int
	}{
		{"charge", "", "charge", "charge", 1, 0},
		{"charge~2", "", "charge", "charge", 2, 0},
		{"charge[3]~12", "", "charge[3]", "charge[3]", 12, 0},
		{"charge~2/7", "charge~2", "charge~2/7", "charge/7", 1, 7},
		{"charge~2/7~3", "charge~2", "charge~2/7", "charge/7", 3, 7},
		{"charge/2/1", "charge/2", "charge/2/1", "charge/2/1", 1, 1},
		{"charge?~2", "", "charge?", "charge?", 2, 0},
		{"charge/2?", "charge", "charge/2?", "charge/2?", 1, 2},
	} {
		s := c.step
		if s.Parent() != c.parent || s.First() != c.first || s.WithoutAttempts() != c.plain || s.Attempt() != c.attempt || s.Ordinal() != c.ordinal {
			t.Errorf("%s: got %q %q %q %d %d, want %+v", s, s.Parent(), s.First(), s.WithoutAttempts(), s.Attempt(), s.Ordinal(), c)
		}
		if got := s.At(s.Attempt()); got != s {
			t.Errorf("%s at its own attempt is %s", s, got)
		}
	}
	for step, question := range map[journal.Step]journal.Step{"charge": "charge?", "charge~3": "charge?", "charge~2/7~2": "charge~2/7?"} {
		if got := step.Question(); got != question || got.Asks() != step.First() || step.Asks() != "" {
			t.Errorf("the question about %s is %s, which asks about %q", step, got, got.Asks())
		}
	}
	if got := journal.Step("a?~2").Asks(); got != "a" {
		t.Errorf("a?~2 asks about %q, want a", got)
	}
	if got := journal.Step("a~2").Child(3); got != "a~2/3" {
		t.Errorf("got %s, want a~2/3", got)
	}
	for _, c := range []struct {
		s, outer journal.Step
		want     bool
	}{{"a/1", "a", true}, {"a/1/2", "a", true}, {"a", "a", false}, {"ab/1", "a", false}, {"a~2/1", "a", false}, {"a", "a/1", false}} {
		if got := c.s.Within(c.outer); got != c.want {
			t.Errorf("%s within %s: got %t, want %t", c.s, c.outer, got, c.want)
		}
	}
}

func TestRunIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"a": true, "invoice-7": true, "a.b_c-d": true, "2026-11-29": true, "run~rollback": true, strings.Repeat("a", 128): true,
		"": false, "A": false, "-a": false, "a-": false, ".": false, "..": false, "a/b": false, "a b": false, "a\x00b": false, "a\n": false,
		"../../etc/x": false, "é": false, "a~": false, "~a": false, "a~B": false, "a~b~c": false, strings.Repeat("a", 129): false, "a\xff": false,
	} {
		if err := journal.ValidateRun(id); (err == nil) != want {
			t.Errorf("%.80q: got %v, want allowed: %t", id, err, want)
		}
	}
}

// A step that the grammar allows comes apart and together again without loss.
func FuzzStep(f *testing.F) {
	for _, s := range []string{"charge", "charge~2/1", "a[1]~2/3~4/5", "a~1", "a/0", "a//", "~", "/~2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, str string) {
		s := journal.Step(str)
		parent, first, attempt, ordinal, plain := s.Parent(), s.First(), s.Attempt(), s.Ordinal(), s.WithoutAttempts()
		if s.Validate() != nil {
			return
		}
		if first.At(attempt) != s || first.Attempt() != 1 || first.Parent() != parent {
			t.Errorf("%s: first %s, attempt %d", s, first, attempt)
		}
		if (parent == "") != (ordinal == 0) || parent != "" && (parent.Child(ordinal) != first || !s.Within(parent) || parent.Validate() != nil) {
			t.Errorf("%s: parent %q, ordinal %d", s, parent, ordinal)
		}
		if strings.Contains(string(plain), "~") || plain.Validate() != nil || plain.WithoutAttempts() != plain {
			t.Errorf("%s without attempts is %s", s, plain)
		}
	})
}
