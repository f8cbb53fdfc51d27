package policy

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/internal/jq"
)

// fieldNames are the fields of what a condition sees.
var fieldNames = []string{"run", "step", "module", "tool", "digest", "idempotency", "destructive", "approval", "input"}

// matcher matches the rules of a policy against one call. The input is read only for a condition.
type matcher struct {
	ctx  context.Context
	call Call
	work *jq.Work
	root map[string]any // nil: not made yet
}

func newMatcher(ctx context.Context, c Call) *matcher {
	return &matcher{ctx: ctx, call: c, work: jq.NewWork(MaxWork)}
}

func (m *matcher) matches(r *rule) (bool, error) {
	switch {
	case !r.tool.matches(m.call.Module, m.call.Tool):
		return false, nil
	case r.when == nil:
		return true, nil
	case r.when.code == nil:
		return false, nil
	}
	if err := m.see(); err != nil {
		return false, err
	}
	v, err := r.when.code.Value(m.ctx, m.root, m.work, MaxValue)
	return v != nil && v != false, err // as in jq, everything but false and null holds
}

// see makes what the conditions see.
func (m *matcher) see() error {
	if m.root != nil {
		return nil
	}
	var input any
	if len(m.call.Input) > 0 {
		var err error
		if input, err = jq.Decode(m.call.Input); err != nil {
			return fmt.Errorf("read the input: %w", err)
		}
	}
	c := m.call
	m.root = map[string]any{
		"run": c.Run, "step": c.Step, "module": c.Module, "tool": c.Tool, "digest": c.Digest,
		"idempotency": c.Idempotency, "destructive": c.Destructive, "approval": c.Approval, "input": input,
	}
	return nil
}

// printable cuts a reason to what is recorded with a run, and takes out what a terminal could obey: it can hold text of
// the input.
func printable(s string) string {
	const most = 1 << 10
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ReplacementChar
	}, s)
	if len(s) <= most {
		return s
	}
	cut := most
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
