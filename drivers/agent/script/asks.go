package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/internal/jq"
	"github.com/wrun-dev/wrun/toolabi"
)

// asks makes the calls of a reply.
func (r *reply) asks(v *view, req model.Request) ([]model.Call, error) {
	specs, err := r.specs(v)
	if err != nil {
		return nil, err
	}
	var calls []model.Call
	left := MaxText
	for i, spec := range specs {
		c, err := spec.make(v)
		if err != nil {
			return nil, err
		}
		if left -= len(c.Input); left < 0 {
			return nil, wrongf(spec.line, "the inputs of the calls have more than %d bytes", MaxText)
		}
		c.Tool = known(c.Tool, req.Tools)
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d_%d", turn(req)+1, i+1)
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// known is the name by which a model knows a tool: files write module.tool, and models know module_tool.
func known(name string, tools []model.Tool) string {
	if slices.ContainsFunc(tools, func(t model.Tool) bool { return t.Name == name }) {
		return name
	}
	return strings.ReplaceAll(name, ".", "_")
}

// specs are the calls as they were written, or as the expression that stands for them gives them.
func (r *reply) specs(v *view) ([]call, error) {
	if r.list == nil {
		return r.calls, nil
	}
	value, err := r.list.eval(v)
	if err != nil {
		return nil, err
	}
	items, ok := value.([]any)
	if !ok || len(items) > MaxCalls {
		return nil, wrongf(r.line, "calls: want a list of at most %d calls", MaxCalls)
	}
	specs := make([]call, len(items))
	for i, item := range items {
		if specs[i], err = specOf(item); err != nil {
			return nil, wrongf(r.line, "calls: number %d: %v", i+1, err)
		}
		specs[i].line = r.line
	}
	return specs, nil
}

// specOf is a call that an expression gave.
func specOf(item any) (call, error) {
	f, ok := item.(map[string]any)
	if !ok {
		return call{}, errors.New("want an object")
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(callFields, name) {
			return call{}, fmt.Errorf("unknown field %.60q", name)
		}
	}
	if f["tool"] == nil {
		return call{}, errors.New(`a call needs "tool"`)
	}
	if f["with"] != nil && f["arguments"] != nil {
		return call{}, errors.New(`"arguments" is what the model writes instead of "with": one of them`)
	}
	c := call{tool: fixed{f["tool"]}}
	for name, to := range map[string]*template{"id": &c.id, "with": &c.with, "arguments": &c.arguments} {
		if value := f[name]; value != nil {
			*to = fixed{value}
		}
	}
	return c, nil
}

func (c *call) make(v *view) (model.Call, error) {
	var out model.Call
	var err error
	if out.Tool, err = textual(c.tool, v); err != nil {
		return out, err
	}
	if out.Tool == "" {
		return out, wrongf(c.line, "the name of the tool is empty")
	}
	if c.id != nil {
		if out.ID, err = textual(c.id, v); err != nil {
			return out, err
		}
	}
	switch {
	case c.arguments != nil:
		written, err := textual(c.arguments, v)
		out.Input = []byte(written)
		return out, err
	case c.with == nil:
		out.Input = []byte("{}")
		return out, nil
	}
	value, err := c.with.eval(v)
	if err != nil {
		return out, err
	}
	if out.Input, err = jq.Encode(value, MaxText); err != nil {
		return out, wrongf(c.line, "with: %v", err)
	}
	return out, nil
}

// textual is the value of a template as text.
func textual(t template, v *view) (string, error) {
	value, err := t.eval(v)
	if err != nil {
		return "", err
	}
	s, err := written(value)
	if err != nil {
		return "", toolabi.NewError(toolabi.Internal, err.Error())
	}
	return s, nil
}

// count is a value as a number of tokens.
func count(value any) (int64, error) {
	b, err := jq.Encode(value, MaxNumber)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n < 0 || n > 1<<53 {
		return 0, fmt.Errorf("want a number of tokens, not %.40s", b)
	}
	return n, nil
}
