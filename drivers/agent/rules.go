package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/policy"
	"github.com/wrun-dev/wrun/runtime"
)

// lines returns the text of the file with nothing but the entry of the top mapping whose value is n: the other lines are
// there, and empty. ok is false where the entry has no lines of its own.
func (p *parser) lines(top, n *yaml.Node) (text string, ok bool) {
	if top.Style&yaml.FlowStyle != 0 {
		return "", false
	}
	all := strings.SplitAfter(string(bytes.TrimPrefix(p.text, []byte("\ufeff"))), "\n")
	first, behind := 0, len(all)+1
	for i := 0; i < len(top.Content); i += 2 {
		key := top.Content[i]
		if key.Column != 1 {
			return "", false
		}
		switch {
		case top.Content[i+1] == n:
			first = key.Line
		case first != 0 && key.Line < behind:
			behind = key.Line
		}
	}
	kept := all[first-1 : behind-1]
	for len(kept) > 0 && isEmpty(kept[len(kept)-1]) {
		kept = kept[:len(kept)-1]
	}
	return strings.Repeat("\n", first-1) + strings.Join(kept, ""), true
}

// isEmpty says whether a line says nothing, or is the mark at the end of a document.
func isEmpty(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line == "..." || line[0] == '#'
}

func (p *parser) judgeRules(n *yaml.Node, text string) {
	rules, err := policy.Parse([]byte(text))
	if err == nil {
		p.file.rules = rules
		p.file.Agent.Rules = strings.TrimLeft(text, "\n")
		return
	}
	found := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		found = many.Unwrap()
	}
	for _, err := range found {
		var at *policy.Error
		if errors.As(err, &at) {
			p.Fail(&yaml.Node{Line: at.Line, Column: at.Column}, "%s", at.Message)
		} else {
			p.Fail(n, "%v", err)
		}
	}
}

// judge is what the agent's rules say of its own calls.
type judge struct {
	run    string
	policy *policy.Policy // nil for no rules
}

func newJudge(run, rules string) (*judge, error) {
	if rules == "" {
		return &judge{}, nil
	}
	p, err := policy.Parse([]byte(rules))
	if err != nil {
		return nil, fmt.Errorf("the rules of the run cannot be read: %w", err)
	}
	return &judge{run, p}, nil
}

// decide says what a rule wants of a call. What is allowed by a rule is left to the operator and to the manifest.
func (j *judge) decide(ctx context.Context, step journal.Step, t *offered, input []byte) runtime.Decision {
	if j.policy == nil {
		return runtime.Decision{}
	}
	d := j.policy.Decide(ctx, policy.Call{
		Run: j.run, Step: string(step), Module: t.module.Name, Tool: t.tool.Name, Digest: t.module.Digest.String(),
		Idempotency: string(t.tool.Declared()), Destructive: t.tool.Destructive, Approval: t.tool.Approval, Input: input,
	})
	said := runtime.Decision{Reason: d.Reason, Within: d.Within}
	if d.Reason == fmt.Sprintf("line %d of the policy says %s", d.Rule, d.Do) { // it gave none; and this is not the operator's policy
		said.Reason = fmt.Sprintf("a rule of the agent says %s", d.Do)
	}
	switch d.Do {
	case policy.Ask:
		said.Verdict = runtime.AskFirst
	case policy.Deny:
		said.Verdict = runtime.Deny
	default:
		return runtime.Decision{}
	}
	return said
}
