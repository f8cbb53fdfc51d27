package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// act does what an answer asks for and returns what came of it, in the order in which it was asked. A call that cannot be made
// is a result as well: the model sees why.
func (l *loop) act(ctx context.Context, turn int, said model.Said) ([]model.Result, error) {
	calls := said.Calls
	texts := make([]outcome, len(calls))
	var todo []int
	specs := make([]runtime.CallSpec, len(calls))
	for i := range calls {
		spec, wrong := l.prepare(ctx, turn, i, said)
		if wrong != "" {
			texts[i] = outcome{text: wrong, failed: true}
			continue
		}
		specs[i], todo = spec, append(todo, i)
	}
	if err := l.callAll(ctx, specs, todo, texts); err != nil {
		return nil, err
	}
	results := make([]model.Result, len(calls))
	for i, c := range calls {
		results[i] = model.Result{Call: c.ID, Tool: c.Tool, Text: l.agent.Context.told(texts[i].text), Failed: texts[i].failed}
		if err := l.repeats.note(c, results[i]); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// outcome is what came of a call, as the model is told.
type outcome struct {
	text   string
	failed bool
}

// prepare makes the call that the model asks for, or says what is wrong with it.
func (l *loop) prepare(ctx context.Context, turn, n int, said model.Said) (spec runtime.CallSpec, wrong string) {
	calls := said.Calls
	c := calls[n]
	if most := or(l.agent.Limits.Calls, DefaultCalls); n >= most {
		return spec, fmt.Sprintf("not called: one answer may ask for %d calls, and this one asks for %d", most, len(calls))
	}
	for _, before := range calls[:n] {
		if c.ID != "" && before.ID == c.ID {
			return spec, fmt.Sprintf("not called: the id %q of this call is that of another one in the same answer", toolabi.CleanLine(c.ID, 100))
		}
	}
	if said.Cut && n == len(calls)-1 { // also one without arguments, which they may not have come to
		return spec, "not called: the answer was cut off at its limit of tokens, and this call may not be whole"
	}
	t := l.byName[c.Tool]
	if t == nil {
		return spec, fmt.Sprintf("not called: there is no tool %q; there are %s", toolabi.CleanLine(c.Tool, 100), l.names())
	}
	input := bytes.TrimSpace(c.Input)
	if len(input) == 0 {
		input = []byte("{}")
	}
	if err := toolabi.StrictJSON(input); err != nil {
		return spec, "not called: the arguments are no JSON that can be used: " + inOurWords(err)
	}
	if input[0] != '{' {
		return spec, "not called: the arguments are not a JSON object"
	}
	step := callStep(turn, n)
	judge := func(input []byte) runtime.Decision { return l.judge.decide(ctx, step, t, input) }
	return runtime.CallSpec{Step: step, Tool: t.full, Input: input, Decide: judge(input), DecideEdited: judge}, ""
}

// inOurWords says what is wrong with JSON. The words of encoding/json change between releases of Go, and what the model is told has
// to be the same for as long as the run lasts.
func inOurWords(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "its syntax is wrong, or it has no end"
	}
	return err.Error()
}

func (l *loop) names() string {
	names := make([]string, len(l.tools))
	for i, t := range l.tools {
		names[i] = t.name
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// callAll makes the calls, so many at once as the limits allow. All of them are asked for, whatever becomes of the others, so
// that it does not depend on time which steps there are.
func (l *loop) callAll(ctx context.Context, specs []runtime.CallSpec, todo []int, into []outcome) error {
	free := make(chan struct{}, or(l.agent.Limits.Parallel, DefaultParallel))
	errs := make([]error, len(specs))
	var all sync.WaitGroup
	for _, i := range todo {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			into[i], errs[i] = l.call(ctx, specs[i])
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// call makes one call. An error ends the driving; what a tool, a rule or a person refused is an outcome.
func (l *loop) call(ctx context.Context, spec runtime.CallSpec) (outcome, error) {
	res := l.r.CallAll(ctx, []runtime.CallSpec{spec})[0]
	before := ""
	if res.Edited != nil {
		before = fmt.Sprintf("[%s changed the arguments to %s]\n", toolabi.CleanLine(res.EditedBy, 100), res.Edited)
	}
	var refused *toolabi.Error
	switch {
	case res.Err == nil:
		return outcome{text: before + string(res.Output)}, nil
	case errors.As(res.Err, &refused):
		return outcome{text: before + refused.Error(), failed: true}, nil
	}
	return outcome{}, res.Err
}
