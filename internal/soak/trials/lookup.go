package trials

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// byLookup is how the log names a look-up that has settled an effect.
const byLookup = "look-up payments.find_charge"

// notYet is what follows when a run was suspended because its look-up has seen nothing, and it is too early for that to mean
// anything. The next process waits, or comes when it may be too early still.
func (t *trial) notYet(ctx context.Context) error {
	if len(inDoubt(t.log)) == 0 {
		return fmt.Errorf("the run was suspended, and nothing of it is in doubt")
	}
	t.report.tell(func(r *Report) { r.NotYet++ })
	if t.wait = t.rng.IntN(3) > 0; t.wait {
		return nil
	}
	return Pause(ctx, time.Duration(t.rng.Int64N(int64(t.provider.settle))))
}

// lookupTrap kills a process in its look-up.
func (t *trial) lookupTrap() *trap {
	spots := []spot{lookupAsked, lookupTold}
	return &trap{at: 1, spot: spots[t.rng.IntN(len(spots))], sprung: make(chan struct{}), dead: make(chan struct{})}
}

// reconcile lets wrun ask the look-up, and go on with nothing. The process may be killed too.
func (t *trial) reconcile(ctx context.Context) error {
	var f fate
	if t.rng.IntN(2) == 0 && !t.enough() {
		f.trap = t.lookupTrap()
	}
	t.world.set(f.trap)
	before := t.log
	exit, err := t.until(ctx, f, []string{"--json", "reconcile", t.run})
	if err != nil {
		return err
	}
	if err := t.readLog(ctx); err != nil {
		return err
	}
	t.report.tell(func(r *Report) { r.Processes++ })
	switch {
	case exit.Killed():
		t.report.landed(momentOf(before, t.log))
		return nil
	case busy(exit):
		t.report.tell(func(r *Report) { r.Busy++ })
		return nil
	case exit.Code == exitSuspended:
		return t.notYet(ctx)
	case exit.Code != 0 || len(inDoubt(t.log)) > 0:
		return fmt.Errorf("reconcile: exit code %d, and %d effects are in doubt\n%s", exit.Code, len(inDoubt(t.log)), exit.Stderr)
	}
	return nil
}

// verifyLookups looks at who has settled what was in doubt: the look-up, and where it has found nothing, not before the
// request could not be on its way any more and the ledger's time for it was over.
func (t *trial) verifyLookups() error {
	if t.provider.settle == 0 {
		return nil
	}
	intents := map[string]entry{}
	var errs []error
	for _, e := range t.log {
		switch {
		case e.Kind == "intent" && e.once():
			intents[e.Step] = e
		case e.Kind == "result" && e.once() && e.By == byLookup:
			t.report.tell(func(r *Report) { r.Found++ })
		case e.Kind == "void" && e.By == byLookup:
			t.report.tell(func(r *Report) { r.NotFound++ })
			i := intents[e.Step]
			until := i.SendBy.Add(i.SendBy.Sub(i.Time)).Add(t.provider.settle)
			if i.Step == "" || e.Time.Before(until) {
				errs = append(errs, fmt.Errorf("%s was taken as not having happened at %s, and could have happened until %s", e.Step, e.Time, until))
			}
		case (e.Kind == "result" || e.Kind == "void") && e.By != "":
			errs = append(errs, fmt.Errorf("%s was settled by %s, want it settled by the look-up", e.Step, e.By))
		}
	}
	return errors.Join(errs...)
}
