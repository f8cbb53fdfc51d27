package agent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/modref"
	"github.com/wrun-dev/wrun/internal/strictyaml"
	"github.com/wrun-dev/wrun/toolabi"
)

// modelName is what providers' names of models are made of.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$`)

// SetModel changes who is asked to what words say: "scripted", "openai/NAME" or "anthropic/NAME". wrong says what is wrong with
// them, and is "" when nothing is.
func (m *Model) SetModel(words string) (wrong string) {
	protocol, name, named := strings.Cut(words, "/")
	switch {
	case !slices.Contains(protocols, protocol):
		return `has to begin with scripted, openai/ or anthropic/` + strictyaml.Suggest(protocol, protocols)
	case protocol == Scripted && named:
		return "is scripted and has a name, which means nothing"
	case protocol != Scripted && !modelName.MatchString(name):
		return "names no model behind " + protocol + "/"
	}
	m.Protocol, m.Name = protocol, name
	return ""
}

// model reads who is asked: words, or a mapping with more about it.
func (p *parser) model(n *yaml.Node) {
	m := &p.file.Agent.Model
	use := n
	if n.Kind == yaml.MappingNode {
		known := []string{"use", "script", "max_tokens", "temperature", "stream", "timeout", "retry", "prices"}
		f := p.Fields(n, `"model"`, known)
		if use = f["use"]; use == nil {
			p.Fail(n, `"model" needs "use": scripted, openai/NAME or anthropic/NAME`)
			return
		}
		p.modelFields(m, f)
	}
	words := p.Str(use, "model")
	if words == "" {
		return
	}
	if wrong := m.SetModel(words); wrong != "" {
		p.Fail(use, "the model %+.100q %s", words, wrong)
	}
	if m.Protocol == Scripted && p.file.Script == "" {
		p.Fail(use, `a scripted model needs "script": the file with its replies`)
	}
}

func (p *parser) modelFields(m *Model, f map[string]*yaml.Node) {
	if v := f["script"]; v != nil {
		p.file.Script = p.Str(v, "script")
		if wrong := modref.CheckFile("the agent", p.file.Script); p.file.Script != "" && wrong != "" {
			p.Fail(v, "the file %+.120q %s", p.file.Script, wrong)
		}
	}
	if v := f["max_tokens"]; v != nil {
		m.MaxTokens = int(p.Number(v, "max_tokens", 1, 10_000_000))
	}
	if v := f["temperature"]; v != nil {
		m.Temperature = p.temperature(v)
	}
	if v := f["stream"]; v != nil {
		b, ok := p.boolean(v)
		if !ok {
			p.Fail(v, `"stream" has to be true or false, this is %s`, strictyaml.Describe(v))
		}
		m.Whole = !b
	}
	if v := f["timeout"]; v != nil {
		m.TimeoutMS = p.Duration(v, "timeout").Milliseconds()
	}
	if v := f["retry"]; v != nil {
		m.Retry = p.retry(v)
	}
	if v := f["prices"]; v != nil {
		m.Prices = p.prices(v)
	}
}

func (p *parser) boolean(n *yaml.Node) (b, ok bool) {
	if n.Kind != yaml.ScalarNode {
		return false, false
	}
	v, _ := strictyaml.Scalar(n)
	b, ok = v.(bool)
	return b, ok
}

var temperatures = regexp.MustCompile(`^[0-2](\.[0-9]{1,6})?$`)

func (p *parser) temperature(n *yaml.Node) json.Number {
	if v, _ := strictyaml.Scalar(n); n.Kind == yaml.ScalarNode {
		if t, ok := v.(json.Number); ok && temperatures.MatchString(t.String()) {
			return t
		}
	}
	p.Fail(n, `"temperature" has to be a number from 0 to 2, this is %s`, strictyaml.Describe(n))
	return ""
}

func (p *parser) retry(n *yaml.Node) (r toolabi.RetryPolicy) {
	f := p.Fields(n, `"retry"`, []string{"attempts", "backoff", "max_backoff"})
	if v := f["attempts"]; v != nil {
		r.Attempts = uint32(p.Number(v, "attempts", 1, 100))
	} else if f != nil {
		p.Fail(n, `"retry" needs "attempts": how often the model may be asked in all`)
	}
	if v := f["backoff"]; v != nil {
		r.BackoffMS = uint64(p.Duration(v, "backoff").Milliseconds())
	}
	if v := f["max_backoff"]; v != nil {
		r.MaxBackoffMS = uint64(p.Duration(v, "max_backoff").Milliseconds())
		if r.MaxBackoffMS < r.BackoffMS {
			p.Fail(v, `"max_backoff" is less than "backoff"`)
		}
	}
	return r
}

// prices reads what a million tokens cost.
func (p *parser) prices(n *yaml.Node) *Prices {
	f := p.Fields(n, `"prices"`, []string{"input", "output", "cache_read", "cache_write"})
	if f == nil {
		return nil
	}
	if f["input"] == nil || f["output"] == nil {
		p.Fail(n, `"prices" needs "input" and "output": what a million tokens cost`)
		return nil
	}
	prices := &Prices{Input: p.amount(f["input"], "input"), Output: p.amount(f["output"], "output")}
	if v := f["cache_read"]; v != nil {
		price := p.amount(v, "cache_read")
		prices.CacheRead = &price
	}
	if v := f["cache_write"]; v != nil {
		price := p.amount(v, "cache_write")
		prices.CacheWrite = &price
	}
	return prices
}

// amount reads an amount, which is kept in millionths.
func (p *parser) amount(n *yaml.Node, field string) int64 {
	if n.Kind == yaml.ScalarNode {
		if millionths, err := ParseAmount(n.Value); err == nil {
			return millionths
		}
	}
	p.Fail(n, "%q has to be %v, this is %s", field, ErrAmount, strictyaml.Describe(n))
	return 0
}
