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

// matcher matches the rules of a policy against one call. The input is read only for a condition that may look at it.
type matcher struct {
	ctx  context.Context
	call Call
	work *jq.Work
	root map[string]any // what conditions see
}

func newMatcher(ctx context.Context, c Call) *matcher {
	return &matcher{ctx: ctx, call: c, work: jq.NewWork(MaxWork), root: map[string]any{
		"run": c.Run, "step": c.Step, "module": c.Module, "tool": c.Tool, "digest": c.Digest,
		"idempotency": c.Idempotency, "destructive": c.Destructive, "approval": c.Approval,
	}}
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
	if r.when.input {
		if err := m.read(); err != nil {
			return false, err
		}
	}
	v, err := r.when.code.Value(m.ctx, m.root, m.work, MaxValue)
	return v != nil && v != false, err // as in jq, everything but false and null holds
}

// read adds the input to what the conditions see. It may come from someone hostile, and so is bounded more tightly than
// what a tool may be given.
func (m *matcher) read() error {
	if _, ok := m.root["input"]; ok {
		return nil
	}
	if len(m.call.Input) > MaxInput {
		return fmt.Errorf("the input has %d bytes, a condition may look at %d", len(m.call.Input), MaxInput)
	}
	var input any
	if len(m.call.Input) > 0 {
		var err error
		if input, err = jq.Decode(m.call.Input, MaxNumber); err != nil {
			return fmt.Errorf("read the input: %w", err)
		}
	}
	m.root["input"] = input
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
