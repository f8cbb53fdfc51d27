package main

import (
	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/agent"
)

// priced says whether it is known what tokens cost.
func (p *picture) priced() bool { return p.ledger != nil && p.ledger.Priced }

// json is a run as --json shows it, with its steps in the order of the log.
func (p *picture) json(h *wrun.Host) map[string]any {
	l := runLine(h, p.state)
	l["spec"] = specLine(p.spec)
	l["grants"] = p.grants
	if !p.budget.IsZero() {
		l["budget"] = budgetLine(p.budget)
	}
	if p.stopped != "" {
		l["stopped"] = p.stopped
	}
	steps := []map[string]any{}
	for _, s := range p.steps {
		steps = append(steps, s.json(p.priced()))
	}
	l["step_list"] = steps
	if p.ledger != nil {
		l["cost"] = costLine(p.ledger)
	}
	if p.unknown != "" {
		l["cost_unknown"] = p.unknown
	}
	if len(p.artifacts) > 0 {
		l["artifacts"] = artifactLines(p.artifacts)
	}
	if p.output != nil {
		l["output"] = shown(p.output)
	}
	if p.failure != nil {
		l["error"] = errorLine(p.failure)
	}
	return l
}

// json is a step as --json shows it; priced says that it is known what tokens cost.
func (s *stepPicture) json(priced bool) map[string]any {
	l := map[string]any{"step": s.step, "name": s.name, "class": s.class.String(), "status": s.status, "began": stamp(s.began)}
	if s.ended != 0 {
		l["ended"] = stamp(s.ended)
	}
	if s.note != "" {
		l["asked"] = s.note
	}
	if s.key != "" {
		l["key"] = s.key
	}
	if s.fuel != 0 {
		l["fuel"] = s.fuel
	}
	if s.paid.Answers > 0 {
		l["tokens"] = s.paid.Usage.Total()
		if priced {
			l["cost"] = agent.FormatAmount(s.paid.Cost)
		}
	}
	if s.due != 0 {
		l["due"] = stamp(s.due)
	}
	if s.until != 0 {
		l["expires"] = stamp(s.until)
	}
	if s.err != nil {
		l["error"] = errorLine(s.err)
	}
	if s.shown != nil {
		l["tool"], l["input"] = s.shown.Tool, shown(s.shown.Input)
	}
	if s.edited != nil {
		l["edited"] = shown(s.edited)
	}
	if s.said != "" {
		l["said"] = s.said
	}
	return l
}
