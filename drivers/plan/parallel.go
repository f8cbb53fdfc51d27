package plan

import (
	"context"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
)

// parallel is the step whose branches are done at once.
type parallel struct {
	branches []branch
	limit    int
}

// branch is one of them.
type branch struct {
	steps []step
	names []journal.Step // the ids in it that the steps behind the block see
}

func parseParallel(p *parser, n *yaml.Node, f fields) action {
	list := f["parallel"]
	if list.Kind != yaml.SequenceNode {
		p.fail(list, `"parallel" has to be a list of branches, this is %s`, describe(list))
		return nil
	}
	count := len(list.Content)
	if count == 0 || count > MaxBranches {
		p.fail(list, `"parallel" has %d branches; 1 to %d are allowed`, count, MaxBranches)
		return nil
	}
	limit := count
	if v := f["limit"]; v != nil {
		limit = min(limit, p.number(v, `"limit"`, MaxAtOnce))
	}
	defer p.widen(list, limit)()
	act := &parallel{limit: limit}
	var names []journal.Step
	for i, c := range list.Content {
		if p.full() {
			break
		}
		mark := len(p.shown)
		steps := p.inner(c, within{n, "parallel", i}, "a branch")
		b := branch{steps: steps, names: p.hide(mark)}
		act.branches = append(act.branches, b)
		names = append(names, b.names...)
	}
	p.show(names...)
	return act
}

// widen notes how many of what is inside may be under way at once, until narrow is called.
func (p *parser) widen(n *yaml.Node, limit int) (narrow func()) {
	before := p.width
	if p.width *= limit; p.width > MaxAtOnce {
		p.fail(n, "up to %d steps could be under way at once here; at most %d are allowed", p.width, MaxAtOnce)
		p.width = before
	}
	return func() { p.width = before }
}

func (a *parallel) calls(journal.Step) []Call {
	var calls []Call
	for _, b := range a.branches {
		calls = append(calls, callsOf(b.steps)...)
	}
	return calls
}

func (a *parallel) do(ctx context.Context, s *scope, _ journal.Step, keep bool) ([]byte, error) {
	scopes := make([]*scope, len(a.branches))
	for i := range scopes {
		scopes[i] = s.inside()
	}
	out := newOutputs(len(a.branches), keep)
	err := together(len(a.branches), a.limit, func(i int) error {
		output, err := scopes[i].steps(ctx, a.branches[i].steps, keep)
		out.put(i, output)
		return err
	})
	for i, in := range scopes {
		s.adopt(in, a.branches[i].names)
	}
	if err != nil {
		return nil, err
	}
	return out.json()
}
