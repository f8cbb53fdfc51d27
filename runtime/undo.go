package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// made is a call of a tool that a log holds, in all its attempts.
type made struct {
	intent  journal.Entry  // of the first attempt
	result  *journal.Entry // of the last one; nil when it has none
	effects []Effect       // in it and below it, that took place or may have
}

// calls returns the calls of a log in the order in which they began, each with its effects. Look-ups are not among them. What a fork
// copied belongs to the run that it was copied from, and is undone with that.
func (e *Engine) calls(ctx context.Context, l *loaded) ([]*made, error) {
	var all []*made
	byStep := map[journal.Step]*made{}
	begun, copied := map[journal.Step]bool{}, map[journal.Step]bool{} // steps that the log holds, and of them those that a fork took over
	for entry, err := range e.cfg.Journal.Read(ctx, l.state.Run, 0) {
		if err != nil {
			return nil, err
		}
		if EndsCopy(entry) {
			copied = maps.Clone(begun)
			for _, m := range all {
				m.effects = nil
			}
			continue
		}
		begun[entry.Step] = true
		plain := entry.Step.WithoutAttempts()
		if entry.Kind == journal.Intent && entersModule(&entry) && byStep[plain] == nil && !isLookup(l, entry.Step) {
			byStep[plain] = &made{intent: entry}
			all = append(all, byStep[plain])
		}
		if m := byStep[plain]; m != nil && entry.Kind == journal.Result {
			m.result = &entry
		}
		eff, ok, err := e.tookPlace(ctx, l, entry)
		if err != nil {
			return nil, err
		}
		ok = ok && !copied[entry.Step]                       // what a fork learned of what it copied
		for p := entry.Step; ok && p != ""; p = p.Parent() { // a program that could write is an effect itself
			if m := byStep[p.WithoutAttempts()]; m != nil {
				m.add(l, eff)
			}
		}
	}
	return all, nil
}

// add notes an effect of the call. Requests under one key are one request to whoever remembers the key: one whose outcome
// is known stands for those whose outcome is not.
func (m *made) add(l *loaded, eff Effect) {
	for i, known := range m.effects {
		switch {
		case known.Step == eff.Step:
			m.effects[i].Known = known.Known || eff.Known
			return
		case keyOf(l, known.Step) != keyOf(l, eff.Step) || keyOf(l, eff.Step) == "":
		case !eff.Known:
			return
		case !known.Known:
			m.effects[i] = eff
			return
		}
	}
	m.effects = append(m.effects, eff)
}

func keyOf(l *loaded, step journal.Step) string {
	if p := l.history.Find(step); p != nil && p.Intent != nil {
		return p.Intent.Key
	}
	return ""
}

// isLookup says whether a call is a look-up: it lies inside an effect.
func isLookup(l *loaded, step journal.Step) bool {
	p := l.history.Find(step.Parent())
	return p != nil && p.Intent != nil && isEffect(p.Intent.Class)
}

// tookPlace returns the effect that an entry is about, if the entry says that it took place, or leaves it open.
func (e *Engine) tookPlace(ctx context.Context, l *loaded, entry journal.Entry) (Effect, bool, error) {
	class := toolabi.Class(entry.Class)
	if class != toolabi.Local && class != toolabi.Effect && class != toolabi.Once {
		return Effect{}, false, nil
	}
	eff := Effect{Step: entry.Step, Name: entry.Name, Class: class, Known: true}
	switch entry.Kind {
	case journal.Intent:
		if _, open := l.state.Open[entry.Step]; !open {
			return Effect{}, false, nil // another entry says
		}
		eff.Known = false
	case journal.Result, journal.Late:
		if entry.Outcome == journal.OK || entry.Effect == journal.EffectApplied {
			break
		}
		unknown, err := e.leftUnknown(ctx, l, entry)
		if err != nil || !unknown {
			return Effect{}, false, err
		}
		eff.Known = false
	default:
		return Effect{}, false, nil
	}
	if p := l.history.Find(entry.Step); p != nil && p.Known() != nil {
		eff.Name, eff.Note = p.Known().Name, p.Known().Note
	}
	if p := l.history.Find(entry.Step.Parent()); p != nil && p.Known() != nil {
		eff.Tool = p.Known().Name
	}
	return eff, true, nil
}

