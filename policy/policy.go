package policy

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The caps of a policy.
const (
	// MaxBytes is the longest text of a policy, in bytes.
	MaxBytes = 1 << 20
	// MaxRules is how many rules a policy may have.
	MaxRules = 1_000
	// MaxDepth is how deep its lists and mappings may nest.
	MaxDepth = 16
	// MaxReason is how long the reason of a rule may be, in characters.
	MaxReason = 500
	// MaxWork is how many instructions of the interpreter the conditions may take together in one decision.
	MaxWork = 4_000_000
	// MaxInput is how large an input a condition may look at, in bytes, and MaxNumber how long the numbers in it may be.
	MaxInput  = 1 << 20
	MaxNumber = 1_000
	// MaxValue is how large, as JSON, the value of a condition may be, in bytes.
	MaxValue = 1 << 20
)

// Policy is a policy that was found to be in order. It does not change, and may decide several calls at once.
type Policy struct {
	digest   [sha256.Size]byte
	rules    []rule
	fallback Verdict
}

// Digest returns the SHA-256 of the policy's text.
func (p *Policy) Digest() [sha256.Size]byte { return p.digest }

// Idle returns the line and the pattern of the first rule that is about none of these tools, "module.tool" each. Where those
// are all that can be called, such a rule does nothing, and whoever wrote it believes that it does. One that is switched off,
// or is about everything, is meant so.
func (p *Policy) Idle(tools []string) (line int, tool string, ok bool) {
	for _, r := range p.rules {
		if r.when != nil && r.when.code == nil || r.tool == (pattern{}) {
			continue
		}
		about := func(full string) bool {
			module, tool, _ := strings.Cut(full, ".")
			return r.tool.matches(module, tool)
		}
		if !slices.ContainsFunc(tools, about) {
			return r.line, r.tool.String(), true
		}
	}
	return 0, "", false
}

// Call is a call of a tool that is about to begin.
type Call struct {
	// Run is the id of the run, Step the path of the step.
	Run, Step string
	// Module is the module's name and Tool that of the tool alone, the parts of "module.tool".
	Module, Tool string
	// Digest names the module's bytes, in hexadecimal digits.
	Digest string
	// Idempotency, Destructive and Approval are what the tool's manifest declares.
	Idempotency           string
	Destructive, Approval bool
	// Input is what the tool is given, JSON; none means null.
	Input []byte
}

// Decision is what a policy says about a call. The zero value denies.
type Decision struct {
	Do Verdict
	// Reason says why, to the person who is asked or whose call is denied: in the words of the rule, or where it is.
	// It has no control characters in it. Of what is allowed it is "" where the rule gives none.
	Reason string
	// Rule is the line of the policy with the rule that decided, from 1, or 0 when it was the default.
	Rule int
	// Within is how long a person's yes is accepted, or 0 when the policy does not say.
	Within time.Duration
}

// Decide says what the first rule that matches the call says, or else the default. A condition that cannot be evaluated
// denies the call.
//
// The same call is always decided the same: the conditions are bounded by their work, so the end of ctx does not change
// a decision. A denial may therefore be recorded as it is.
func (p *Policy) Decide(ctx context.Context, c Call) Decision {
	m := newMatcher(context.WithoutCancel(ctx), c)
	for i := range p.rules {
		r := &p.rules[i]
		switch matches, err := m.matches(r); {
		case err != nil:
			reason := fmt.Sprintf("line %d of the policy: ${ %.200s }: %v", r.line, r.when.text, err)
			return Decision{Do: Deny, Reason: printable(reason), Rule: r.line}
		case matches:
			return r.decision()
		}
	}
	d := Decision{Do: p.fallback}
	if d.Do != Allow {
		d.Reason = fmt.Sprintf("no rule of the policy matches, and its default is %s", d.Do)
	}
	return d
}
