package tooltest

import (
	"fmt"

	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Kinds of lies. They are append-only.
const (
	// LieVaries: two calls of an idempotent tool ask for different things; LieImpure: those of a pure one return different things.
	LieVaries = "varies"
	LieImpure = "impure"
	// LieActs: a tool that only reads did something.
	LieActs = "acts"
	// LieRepeats: an effect took place more often than it should. LieOther: another one took place. LieLost: one is missing.
	LieRepeats = "repeats"
	LieOther   = "other"
	LieLost    = "lost"
	// LieContradicts: another request came under a key that the provider knows.
	LieContradicts = "contradicts"
	// LieHappened: a look-up says that it happened, and it did not; LieDidNotHappen is the reverse. LieSettle: it looked for what
	// came later than the settle time says. LieReply: the reply that it gives is another one than came.
	LieHappened     = "lookup_happened"
	LieDidNotHappen = "lookup_did_not_happen"
	LieSettle       = "settle"
	LieReply        = "lookup_reply"
	// LieName: a random name is the same in every call.
	LieName = "same_name"
	// LieUndo: what undoes a call leaves something of it.
	LieUndo = "undo"
	// LieOutput: the call returns something else; LieState: it leaves something else. LieStuck: it has no end.
	LieOutput = "output"
	LieState  = "state"
	LieStuck  = "stuck"
)

// Lie is a promise of a tool's declaration that it does not keep.
type Lie struct {
	// Kind is one of the constants, Promise what is promised, What how it is broken.
	Kind    string `json:"kind"`
	Promise string `json:"promise"`
	What    string `json:"what"`
	// Moment is the first moment that shows it, Step the step of the journal; "" where it shows in the whole call. Moments is how
	// many show it.
	Moment  string `json:"moment"`
	Step    string `json:"step,omitempty"`
	Moments int    `json:"moments"`
	// Left and Right name the two traces, which are the call that nobody disturbed and the one that shows it.
	Left     string `json:"left"`
	Right    string `json:"right"`
	Baseline []Line `json:"baseline"`
	After    []Line `json:"after"`
}

// jury holds trials against what a tool declares and what it does when nobody disturbs it.
type jury struct {
	tool    toolabi.Tool
	world   *world.World
	base    *trial
	effects []effect
	output  pattern
	state   map[string]pattern
}

// newJury learns from two calls that nobody disturbed.
func newJury(tool toolabi.Tool, w *world.World, a, b *trial) *jury {
	j := &jury{tool: tool, world: w, base: a, effects: effectsOf(w, a, b), output: common(string(a.output), string(b.output)), state: map[string]pattern{}}
	for name, value := range a.state {
		if other, ok := b.state[name]; ok { // else its name is made of what varies
			j.state[name] = common(value, other)
		}
	}
	return j
}

// lie is one that a trial shows.
func (j *jury) lie(t *trial, kind, promise string, step journal.Step, what string, a ...any) *Lie {
	return &Lie{
		Kind: kind, Promise: promise, What: fmt.Sprintf(what, a...), Step: string(step), Moment: t.moment.String(), Moments: 1,
		Left: "undisturbed", Right: t.moment.short(), Baseline: j.base.trace(), After: t.trace(),
	}
}

// promised is what the tool declares.
func (j *jury) promised() string { return string(j.tool.Declared()) }

// judge returns the first lie that a trial shows, nil for none. A cause comes before what follows from it.
func (j *jury) judge(t *trial) *Lie {
	d := countEffects(j.effects, t.acted())
	checks := []func(*trial, done) *Lie{j.acts, j.contradicts, j.lookups, j.repeats, j.unended, j.others, j.lost, j.outputs, j.states}
	for _, check := range checks {
		if l := check(t, d); l != nil {
			return l
		}
	}
	return nil
}

// acts finds what a tool did that only reads.
func (j *jury) acts(t *trial, _ done) *Lie {
	p := j.tool.Declared()
	for _, e := range t.acted() {
		if p == toolabi.ReadOnly || p == toolabi.Pure {
			return j.lie(t, LieActs, j.promised(), "", "a tool that only reads did something: %s acted, and is sent again whenever a crash cuts it off", whatWas(e))
		}
	}
	return nil
}

// contradicts finds a key under which the provider knows another request.
func (j *jury) contradicts(t *trial, _ done) *Lie {
	for _, e := range t.events() {
		if e.Contradicted {
			return j.lie(t, LieContradicts, j.promised(), stepOf(t, e),
				"%s came a second time under the key %s with another body: what is done again under one key has to be the same", whatWas(e), toolabi.CleanLine(e.Key, maxLine))
		}
	}
	return nil
}

// repeats finds effects that took place more often than when nobody disturbs the call.
func (j *jury) repeats(t *trial, d done) *Lie {
	for i, f := range j.effects {
		if f.sets || d.times[i] <= f.times {
			continue
		}
		under := "under the same key, which the provider does not know again"
		if len(d.keys[i]) > f.times {
			under = "under another key"
			if j.tool.Declared() == toolabi.Keyed {
				under = "under another key, so that the provider takes it for another request"
			}
		}
		return j.lie(t, LieRepeats, j.promised(), stepOf(t, d.last[i]), "%s acted %d times in place of %d, %s", whatWas(f.first), d.times[i], f.times, under)
	}
	return nil
}

func (j *jury) unended(t *trial, _ done) *Lie {
	if t.stuck == nil {
		return nil
	}
	return j.lie(t, LieStuck, "resume", "", "the call does not come to an end: %v", t.stuck)
}

// others finds effects that the call does not have when nobody disturbs it.
func (j *jury) others(t *trial, d done) *Lie {
	if !t.unnoticed() || len(d.others) == 0 {
		return nil
	}
	e := d.others[0]
	return j.lie(t, LieOther, j.promised(), stepOf(t, e), "%s acted, with what it says: the call does no such thing when nobody disturbs it", whatWas(e))
}

// lost finds effects that are missing.
func (j *jury) lost(t *trial, d done) *Lie {
	if !t.unnoticed() {
		return nil
	}
	for i, f := range j.effects {
		if d.times[i] < f.times && (d.times[i] == 0 || !f.sets) {
			return j.lie(t, LieLost, j.promised(), "", "%s acted %d times in place of %d", whatWas(f.first), d.times[i], f.times)
		}
	}
	return nil
}

func (j *jury) outputs(t *trial, _ done) *Lie {
	if !t.unnoticed() {
		return nil
	}
	same := j.output.fits(string(t.output))
	if (t.failed == nil) != (j.base.failed == nil) || t.failed != nil && t.failed.Code != j.base.failed.Code {
		same = false
	}
	if same {
		return nil
	}
	if say := t.said(journal.Result); say != nil {
		return j.lie(t, LieReply, "lookup", say.Step, "%s found %s and gives another reply than came: the call ends with %s in place of %s",
			say.By, say.Step, t.ending(), j.base.ending())
	}
	return j.lie(t, LieOutput, j.promised(), "", "the call ends with %s in place of %s", t.ending(), j.base.ending())
}

func (j *jury) states(t *trial, _ done) *Lie {
	if !t.unnoticed() {
		return nil
	}
	for name, p := range j.state {
		if got, ok := t.state[name]; p.exact() && (!ok || !p.fits(got)) {
			return j.lie(t, LieState, j.promised(), "", "%s is %s in the end, in place of %s", name, shown(got, ok), shown(j.base.state[name], true))
		}
	}
	if len(t.state) != len(j.base.state) {
		return j.lie(t, LieState, j.promised(), "", "%d keys and files are there in the end, in place of %d", len(t.state), len(j.base.state))
	}
	return nil
}

func shown(value string, there bool) string {
	if !there {
		return "not there"
	}
	return toolabi.CleanLine(value, maxLine)
}

// unnoticed says whether the tool cannot have learned that something was done to it, so that all has to be as if nothing was.
func (t *trial) unnoticed() bool {
	return t.stuck == nil && (t.moment.isCrash() || t.moment.unseen() && t.uncertain() > 0)
}

// stepOf is the step that sent something, by its key; "" where that is not known.
func stepOf(t *trial, e world.Event) journal.Step {
	key := keyOf(e)
	for _, h := range t.log {
		if h.entry != nil && h.entry.Kind == journal.Intent && h.entry.Key != "" && h.entry.Key == key {
			return h.entry.Step
		}
	}
	return ""
}
