package interleave

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// question is something that only a person can answer.
type question struct {
	about string
	step  journal.Step
	ask   func(ctx context.Context, p *process) error
}

// questions lists what the log asks of people now. They look at the provider and say what they see; they never insist.
// The caller holds mu.
func (t *trial) questions() []question {
	var qs []question
	s := t.store.log.state
	for _, step := range s.InDoubt() {
		qs = append(qs, question{"resolves", step, func(ctx context.Context, p *process) error { return t.resolve(ctx, p, step) }})
	}
	if s.Late > 0 {
		qs = append(qs, question{"acknowledges", "", func(ctx context.Context, p *process) error {
			return p.engine.Acknowledge(ctx, runID, p.name, "seen")
		}})
	}
	if s.Unconfirmed && !s.Finished {
		qs = append(qs, question{"confirms or cancels", "", t.confirm})
	}
	return append(qs, t.approvals()...)
}

// idle returns a person who says nothing now, or nil. The caller holds mu.
func (t *trial) idle() *process {
	for _, p := range t.people {
		if !p.driving {
			return p
		}
	}
	return nil
}

// spoken says whether anybody is about to say something. The caller holds mu.
func (t *trial) spoken() bool {
	return slices.ContainsFunc(t.people[:], func(p *process) bool { return p.driving })
}

// say lets a person say something. The caller holds mu.
func (t *trial) say(p *process, q question) {
	t.note(fmt.Sprintf("%s %s", p.name, q))
	t.tasks++
	p.driving = true
	go func() {
		err := q.ask(context.Background(), p)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.tasks--
		p.driving = false
		if !t.acceptable(err) && !p.dead {
			t.violate("PERSON", "%s %s %s: %v", p.name, q.about, q.step, err)
		}
	}()
}

// acceptable says whether a person may be answered so. Being told that what they see is wrong is not acceptable.
func (t *trial) acceptable(err error) bool {
	var soon *runtime.TooSoonError
	var busy *runtime.BusyError
	var answered *runtime.AnsweredError
	var other *runtime.ShownError
	return err == nil || errors.As(err, &soon) || errors.As(err, &busy) || errors.As(err, &answered) || errors.As(err, &other) ||
		errors.Is(err, runtime.ErrNotOpen) || errors.Is(err, journal.ErrClosed) || errors.Is(err, journal.ErrFenced) || errors.Is(err, journal.ErrExpired)
}

// resolve says what became of a step, as the provider shows it at this moment.
func (t *trial) resolve(ctx context.Context, p *process, step journal.Step) error {
	t.mu.Lock()
	var res runtime.Resolution
	for _, in := range t.store.log.find(journal.Intent, step) {
		if op := operation(in); t.world.acts[op] > 0 {
			res.Happened, res.Reply = true, []byte(t.world.replies[op])
			if isProgram(in) {
				res.Reply = []byte(`"` + t.world.replies[op] + `"`)
			}
		}
	}
	t.mu.Unlock()
	res.By = p.name
	return p.engine.Resolve(ctx, runID, step, res)
}

// confirm looks at the world after a backup was restored: where it is ahead of the log the run is cancelled, where a
// request is on its way it has to wait.
func (t *trial) confirm(ctx context.Context, p *process) error {
	t.mu.Lock()
	ahead, wait := t.ahead(time.Now())
	t.saidAhead = t.saidAhead || ahead
	t.mu.Unlock()
	switch {
	case ahead:
		return p.engine.Cancel(ctx, runID, p.name, "the provider has done more than the log knows")
	case wait:
		return nil
	}
	err := p.engine.Confirm(ctx, runID, p.name, "they are the same")
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		clear(t.world.sent) // nothing that left before arrives any more
	}
	return err
}

// ahead says whether the provider has done what the log does not know of, or may do so yet. The caller holds mu.
func (t *trial) ahead(now time.Time) (ahead, wait bool) {
	known := map[string]bool{}
	for step, said := range t.store.log.steps() {
		if t.store.log.state.Open[step].OnCut == journal.Doubt || said.yes() || said.opened && said.result != nil && said.result.Effect == journal.EffectApplied { // the first is settled by itself
			known[said.op] = true
		}
	}
	for op, promise := range t.world.promises {
		if promise == repeatable || known[op] {
			continue
		}
		ahead = ahead || t.world.acts[op] > 0
		wait = wait || t.world.onItsWay(op, now)
	}
	return ahead, wait
}

// giveUp lets a person cancel the run, or abandon it. The caller holds mu.
func (t *trial) giveUp() bool {
	switch abandon := t.c.draw(2) == 1; {
	case !abandon && t.limits.cancels > 0:
		t.limits.cancels--
		t.cancels++
		t.say(t.idle(), question{about: "cancels", ask: func(ctx context.Context, p *process) error {
			return p.engine.Cancel(ctx, runID, p.name, "changed my mind")
		}})
	case abandon && t.limits.abandons > 0:
		t.limits.abandons--
		t.say(t.idle(), question{about: "abandons", ask: func(ctx context.Context, p *process) error {
			return p.engine.Abandon(ctx, runID, p.name, "it takes too long")
		}})
	default:
		return false
	}
	return true
}

// restore puts the backup in the place of the log. Whoever used the log has ended. The caller holds mu.
func (t *trial) restore() {
	t.restores++
	l := t.store.backup.clone()
	if l.state.Len > 0 && !l.state.Finished {
		e := journal.Entry{Kind: journal.Restored, By: "ann", Time: max(time.Now().UnixNano(), l.state.Time), After: l.state.Head}
		if err := l.append(l.state.Len, []journal.Entry{e}); err != nil {
			t.violate("RESTORE", "%v", err)
		}
	}
	t.store.log = *l
	t.finals = nil        // what the log does not hold any more may come out otherwise
	t.world.replied = nil // and what it had recorded is lost with it
}

func (q question) String() string { return fmt.Sprintf("%s %s", q.about, q.step) }
