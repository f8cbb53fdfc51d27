package plan

import (
	"context"
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// rescue is what is done when a step fails.
type rescue struct {
	steps []step         // nil: nothing, the plan goes on
	names []journal.Step // the ids in them
}

// rescue reads "on_error": the word continue, or steps that see .error.
func (p *parser) rescue(n, e *yaml.Node) *rescue {
	if e.Kind == yaml.ScalarNode {
		if v, _ := scalar(e); v == "continue" {
			return &rescue{}
		}
	}
	if e.Kind != yaml.SequenceNode {
		p.fail(e, `"on_error" has to be continue or a list of steps, this is %s`, describe(e))
		return nil
	}
	defer p.declare(e, errorField)()
	mark := len(p.shown)
	steps := p.inner(e, within{n, "on_error", 0}, `"on_error"`)
	return &rescue{steps: steps, names: p.since(mark)}
}

// handle does what the plan wants done about a failure, and returns what then counts as the output of the step.
func (s *scope) handle(ctx context.Context, st *step, failed *StepError, keep bool) ([]byte, error) {
	if st.rescue.steps == nil {
		output, err := encode(map[string]any{errorField: describeFailure(failed)})
		if err != nil {
			return nil, s.failed(st, failure("value", err.Error()))
		}
		return output, s.store(st, output)
	}
	s.settle(st.names)
	in := s.inside()
	in.values[errorField] = describeFailure(failed)
	output, err := in.steps(ctx, st.rescue.steps, keep)
	s.adopt(in, st.rescue.names)
	if err != nil {
		return nil, err
	}
	return output, s.store(st, output)
}

// describeFailure returns a failure as expressions see it. All of it is recorded, or follows from what is.
func describeFailure(failed *StepError) map[string]any {
	var e *toolabi.Error
	errors.As(failed, &e)
	effect := e.Effect
	if effect == 0 {
		effect = toolabi.EffectNone
	}
	return map[string]any{
		"code": e.Code.String(), "message": e.Message, "detail": e.Detail, "effect": effect.String(), "step": string(failed.Step),
	}
}
