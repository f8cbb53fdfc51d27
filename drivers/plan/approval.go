package plan

import (
	"context"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// approval is the step that asks a person, and waits.
type approval struct {
	text   template
	detail template // nil: there is none
	within time.Duration
}

// parseApproval reads the question, or a mapping that has it.
func parseApproval(p *parser, _ *yaml.Node, f fields) action {
	n := f["approve"]
	if n.Kind == yaml.ScalarNode {
		return &approval{text: p.question(n)}
	}
	f = p.fields(n, `"approve"`, []string{"text", "detail", "within"})
	if f == nil {
		return nil
	}
	a := &approval{}
	if v := f["text"]; v != nil {
		a.text = p.question(v)
	} else {
		p.fail(n, `"approve" needs "text": what the person is asked`)
	}
	if v := f["detail"]; v != nil {
		a.detail = p.template(v)
	}
	if v := f["within"]; v != nil {
		a.within = p.duration(v, `"within"`)
	}
	return a
}

func (p *parser) question(n *yaml.Node) template {
	s := p.str(n, "the question")
	if s == "" {
		return fixed{s}
	}
	if len(s) > toolabi.MaxText {
		p.fail(n, "the question has %d bytes, at most %d are allowed", len(s), toolabi.MaxText)
	}
	return p.text(n, s)
}

func (*approval) calls(journal.Step) []Call { return nil }

func (a *approval) do(ctx context.Context, s *scope, at journal.Step, _ bool) ([]byte, error) {
	v, err := text{a.text, fixed{""}}.eval(ctx, s)
	if err != nil {
		return nil, err
	}
	q := runtime.Question{Text: v.(string), Within: a.within}
	if q.Text == "" || len(q.Text) > toolabi.MaxText {
		return nil, failure("value", fmt.Sprintf("the question has %d bytes; 1 to %d are allowed", len(q.Text), toolabi.MaxText))
	}
	if a.detail != nil {
		if q.Detail, err = s.encode(ctx, a.detail, "the detail"); err != nil {
			return nil, err
		}
	}
	return s.run.caller.Approve(ctx, at, q)
}
