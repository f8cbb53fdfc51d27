package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/journal"
)

// Finding is what Reconcile found about one effect in doubt.
type Finding struct {
	Step journal.Step
	// Settled says that the log knows now what became of it; Happened which.
	Settled, Happened bool
	// Err says why it is not settled: *UncertainError where nobody can tell, *WaitingError while it is too early.
	Err error
}

// Reconcile asks the look-ups of a run's tools about every effect that is in doubt, and writes down what they find.
// Nothing else is executed. It claims the run meanwhile, so it is refused while the run is being driven.
//
// What a closed run left in doubt is settled by late entries; the steps of such a look-up are not kept.
//
// Errors: *BusyError; journal.ErrNotFound; *JournalError; what Drive returns for a log that cannot be gone on with.
func (e *Engine) Reconcile(ctx context.Context, run string) ([]Finding, error) {
	findings, err := e.lookUp(ctx, run)
	for i := range findings {
		findings[i].Err = e.quiet(findings[i].Err)
	}
	return findings, e.quiet(err)
}

// lookUp is Reconcile, whose errors may hold values.
func (e *Engine) lookUp(ctx context.Context, run string) ([]Finding, error) {
	s, err := e.state(ctx, run)
	switch {
	case err != nil:
		return nil, err
	case s.Finished:
		return e.reconcileClosed(ctx, run)
	case len(s.InDoubt()) == 0:
		return nil, nil
	}
	end, err := e.begin(run)
	if err != nil {
		return nil, err
	}
	defer end()
	l, err := e.load(ctx, run)
	if err != nil {
		return nil, err
	}
	if l, err = e.take(ctx, l, false); err != nil {
		return nil, err
	}
	if l.state.Finished {
		return nil, nil
	}
	r := newRun(e, run, l)
	defer r.log.close()
	findings, err := r.reconcile(ctx, l.history.Created())
	if err != nil {
		return findings, r.stop(err)
	}
	var why error = errReconciled
	for _, f := range findings {
		if f.Err != nil {
			why = f.Err
		}
	}
	if err := r.stop(why); !errors.Is(err, why) {
		return findings, err // it could not be released
	}
	return findings, nil
}

// errReconciled is why a run is released of which nothing is in doubt any more.
var errReconciled = fmt.Errorf("%w: nothing is in doubt any more", ErrInterrupted)

// reconcile asks about every step in doubt.
func (r *Run) reconcile(ctx context.Context, created journal.Entry) ([]Finding, error) {
	spec, err := r.engine.readSpec(ctx, created)
	if err != nil {
		return nil, err
	}
	r.spec, r.grants = spec, spec.Grants.Union(r.grants)
	var doubt []journal.Step
	r.log.view(func(_ *journal.History, s *journal.State) { doubt = s.InDoubt() })
	var findings []Finding
	for _, step := range doubt {
		err := r.find(ctx, step)
		f := Finding{Step: step, Settled: err == nil, Err: err}
		var unknown *UncertainError
		var early *WaitingError
		if err != nil && !errors.As(err, &unknown) && !errors.As(err, &early) {
			return findings, err
		}
		if f.Settled {
			_, past, _ := r.lookup(step)
			f.Happened = past != nil && past.Result != nil
		}
		findings = append(findings, f)
	}
	return findings, nil
}

// find asks about one step until the look-up has said something that counts, or cannot.
func (r *Run) find(ctx context.Context, step journal.Step) error {
	for {
		latest, past, open := r.lookup(step)
		if latest != step || past == nil || !past.Open() || open.OnCut != journal.Doubt {
			return nil
		}
		if err := r.lookUp(ctx, step, past); !errors.Is(err, errMoved) {
			return err
		}
	}
}

// reconcileClosed asks about what a closed run left in doubt. The log takes nothing but late entries any more, so the
// look-up runs on a copy of the log that is thrown away, and its verdict is kept.
func (e *Engine) reconcileClosed(ctx context.Context, run string) ([]Finding, error) {
	l, err := e.load(ctx, run)
	if err != nil {
		return nil, err
	}
	doubt := l.state.InDoubt()
	if len(doubt) == 0 {
		return nil, nil
	}
	copied, err := e.reopened(ctx, l, run)
	if err != nil {
		return nil, err
	}
	defer copied.log.close()
	findings, err := copied.reconcile(ctx, l.history.Created())
	if err != nil {
		return findings, err
	}
	for _, f := range findings {
		if !f.Settled {
			continue
		}
		_, past, _ := copied.lookup(f.Step)
		said := past.Result
		if said == nil {
			said = past.Void
		}
		if err := e.settleLate(ctx, run, *said); err != nil {
			return findings, err
		}
	}
	return findings, nil
}

// settleLate writes a verdict about a step of a closed run, unless somebody has settled it meanwhile.
func (e *Engine) settleLate(ctx context.Context, run string, said journal.Entry) error {
	late := asLateVerdict(journal.Entry{
		Step: said.Step, Name: said.Name, Class: said.Class, Outcome: said.Outcome, Effect: said.Effect,
		Body: said.Body, Blob: said.Blob, Size: said.Size, By: said.By, Note: said.Note,
	})
	return untilSettled(func() error {
		s, err := e.state(ctx, run)
		if err != nil {
			return err
		}
		if _, open := s.Open[said.Step]; !open {
			return nil
		}
		return e.extend(ctx, s, late)
	})
}

// reopened is a closed run on a copy of its log without the end, in memory, claimed by this process.
func (e *Engine) reopened(ctx context.Context, l *loaded, run string) (*Run, error) {
	scratch := &Engine{
		cfg: e.cfg, blobs: e.blobs, kv: e.kv, owners: e.owners, identity: e.identity, funcs: e.funcs, driving: map[string]bool{},
	}
	scratch.cfg.Journal = &scratchLog{state: &journal.State{Run: run}}
	scratch.cfg.Rescue, scratch.cfg.Observe, scratch.room = nil, nil, nil
	me, err := e.me()
	if err != nil {
		return nil, err
	}
	c, err := e.copyLog(ctx, l, me, whole)
	if err != nil {
		return nil, err
	}
	if err := appendAll(ctx, scratch.cfg.Journal, run, c.taken); err != nil {
		return nil, err
	}
	copied, err := scratch.load(ctx, run)
	if err != nil {
		return nil, err
	}
	return newRun(scratch, run, copied), nil
}
