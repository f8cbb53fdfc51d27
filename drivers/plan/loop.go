package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/journal"
)

// loop is the step that does steps once for each item of a list.
type loop struct {
	line  int      // of the list
	items template // gives the list
	as    string   // the field that holds the item
	index string   // the field that holds its index, or ""
	limit int
	steps []step
}

func parseLoop(p *parser, n *yaml.Node, f fields) action {
	l := &loop{line: f["for_each"].Line, as: "item", limit: 1}
	l.items = p.items(f["for_each"])
	if v := f["limit"]; v != nil {
		l.limit = p.number(v, `"limit"`, MaxAtOnce)
	}
	if f["steps"] == nil {
		p.fail(n, `"for_each" needs "steps"`)
		return nil
	}
	if p.path.loops() >= MaxLoops {
		p.fail(f["for_each"], "this loop is inside of more than %d others", MaxLoops-1)
		return nil
	}
	named := n
	if v := f["as"]; v != nil {
		l.as, named = p.variable(v, `"as"`), v
	}
	defer p.declare(named, l.as)()
	if v := f["index"]; v != nil {
		l.index = p.variable(v, `"index"`)
		defer p.declare(v, l.index)()
	}
	defer p.widen(f["for_each"], l.limit)()
	mark := len(p.shown)
	l.steps = p.inner(f["steps"], within{n, "for_each", 0}, `"steps"`)
	p.hide(mark)
	return l
}

// items reads a list that is written out, with expressions in it, or one expression that gives it.
func (p *parser) items(n *yaml.Node) template {
	if n.Kind != yaml.SequenceNode {
		return p.single(n, `"for_each"`, `a list, or one expression, "${ … }"`)
	}
	if len(n.Content) > MaxItems {
		p.fail(n, `"for_each" has %d items; at most %d are allowed`, len(n.Content), MaxItems)
	}
	return p.template(n)
}

var word = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// variable reads the name of a field of the context.
func (p *parser) variable(n *yaml.Node, what string) string {
	s := p.str(n, what)
	switch {
	case s == "":
	case s == inputField:
		p.fail(n, "%s cannot be %q: .input is the input of the plan", what, s)
	case s == errorField:
		p.fail(n, "%s cannot be %q: .error is what failed, in the steps of \"on_error\"", what, s)
	case !word.MatchString(s):
		p.fail(n, "%s has to be a word of letters, digits and _, at most 64, this is %s", what, describe(n))
	}
	return s
}

func (l *loop) calls(journal.Step) []Call { return callsOf(l.steps) }

func (l *loop) do(ctx context.Context, s *scope, _ journal.Step, keep bool) ([]byte, error) {
	items, err := l.list(ctx, s)
	if err != nil {
		return nil, err
	}
	out := newOutputs(len(items), keep)
	err = together(len(items), l.limit, func(i int) error {
		in := s.inside()
		in.suffix += "[" + strconv.Itoa(i) + "]"
		in.rounds *= len(items)
		in.values[l.as] = items[i]
		if l.index != "" {
			in.values[l.index] = i
		}
		output, err := in.steps(ctx, l.steps, keep)
		out.put(i, output)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out.json()
}

// list returns the items of the loop.
func (l *loop) list(ctx context.Context, s *scope) ([]any, error) {
	v, err := l.items.eval(ctx, s)
	if err != nil {
		return nil, err
	}
	items, ok := v.([]any)
	switch {
	case !ok:
		return nil, failure("value", fmt.Sprintf(`line %d: "for_each" needs a list, the expression gives %s`, l.line, typeOf(v)))
	case len(items) > MaxItems:
		return nil, failure("value", fmt.Sprintf(`line %d: "for_each" gets %d items; at most %d are allowed`, l.line, len(items), MaxItems))
	case len(items)*s.rounds > MaxRounds:
		return nil, failure("value", fmt.Sprintf(`line %d: this loop would make %d rounds with those around it; at most %d are allowed`, l.line, len(items)*s.rounds, MaxRounds))
	}
	return items, nil
}

// typeOf names the type of a JSON value that is no list.
func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "text"
	case map[string]any:
		return "an object"
	case json.Number, int, float64:
		return "a number"
	}
	return "something else"
}
