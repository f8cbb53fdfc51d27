package interleave

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// violate notes the first promise that is broken. The caller holds mu.
func (t *trial) violate(rule, format string, a ...any) {
	if t.violation == nil {
		t.violation = &Violation{rule, fmt.Sprintf(format, a...)}
		t.note("!! " + t.violation.Error())
	}
}

// checkSend holds a request that leaves against what the log says. The caller holds mu.
func (t *trial) checkSend(m *message) {
	base := m.step.WithoutAttempts()
	l := &t.store.log
	for _, r := range l.find(journal.Result, m.step) {
		if m.promise != onlyOnce && r.Step != m.step {
			continue // another attempt of its call, under the same key
		}
		if r.Outcome == journal.OK || r.Effect == journal.EffectApplied {
			t.violate("SENT-AFTER-RESULT", "%s is sent, and the log holds its result", m.step)
		}
	}
	if before, ok := t.world.under[base]; ok && before != m.key && len(l.find(journal.Intent, m.step)) > 0 && t.restores == 0 {
		t.violate("OTHER-KEY", "%s is sent under another key than before", m.step)
	}
	t.world.under[base] = m.key
	if m.promise != keyed || !m.again {
		return
	}
	for i := range l.entries {
		e := &l.entries[i]
		if e.Kind == journal.Intent && e.Key == m.key {
			if late := m.sent.Add(sendTimeout).Sub(time.Unix(0, e.Time).Add(keyTTL)); late > 0 && t.world.sent[m.key] > 1 {
				t.violate("AFTER-KEY-TTL", "%s is sent again, and may arrive %s after its key was forgotten", m.step, late)
			}
			return
		}
	}
}

// began notes that a process does something new, which it must not when it knows that the run is cancelled.
func (t *trial) began(p *process, what, step string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.dead {
		return
	}
	if p.free {
		t.violate("REPLAY", "%s is executed for %s when a finished log is replayed", what, step)
		return
	}
	if t.store.log.state.Finished && what != "a request" {
		return // a look-up of what the run has left in doubt
	}
	if t.store.log.state.CancelAsked && p.handle.known > uint64(t.store.log.position(journal.Cancel)) {
		t.violate("STARTED-AFTER-CANCEL", "%s begins %s for %s, and knows that the run is cancelled", p.name, what, step)
	}
}

// appended holds entries that were just committed against the promises that need no rule of the log to be checked. The
// caller holds mu.
func (t *trial) appended(p *process, entries []journal.Entry) {
	var cancelled, finished bool
	l := t.store.log.entries
	for i, e := range l {
		if i >= len(l)-len(entries) {
			switch {
			case cancelled && e.Kind == journal.Intent:
				t.violate("INTENT-AFTER-CANCEL", "%s", e.Step)
			case finished && e.Kind != journal.Late && e.Kind != journal.Record:
				t.violate("WRITTEN-AFTER-FINISH", "%s %s", e.Kind, e.Step)
			}
			switch {
			case e.Kind == journal.Intent:
				t.checkAgreed(i)
			case e.Kind == journal.Result && e.By != "":
				t.checkAnswer(p, &l[i])
			}
			t.count(p, e)
		}
		cancelled, finished = cancelled || e.Kind == journal.Cancel, finished || e.Kind == journal.Finished
	}
}

// driven holds the end of a drive against the promises.
func (t *trial) driven(p *process, res runtime.Result, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.dead {
		return
	}
	t.lastErr = err
	if t.traced {
		t.note(fmt.Sprintf("%s has driven: %q, %v", p.name, res.Output, err))
	}
	if !t.expected(p, err) {
		t.violate("DRIVE", "%s ends with %v", p.name, err)
	}
	var failed *runtime.FailedError
	if err == nil || errors.As(err, &failed) {
		t.checkFinal(fmt.Sprintf("%q, %v", res.Output, err))
	}
}

// checkReplies looks for replies that reached a process and left no trace. The caller holds mu.
func (t *trial) checkReplies(p *process) {
	t.world.replied = slices.DeleteFunc(t.world.replied, func(m *message) bool {
		if m.p != p {
			return false
		}
		same := func(e *journal.Entry) bool { return e.Outcome == journal.OK && string(e.Body) == m.reply }
		if !slices.ContainsFunc(t.store.log.find(journal.Result, m.step), same) &&
			!slices.ContainsFunc(t.store.log.find(journal.Late, m.step), same) && !slices.Contains(p.rescued, m.reply) {
			t.violate("LOST-REPLY", "%q, the reply to %s, reached %s, which lived until its drive ended, and is nowhere", m.reply, m.step, p.name)
		}
		return true
	})
}

// checkFinal holds what a run came to against what it came to before. The caller holds mu.
func (t *trial) checkFinal(final string) {
	if len(t.finals) > 0 && t.finals[0] != final {
		t.violate("OTHER-END", "it ended as %s, and now as %s", t.finals[0], final)
	}
	t.finals = append(t.finals, final)
}

