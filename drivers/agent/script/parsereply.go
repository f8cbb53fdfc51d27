package script

import (
	"encoding/json"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
)

var (
	replyFields = []string{"when", "say", "repeat", "call", "with", "arguments", "id", "calls", "usage", "stop", "cut"}
	callFields  = []string{"tool", "with", "arguments", "id"}
	usageFields = []string{"input", "output", "cache_read", "cache_write"}
)

func (p *parser) reply(n *yaml.Node) {
	r, before := reply{line: n.Line, repeat: 1}, p.Count()
	f := p.Fields(n, "a reply", replyFields)
	if f == nil {
		return
	}
	if v := f["when"]; v != nil {
		r.when = p.condition(v)
	}
	p.says(&r, n, f)
	p.asks(&r, n, f)
	if v := f["usage"]; v != nil {
		r.usage = p.usage(v)
	}
	if v := f["stop"]; v != nil {
		r.stop = p.Str(v, "stop")
	}
	if v := f["cut"]; v != nil {
		r.cut = p.flag(v, "cut")
		if r.cut && f["stop"] != nil {
			p.Fail(v, `"cut" says how the answer ends, and so does "stop": one of them`)
		}
	}
	if p.Count() == before {
		p.add(n, r)
	}
}

// says reads the text of a reply.
func (p *parser) says(r *reply, n *yaml.Node, f map[string]*yaml.Node) {
	if v := f["say"]; v != nil {
		r.say = p.textOf(v, "say")
	} else if f["call"] == nil && f["calls"] == nil {
		p.Fail(n, `a reply needs "say", "call" or "calls"; say: "" answers with nothing`)
	}
	v := f["repeat"]
	if v == nil {
		return
	}
	if f["say"] == nil {
		p.Fail(v, `"repeat" is only for "say": it says how often the text is said`)
	}
	value, _ := strictyaml.Scalar(v)
	number, _ := value.(json.Number)
	times, err := strconv.Atoi(string(number))
	if v.Kind != yaml.ScalarNode || err != nil || times < 1 || times > MaxText {
		p.Fail(v, `"repeat" has to be a number of times, 1 to %d, this is %s`, MaxText, strictyaml.Describe(v))
		return
	}
	r.repeat = times
}

// asks reads the calls of a reply.
func (p *parser) asks(r *reply, n *yaml.Node, f map[string]*yaml.Node) {
	if f["call"] != nil && f["calls"] != nil {
		p.Fail(f["calls"], `"call" is one call, and "calls" are several: one of them`)
		return
	}
	if v := f["calls"]; v != nil {
		p.calls(r, v)
	}
	if v := f["call"]; v != nil {
		r.calls = []call{p.call(n, v, f)}
		return
	}
	for _, name := range []string{"with", "arguments", "id"} {
		if v := f[name]; v != nil {
			p.Fail(v, `%q is only for "call"; those in "calls" have their own`, name)
		}
	}
}

// calls reads a list of calls, or one expression that gives one.
func (p *parser) calls(r *reply, n *yaml.Node) {
	if e := p.single(n); e != nil {
		r.list = e
		return
	}
	if n.Kind != yaml.SequenceNode {
		p.Fail(n, `"calls" has to be a list, or one expression that gives one, this is %s`, strictyaml.Describe(n))
		return
	}
	if len(n.Content) == 0 || len(n.Content) > MaxCalls {
		p.Fail(n, `"calls" has %d calls; 1 to %d are allowed`, len(n.Content), MaxCalls)
		return
	}
	for _, c := range n.Content {
		f := p.Fields(c, "a call", callFields)
		if f == nil {
			continue
		}
		if f["tool"] == nil {
			p.Fail(c, `a call needs "tool"`)
			continue
		}
		r.calls = append(r.calls, p.call(c, f["tool"], f))
	}
}

func (p *parser) call(n, tool *yaml.Node, f map[string]*yaml.Node) call {
	c := call{line: n.Line, tool: p.stringOf(tool, "the name of a tool")}
	if v := f["id"]; v != nil {
		c.id = p.stringOf(v, `"id"`)
	}
	if v := f["with"]; v != nil {
		c.with = p.template(v)
	}
	if v := f["arguments"]; v != nil {
		c.arguments = p.textOf(v, "arguments")
		if c.with != nil {
			p.Fail(v, `"arguments" is what the model writes instead of "with": one of them`)
		}
	}
	return c
}

func (p *parser) usage(n *yaml.Node) map[string]template {
	f := p.Fields(n, `"usage"`, usageFields)
	usage := make(map[string]template, len(f))
	for _, name := range usageFields {
		v := f[name]
		if v == nil {
			continue
		}
		t := p.template(v)
		if known, ok := t.(fixed); ok {
			if _, err := count(known.value); err != nil {
				p.Fail(v, "%q has to be a number of tokens, this is %s", name, strictyaml.Describe(v))
			}
		}
		usage[name] = t
	}
	return usage
}

func (p *parser) flag(n *yaml.Node, field string) bool {
	if n.Kind == yaml.ScalarNode {
		v, _ := strictyaml.Scalar(n)
		if b, ok := v.(bool); ok {
			return b
		}
	}
	p.Fail(n, "%q has to be true or false, this is %s", field, strictyaml.Describe(n))
	return false
}
