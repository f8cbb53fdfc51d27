package interleave

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// question is something that only a person can answer.
type question struct {
	about string
	step  journal.Step
	ask   func(ctx context.Context) error
}

// questions lists what the log asks of people now. They look at the provider and say what they see; they never insist.
// The caller holds mu.
func (t *trial) questions() []question {
	var qs []question
	s := t.store.log.state
	for _, step := range s.InDoubt() {
		qs = append(qs, question{"resolves", step, func(ctx context.Context) error { return t.resolve(ctx, step) }})
	}
	if s.Late > 0 {
		qs = append(qs, question{"acknowledges", "", func(ctx context.Context) error {
			return t.person.engine.Acknowledge(ctx, runID, "ann", "seen")
		}})
	}
	if s.Unconfirmed && !s.Finished {
		qs = append(qs, question{"confirms or cancels", "", t.confirm})
	}
	return qs
}

// say lets the person answer. The caller holds mu.
func (t *trial) say(q question) {
	t.tasks++
	t.person.driving = true
	go func() {
		err := q.ask(context.Background())
		t.mu.Lock()
		defer t.mu.Unlock()
		t.tasks--
		t.person.driving = false
		if !t.acceptable(err) && !t.person.dead {
			t.violate("PERSON", "%s %s: %v", q.about, q.step, err)
		}
	}()
}

// acceptable says whether a person may be answered so. Being told that what they see is wrong is not acceptable.
func (t *trial) acceptable(err error) bool {
	var soon *runtime.TooSoonError
	var busy *runtime.BusyError
	return err == nil || errors.As(err, &soon) || errors.As(err, &busy) || errors.Is(err, runtime.ErrNotOpen) ||
		errors.Is(err, journal.ErrClosed) || errors.Is(err, journal.ErrFenced)
}

// resolve says what became of a step, as the provider shows it at this moment.
func (t *trial) resolve(ctx context.Context, step journal.Step) error {
	t.mu.Lock()
	var res runtime.Resolution
	for _, in := range t.store.log.find(journal.Intent, step) {
		if op := opOf(string(in.Body)); t.world.acts[op] > 0 {
			res.Happened, res.Reply = true, []byte(t.world.replies[op])
		}
	}
	t.mu.Unlock()
	res.By = "ann"
	return t.person.engine.Resolve(ctx, runID, step, res)
}

// confirm looks at the world after a backup was restored: where it is ahead of the log the run is cancelled, where a
// request is on its way it has to wait.
func (t *trial) confirm(ctx context.Context) error {
	t.mu.Lock()
	ahead, wait := t.ahead(time.Now())
	t.saidAhead = t.saidAhead || ahead
	s := t.store.log.state.Clone()
	t.mu.Unlock()
	switch {
	case ahead:
		return t.person.engine.Cancel(ctx, runID, "ann", "the provider has done more than the log knows")
	case wait:
		return nil
	}
	err := t.person.handle.Append(ctx, runID, s.Len, journal.Entry{
		Kind: journal.Record, Name: journal.RecordConfirmed, By: "ann", Time: max(time.Now().UnixNano(), s.Time), After: s.Head,
	})
	if errors.Is(err, journal.ErrConflict) {
		return nil // and they look again
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.world.sent) // nothing that left before arrives any more
	return err
}

// ahead says whether the provider has done what the log does not know of, or may do so yet. The caller holds mu.
func (t *trial) ahead(now time.Time) (ahead, wait bool) {
	known := map[string]bool{}
	for step, said := range t.store.log.steps() {
		if t.store.log.state.Open[step].OnCut == journal.Doubt || said.yes() { // the first is settled by itself
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

// cancelRun lets a third party cancel the run. The caller holds mu.
func (t *trial) cancelRun() {
	t.cancels++
	t.say(question{about: "cancels", ask: func(ctx context.Context) error {
		err := t.person.engine.Cancel(ctx, runID, "bob", "changed my mind")
		if errors.Is(err, journal.ErrNotFound) {
			return nil
		}
		return err
	}})
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