// verdicts of a log about one attempt of a step.
type told struct {
	op     string
	opened bool // it is a program: that it failed says neither that it wrote nor that it did not
	result *journal.Entry
	void   bool
	late   bool
}

// yes says whether the log holds that it happened.
func (o told) yes() bool {
	if o.opened && o.result != nil && o.result.Outcome == journal.Fail {
		return false
	}
	return o.result != nil && (o.result.Outcome == journal.OK || o.result.Effect == journal.EffectApplied)
}

// no says whether the log holds that it did not happen.
func (o told) no() bool {
	if o.late || o.result == nil {
		return o.void && !o.late
	}
	var e toolabi.Error
	return !o.yes() && (o.result.Effect == journal.EffectNone || toolabi.Decode(o.result.Body, &e) == nil && e.Effect != toolabi.EffectUnknown && e.Effect != toolabi.EffectApplied)
}

// isProgram says whether an intent announces a program that writes.
func isProgram(e *journal.Entry) bool {
	return !e.Module.IsZero() && (e.Class == uint8(toolabi.Once) || e.Class == uint8(toolabi.Effect))
}

// operation is what an intent announces.
func operation(intent *journal.Entry) string {
	if isProgram(intent) {
		return strings.Trim(string(intent.Body), `"`)
	}
	return opOf(string(intent.Body))
}

// steps returns what a log says of the attempts at effects.
func (l *log) steps() map[journal.Step]told {
	all := map[journal.Step]told{}
	for i := range l.entries {
		e := &l.entries[i]
		o, ok := all[e.Step]
		switch {
		case e.Kind == journal.Intent && (e.Key != "" || isProgram(e)):
			o.op, o.opened, ok = operation(e), isProgram(e), true
		case e.Kind == journal.Result:
			o.result = e
		case e.Kind == journal.Void:
			o.void = true
		case e.Kind == journal.Late:
			o.late = true
		}
		if ok {
			all[e.Step] = o
		}
	}
	return all
}

// checkWorld holds what happened in the world against what was promised, and against what the log says. The caller holds mu.
func (t *trial) checkWorld() {
	yes, no := map[string]bool{}, map[string]bool{}
	for _, o := range t.store.log.steps() {
		yes[o.op] = yes[o.op] || o.yes() || o.late || !o.no()
		no[o.op] = no[o.op] || o.no()
		if o.yes() && t.world.acts[o.op] == 0 {
			t.violate("FALSE-YES", "the log says that %s happened", o.op)
		}
	}
	for op, n := range t.world.acts {
		if t.world.promises[op] == repeatable && t.restores > 0 {
			continue // it may take place again, and what came of it before is lost
		}
		if t.world.promises[op] != repeatable && n > 1 {
			t.violate("REPEATED", "%s took place %d times", op, n)
		}
		if n > 0 && no[op] && !yes[op] && !t.saidAhead && !t.store.log.state.Unconfirmed {
			t.violate("FALSE-NO", "%s took place, and all that the log says is that it did not", op)
		}
	}
}

// checkLog reads the whole log again, with nothing of what was kept beside it.
func (t *trial) checkLog() {
	entries, err := t.store.log.decoded()
	s := &journal.State{Run: runID}
	for _, e := range entries {
		if err == nil {
			err = s.Apply(e)
		}
	}
	if err != nil {
		t.violate("LOG", "%v", err)
	}
	reader := &handle{t: t, p: &process{name: "verify", free: true}}
	for f := range journal.Verify(context.Background(), reader) {
		t.mu.Lock()
		t.violate("LOG", "%v", f)
		t.mu.Unlock()
	}
}

// checkReplay drives the finished log again without its end, in a world in which nothing may happen: all must come from
// the log, and come to the same.
func (t *trial) checkReplay() {
	l := t.store.log
	end := l.position(journal.Finished)
	if end < 0 || l.state.CancelAsked || l.entries[end].Abandon {
		return
	}
	again := &trial{c: repeating(nil), scenario: t.scenario, owners: true, store: newStore(), world: newProvider(), traced: t.traced}
	if err := again.store.log.append(0, slices.Clone(l.entries[:end])); err != nil {
		t.violate("LOG", "without its end: %v", err)
		return
	}
	p := again.begin("replay")
	p.free = true
	res, err := p.engine.Drive(context.Background(), runID, runtime.DriveOptions{Driver: again.driver(p), TakeOver: true})
	if again.violation != nil {
		t.violate(again.violation.Rule, "%s", again.violation.What)
	}
	if got := fmt.Sprintf("%q, %v", res.Output, err); len(t.finals) == 0 || got != t.finals[0] {
		t.violate("REPLAY", "it ended as %v, and its log comes to %s", t.finals, got)
	}
	if res.Counts.Executed > 0 {
		t.violate("REPLAY", "%d steps were executed", res.Counts.Executed)
	}
}
