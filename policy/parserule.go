package policy

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/jq"
	"github.com/wrun-dev/wrun/internal/strictyaml"
)

func (p *parser) rule(n *yaml.Node) {
	r, before := rule{line: n.Line}, p.Count()
	f := p.Fields(n, "a rule", []string{"tool", "when", "do", "reason", "within"})
	if f == nil {
		return
	}
	if v := f["tool"]; v != nil {
		r.tool = p.pattern(v)
	} else {
		p.Fail(n, `a rule needs "tool"; "*.*" stands for every one`)
	}
	if v := f["when"]; v != nil {
		r.when = p.condition(v)
	}
	if v := f["do"]; v != nil {
		r.do = p.verdict(v, "do")
	} else {
		p.Fail(n, `a rule needs "do": allow, ask or deny`)
	}
	if v := f["reason"]; v != nil {
		r.reason = p.reason(v)
	}
	if v := f["within"]; v != nil {
		r.within = p.within(v)
		if p.Count() == before && r.do != Ask {
			p.Fail(v, `"within" is only for "do: ask": it says how long a yes is accepted`)
		}
	}
	if p.Count() == before {
		p.add(n, r)
	}
}

// add refuses a rule that would never be looked at: whoever wrote it believes that it does something.
func (p *parser) add(n *yaml.Node, r rule) {
	for i := range p.policy.rules {
		if b := &p.policy.rules[i]; b.when == nil && b.tool.covers(r.tool) {
			p.Fail(n, "this rule is never reached: the one on line %d comes first and matches every call that it is about", b.line)
			return
		}
	}
	p.policy.rules = append(p.policy.rules, r)
}

var (
	moduleName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$`)
	toolName   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)
)

// pattern reads "module.tool" with * for either part.
func (p *parser) pattern(n *yaml.Node) pattern {
	s := p.Str(n, "tool")
	if s == "" {
		return pattern{}
	}
	module, tool, _ := strings.Cut(s, ".")
	if module != "*" && !moduleName.MatchString(module) || tool != "*" && !toolName.MatchString(tool) {
		p.Fail(n, `%+.150q is no pattern of tools: want "module.tool", with * for the whole of either part`, s)
		return pattern{}
	}
	return pattern{module: strings.TrimPrefix(module, "*"), tool: strings.TrimPrefix(tool, "*")}
}

func (p *parser) verdict(n *yaml.Node, field string) Verdict {
	s := p.Str(n, field)
	if s == "" {
		return Deny
	}
	if i := slices.Index(verdicts, s); i >= 0 {
		return Verdict(i)
	}
	hint := strictyaml.Suggest(s, verdicts)
	if lower := strings.ToLower(s); slices.Contains(verdicts, lower) {
		hint = `; did you mean "` + lower + `"?`
	}
	p.Fail(n, "%q has to be allow, ask or deny, this is %+.40q%s", field, s, hint)
	return Deny
}

func (p *parser) reason(n *yaml.Node) string {
	s := p.Str(n, "reason")
	if utf8.RuneCountInString(s) > MaxReason || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		p.Fail(n, `"reason" has to be one line of at most %d characters that can be printed`, MaxReason)
	}
	return s
}

func (p *parser) within(n *yaml.Node) time.Duration {
	s := p.Str(n, "within")
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < time.Second {
		p.Fail(n, `"within" has to be a time of at least a second, like 90s, 30m or 24h, this is %+.40q`, s)
	}
	return d
}

// place is where conditions stand, and what a policy does that wants what they cannot have.
var place = jq.Place{Name: "a policy", Hints: map[string]string{
	"now":  "a call is decided the same at any time",
	"halt": `use "do"`,
}}

// condition reads what stands behind "when": one expression, or true or false. Text is refused: it would always hold.
func (p *parser) condition(n *yaml.Node) *condition {
	text, ok := "", false
	if n.Kind == yaml.ScalarNode {
		switch v, _ := strictyaml.Scalar(n); v := v.(type) {
		case bool:
			if v {
				return nil
			}
			return &condition{text: "false"}
		case string:
			text, ok = expression(v)
		}
	}
	if !ok {
		p.Fail(n, `"when" has to be one expression, "${ … }", this is %s`, strictyaml.Describe(n))
		return nil
	}
	code, seen, err := jq.Compile(text, place)
	if err != nil {
		p.Fail(n, "${ %.200s }: %v", text, err)
		return nil
	}
	for _, name := range seen.Names {
		if !slices.Contains(fieldNames, name) {
			p.Fail(n, "${ %.200s }: a condition does not see %+.60q%s", text, name, strictyaml.Suggest(name, fieldNames))
		}
	}
	return &condition{text: text, code: code, input: seen.Whole || slices.Contains(seen.Names, "input")}
}

// expression returns what is inside a string that is nothing but "${ … }".
func expression(s string) (string, bool) {
	inside, ok := strings.CutPrefix(strings.TrimSpace(s), "${")
	if end := jq.End(inside); !ok || end < 0 || end != len(inside)-1 {
		return "", false
	}
	return strings.Trim(inside[:len(inside)-1], " \t\r\n"), true
}