// leftUnknown says whether a result is the failure of an effect that may have taken place all the same. What may be
// repeated under its key has such results; what has no intent was never attempted.
func (e *Engine) leftUnknown(ctx context.Context, l *loaded, result journal.Entry) (bool, error) {
	past := l.history.Find(result.Step)
	if result.Kind != journal.Result || toolabi.Class(result.Class) != toolabi.Effect || past == nil || past.Intent == nil {
		return false, nil
	}
	body, err := journal.Body(ctx, e.blobs, result)
	if err != nil {
		return false, err
	}
	var failure toolabi.Error
	if err := toolabi.Decode(body, &failure); err != nil {
		return false, damaged(l.state.Run, fmt.Errorf("result of %s: %w", result.Step, err))
	}
	return failure.Effect > toolabi.EffectNone, nil
}

// undo returns the calls that undo others, the last first, and the effects that nothing undoes.
func (e *Engine) undo(ctx context.Context, l *loaded, spec *Spec, calls []*made) (undo []Undo, left []Effect, err error) {
	var covered []journal.Step // calls whose compensation undoes all that is inside
	undone := func(step journal.Step) bool {
		return slices.ContainsFunc(covered, func(c journal.Step) bool { return insideOf(step, c) })
	}
	for _, c := range calls {
		if len(c.effects) == 0 || undone(c.intent.Step) {
			continue
		}
		module, tool, err := spec.tool(c.intent.Name)
		if err != nil || tool.Compensate == "" {
			continue
		}
		covered = append(covered, c.intent.Step)
		input, err := e.compensateInput(ctx, l, tool, c)
		if err != nil {
			return nil, nil, err
		}
		undo = append(undo, Undo{Step: c.intent.Step, Tool: module.Name + "." + tool.Compensate, Input: input})
	}
	seen := map[journal.Step]bool{}
	for _, c := range calls {
		for _, eff := range c.effects {
			if !undone(eff.Step) && !seen[eff.Step] {
				seen[eff.Step] = true
				left = append(left, eff)
			}
		}
	}
	slices.Reverse(undo)
	return undo, left, nil
}

func (e *Engine) compensateInput(ctx context.Context, l *loaded, tool toolabi.Tool, c *made) ([]byte, error) {
	input, err := journal.Body(ctx, e.blobs, c.intent)
	if err != nil {
		return nil, err
	}
	in := toolabi.CompensateInput{
		Run: l.state.Run, Step: string(c.intent.Step), Tool: tool.Name, Input: input, Output: toolabi.RawJSON("null"),
	}
	if c.result != nil && c.result.Outcome == journal.OK {
		if in.Output, err = journal.Body(ctx, e.blobs, *c.result); err != nil {
			return nil, err
		}
	}
	for _, eff := range c.effects {
		shown, err := e.compensateEffect(ctx, l, eff)
		if err != nil {
			return nil, err
		}
		in.Effects = append(in.Effects, shown)
	}
	return json.Marshal(in)
}

// compensateEffect is an effect as the tool that undoes it sees it.
func (e *Engine) compensateEffect(ctx context.Context, l *loaded, eff Effect) (toolabi.CompensateEffect, error) {
	shown := toolabi.CompensateEffect{Step: string(eff.Step), Function: eff.Name, Request: toolabi.RawJSON("null"), Reply: toolabi.RawJSON("null")}
	past := l.history.Find(eff.Step)
	if past.Intent != nil {
		shown.Key = past.Intent.Key
		request, err := journal.Body(ctx, e.blobs, *past.Intent)
		if err != nil {
			return shown, err
		}
		shown.Request = e.showRequest(eff.Name, request)
		if isOpaque(past.Intent) {
			shown.Request = request
		}
	}
	outcome := past.Result
	if (outcome == nil || outcome.Outcome != journal.OK) && len(past.Late) > 0 {
		outcome = &past.Late[len(past.Late)-1]
	}
	if outcome == nil || outcome.Outcome != journal.OK {
		return shown, nil
	}
	reply, err := journal.Body(ctx, e.blobs, *outcome)
	if err != nil {
		return shown, err
	}
	if isOpaque(past.Intent) {
		shown.Reply = reply
		return shown, nil
	}
	if show := e.funcs[eff.Name].ShowReply; show != nil {
		if s, err := show(reply); err == nil {
			shown.Reply = s
		}
	}
	return shown, nil
}
