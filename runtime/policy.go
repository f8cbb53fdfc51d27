package runtime

import (
	"context"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Policy decides whether a call may begin. It is asked each time that a run comes to a call which has not begun, may be
// asked about the same call again after a resume, and is called concurrently. What it denies is denied whatever was
// agreed to before.
type Policy func(ctx context.Context, c Candidate) Decision

// Candidate is a call that has not begun.
type Candidate struct {
	Run  string
	Step journal.Step
	// Module and Tool say which tool of the run is called, Digest with which bytes.
	Module, Tool string
	Digest       toolabi.Digest
	// Idempotency, Destructive and Approval are the manifest's.
	Idempotency           toolabi.Idempotency
	Destructive, Approval bool
	// Input is the call's input, JSON. The policy must not change it.
	Input []byte
}

// Decision is what a policy, or a driver, says of a call.
type Decision struct {
	Verdict Verdict
	// Reason is told to the person who is asked, or to the tool that is denied.
	Reason string
	// Within is how long a yes counts, from the question on; 0 means for ever.
	Within time.Duration
}

// Verdict is a policy's or a driver's word.
type Verdict uint8

// The verdicts.
const (
	// NoVerdict leaves it to the manifest: a tool that wants approval is asked about.
	NoVerdict Verdict = iota
	// Allow begins the call, also of a tool that wants approval.
	Allow
	// AskFirst suspends the run until somebody has agreed.
	AskFirst
	// Deny answers the call with toolabi.Denied.
	Deny
)

// decide asks the policy about a call, and takes what the driver wants where that is stricter. driver says that it is the
// driver that does not allow it.
func (r *Run) decide(ctx context.Context, o op) (d Decision, driver bool) {
	if p := r.engine.cfg.Policy; p != nil {
		d = p(ctx, Candidate{
			Run: r.id, Step: o.step, Module: o.callee.Name, Tool: o.tool.Name, Digest: o.callee.Digest,
			Idempotency: o.tool.Declared(), Destructive: o.tool.Destructive, Approval: o.tool.Approval, Input: o.request,
		})
	}
	if d.Verdict == NoVerdict && o.tool.Approval {
		d.Verdict, d.Reason = AskFirst, "the tool wants somebody to agree to each call"
	}
	if d.Verdict == AskFirst && o.wanted.Verdict == AskFirst {
		return bothAsk(d, o.wanted), false
	}
	if o.wanted.Verdict >= AskFirst && o.wanted.Verdict > d.Verdict {
		return o.wanted, o.wanted.Verdict == Deny
	}
	return d, false
}

// bothAsk is the question that the policy and the driver want to be put: with the reasons of both, and a yes to it counts no
// longer than either says.
func bothAsk(policy, driver Decision) Decision {
	if driver.Within != 0 && (policy.Within == 0 || driver.Within < policy.Within) {
		policy.Within = driver.Within
	}
	switch driver.Reason {
	case "", policy.Reason:
	default:
		if policy.Reason != "" {
			policy.Reason += "; "
		}
		policy.Reason += driver.Reason
	}
	return policy
}
