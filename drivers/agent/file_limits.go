package agent

import "go.yaml.in/yaml/v3"

func (p *parser) limits(n *yaml.Node) {
	f := p.Fields(n, `"limits"`, []string{"steps", "tokens", "cost", "time", "calls", "parallel", "repeats"})
	l := &p.file.Agent.Limits
	whole := func(field string, most int64) int64 {
		if v := f[field]; v != nil {
			return p.Number(v, field, 1, most)
		}
		return 0
	}
	l.Steps = whole("steps", MaxSteps)
	l.Tokens = whole("tokens", 1<<52)
	l.Calls = int(whole("calls", MaxCalls))
	l.Parallel = int(whole("parallel", MaxParallel))
	l.Repeats = int(whole("repeats", 1000))
	if v := f["time"]; v != nil {
		l.TimeMS = p.Duration(v, "time").Milliseconds()
	}
	if v := f["cost"]; v != nil {
		if l.Cost = p.amount(v, "cost"); l.Cost == 0 && p.Count() == 0 {
			p.Fail(v, `"cost" has to be more than nothing`)
		}
		if p.file.Agent.Model.Prices == nil {
			p.Fail(v, `a limit of "cost" needs "prices" under "model": what a million tokens cost`)
		}
	}
}

// rules takes over the lines of the file that hold the rules, so that what is wrong with them is said with the file's own lines.
func (p *parser) rules(top, n *yaml.Node) {
	text, ok := p.lines(top, n)
	if !ok {
		p.Fail(n, `"rules" has to begin on a line of its own, as the key of a block`)
		return
	}
	p.judgeRules(n, text)
}
