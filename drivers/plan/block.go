package plan

import (
	"context"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
)

// block is the step that is several, one after the other: to put one condition before them, or one "on_error" behind.
type block struct{ steps []step }

func parseBlock(p *parser, n *yaml.Node, f fields) action {
	return &block{p.inner(f["steps"], within{n, "steps", 0}, `"steps"`)}
}

func (b *block) calls(journal.Step) []Call { return callsOf(b.steps) }

func (b *block) do(ctx context.Context, s *scope, _ journal.Step, keep bool) ([]byte, error) {
	return s.steps(ctx, b.steps, keep)
}

// otherwise reads the steps of "else", which do not see those of the other side.
func (p *parser) otherwise(n, list *yaml.Node, f fields, mark int) []step {
	if f["if"] == nil {
		p.fail(list, `"else" needs an "if"`)
	}
	body := p.hide(mark)
	steps := p.inner(list, within{n, "else", 0}, `"else"`)
	other := p.hide(mark)
	p.show(body...)
	p.show(other...)
	return steps
}
