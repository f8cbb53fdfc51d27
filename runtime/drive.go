package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// DriveOptions are what a resume may add. The zero value adds nothing.
type DriveOptions struct {
	// Driver drives the run when it is not nil; else the registered driver of the run's name does.
	Driver *DriverInfo
	// Grants are added to those that the run began with, and recorded.
	Grants hostfuncs.Grants
	// Budget is what the run may take from now on, recorded where it changes something; see Run.Budget.
	Budget Budget
	// By says who adds them.
	By string
	// ApproveBy is the last moment at which a yes counts to a question that is put while the run is driven; zero for any
	// time. What expires is denied.
	ApproveBy time.Time
	// TakeOver claims the run although it is not known whether its owner lives. Whoever says so vouches that it does not.
	TakeOver bool
}

// Result is what came of driving a run.
type Result struct {
	// Output is what the driver returned, recorded.
	Output []byte
	// Counts says what happened on the way.
	Counts Counts
	// Usage says what it took.
	Usage Usage
	// Replayed says that the run was finished before, and that nothing was executed now.
	Replayed bool
	// Late counts the outcomes that came after the end of a finished run and that nobody has acknowledged.
	Late int
	// Driver is the name of the run's driver, "" when it is not known because the log could not be read.
	Driver string
}

// Counts counts the steps of one Drive.
type Counts struct {
	// Executed are the steps that were done now, calls and what they asked of the host; a call that is entered again
	// counts. Served are those answered from the log.
	Executed, Served int
	// Entered counts the times that a module was entered.
	Entered int
}

// Usage is what the calls of one Drive took.
type Usage struct {
	// Fuel is how much the modules computed that were entered, what ran again to answer it from the log included; 0 where
	// the invoker does not count.
	Fuel uint64
	// Live is how long the driver's calls took, waits and what was answered from the log left out.
	Live time.Duration
	// HostCalls are the uses of host functions, also those that were answered from the log.
	HostCalls int
	// Commits are the appends to the run's log, from the one that claimed it to the one that let go of it.
	Commits int
}

// Drive goes on with a run until its driver is done, or until it cannot go on now. A finished run is not driven again:
// what it returned is returned.
//
// Errors: *FailedError when the run is finished and did not succeed; *UncertainError, *UnconfirmedError, *WaitingError and
// *LateError when someone must say something first; *DivergedError; *BusyError; *LimitError; *JournalError; *UnrecordedError
// around one of them when replies came and could not be recorded; *BudgetError; *QuotaError; *DirError;
// *hostfuncs.GrantConflictError; ErrInterrupted when ctx ended; journal.ErrNotFound. All but the first leave the run resumable.
func (e *Engine) Drive(ctx context.Context, run string, opts DriveOptions) (res Result, err error) {
	end, err := e.begin(run)
	if err != nil {
		return Result{}, err
	}
	defer end()
	defer func() {
		var failed *FailedError
		if err != nil && !stops(err) && !errors.As(err, &failed) && ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", ErrInterrupted, err)
		}
		if err = e.quiet(err); err != nil {
			e.release(run, err) // unless that has happened
		}
	}()
	l, err := e.load(ctx, run)
	if err != nil {
		return Result{}, err
	}
	driver := l.history.Created().Name
	defer func() { res.Driver = driver }()
	if f := l.history.Finished(); f != nil {
		return e.finished(ctx, l, *f)
	}
	if l.partial && !l.state.CancelAsked {
		return Result{}, fmt.Errorf("run %s is a copy that is not whole, and is not driven: cancel it, and fork again under another id", run)
	}
	if err := errors.Join(e.judgeMore(ctx, l, opts.Grants), opts.Budget.validate()); err != nil {
		return Result{}, err
	}
	res, cancelled, err := e.claimed(ctx, l, opts)
	if waits(err) && cancelled { // when it was let go of: nobody else may come by to close it
		if l, err = e.load(context.WithoutCancel(ctx), run); err != nil {
			return res, err
		}
		closed, _, err := e.claimed(ctx, l, opts)
		closed.Counts, closed.Usage = res.Counts, res.Usage
		return closed, err
	}
	return res, err
}

// claimed claims a run and goes on with it. cancelled says that somebody has cancelled it meanwhile.
func (e *Engine) claimed(ctx context.Context, l *loaded, opts DriveOptions) (res Result, cancelled bool, err error) {
	if l, err = e.take(ctx, l, opts.TakeOver); err != nil {
		return Result{}, false, err
	}
	if f := l.history.Finished(); f != nil { // by another process, just now
		res, err = e.finished(ctx, l, *f)
		return res, false, err
	}
	r := newRun(e, l.state.Run, l)
	r.approveBy = opts.ApproveBy
	driven := Event{Run: r.id, Phase: Driven, Driver: l.history.Created().Name, Began: timeOf(l.history.Created().Time)}
	e.observe(driven)
	res, err = r.goOn(ctx, opts)
	r.log.close()
	e.observe(driven.letGo(err))
	err = r.withUnrecorded(err)
	res.Usage.Commits = 1 + r.log.commits() // the first one claimed it
	return res, r.cancelAsked(), err
}

// letGo is the other end of a run's driving, with what came of it.
func (ev Event) letGo(err error) Event {
	var failed *FailedError
	ev.Phase, ev.Finished = LetGo, err == nil || errors.As(err, &failed)
	switch {
	case err == nil:
		ev.Outcome = journal.OK.String()
	case failed != nil:
		ev.Outcome, ev.Err = failed.Outcome.String(), failed.Err
	default:
		ev.Outcome = stopName(err)
	}
	return ev
}

// goOn drives a run that is claimed.
func (r *Run) goOn(ctx context.Context, opts DriveOptions) (Result, error) {
	var cancelled, late bool
	var created journal.Entry
	r.log.view(func(h *journal.History, s *journal.State) {
		cancelled, late, created = s.CancelAsked, s.Late > 0, h.Created()
	})
	switch {
	case cancelled:
		return r.finishCancelled()
	case late:
		return Result{}, r.stop(&LateError{Run: r.id})
	}
	spec, err := r.engine.readSpec(ctx, created)
	if err != nil {
		return Result{}, err
	}
	driver, err := r.engine.driver(spec, opts.Driver)
	if err != nil {
		return Result{}, r.stop(err)
	}
	r.spec, r.grants = spec, spec.Grants.Union(r.grants)
	if driver.Version != spec.Version {
		return Result{}, r.stop(&DivergedError{Run: r.id, What: fmt.Sprintf("driver %s has version %q, the run began with %q", spec.Driver, driver.Version, spec.Version)})
	}
	if err := r.addGrants(ctx, opts); err != nil {
		return Result{}, r.stop(err)
	}
	if err := r.addBudget(ctx, opts); err != nil {
		return Result{}, r.stop(err)
	}
	return r.drive(ctx, driver.Drive)
}

func (e *Engine) driver(spec *Spec, given *DriverInfo) (DriverInfo, error) {
	if given != nil {
		return *given, nil
	}
	d, ok := e.cfg.Drivers[spec.Driver]
	if !ok || d.Drive == nil {
		return DriverInfo{}, fmt.Errorf("the run is driven by %q, which this program does not have", spec.Driver)
	}
	return d, nil
}

// finished returns what a closed run returned.
func (e *Engine) finished(ctx context.Context, l *loaded, f journal.Entry) (Result, error) {
	run := l.state.Run
	body, err := journal.Body(ctx, e.blobs, f)
	if err != nil {
		return Result{}, err
	}
	res := Result{Replayed: true, Late: l.state.Late}
	if f.Outcome == journal.OK {
		res.Output = body
		return res, nil
	}
	failed := &FailedError{Run: run, Outcome: f.Outcome}
	if len(body) > 0 {
		failed.Err = new(toolabi.Error)
		if err := toolabi.Decode(body, failed.Err); err != nil {
			return res, damaged(run, err)
		}
	}
	return res, failed
}

// judgeMore says why grants cannot be added to those of a run: a *hostfuncs.GrantConflictError, what is wrong with them by
// themselves, or nil. The workspace may move: the files of a run follow it.
func (e *Engine) judgeMore(ctx context.Context, l *loaded, more hostfuncs.Grants) error {
	if more.IsZero() {
		return nil
	}
	if err := more.Validate(); err != nil {
		return fmt.Errorf("run %s: %w", l.state.Run, err)
	}
	if err := e.secretInSpec(l.state.Run, &Spec{Grants: more}); err != nil {
		return err
	}
	spec, err := e.readSpec(ctx, l.history.Created())
	if err != nil {
		return err
	}
	more.Workspace = hostfuncs.WorkspaceGrant{}
	for _, has := range append([]hostfuncs.Grants{spec.Grants.Union(l.grants)}, spec.ownGrants()...) {
		if err := has.Conflict(more); err != nil {
			return fmt.Errorf("run %s: %w; a run keeps what it began with", l.state.Run, err)
		}
	}
	return nil
}

// addGrants records what is added to the grants.
func (r *Run) addGrants(ctx context.Context, opts DriveOptions) error {
	more := r.grants.Union(opts.Grants)
	if more.Equal(r.grants) {
		return nil
	}
	body, err := toolabi.Encode(opts.Grants)
	if err != nil {
		return err
	}
	rec := journal.Entry{Kind: journal.Record, Name: RecordGrants, By: opts.By}
	if err := journal.SetBody(ctx, r.engine.blobs, &rec, body); err != nil {
		return err
	}
	r.grants = more
	return r.add(rec)
}

// drive calls the driver and closes the run, or releases it.
func (r *Run) drive(ctx context.Context, drive Driver) (Result, error) {
	output, err := r.callDriver(ctx, drive)
	if stopped := r.stoppedBy(); stopped != nil {
		err = stopped // also when the driver took no notice
	} else if waits := r.waiting(); waits != nil {
		err = waits
	}
	if err != nil && !stops(err) && ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ErrInterrupted, context.Cause(ctx))
	}
	if err == nil || !stops(err) {
		if d := r.unasked(); d != nil {
			err = d
		}
	}
	if err == nil {
		if t := r.engine.holdsSecret("the run's output", output); t != nil {
			err = t
		}
	}
	switch {
	case err == nil:
		if err := r.restoreAll(ctx); err != nil {
			return r.result(nil), r.stop(err)
		}
		return r.finish(journal.OK, output, nil)
	case errors.Is(err, journal.ErrCancelled):
		return r.finishCancelled()
	case waits(err) && r.cancelAsked():
		return r.finishCancelled()
	case stops(err):
		return r.result(nil), r.stop(err)
	}
	failed := &FailedError{Run: r.id, Outcome: journal.Fail, Err: r.engine.asFailure(err)}
	body, encErr := encodeError(failed.Err)
	if encErr != nil {
		return r.result(nil), r.stop(&hostError{encErr})
	}
	return r.finish(journal.Fail, body, failed)
}

// waits says whether a run is let go of until somebody says something or a time has come.
func waits(err error) bool {
	var w *WaitingError
	var b *BudgetError
	var q *QuotaError
	return errors.As(err, &w) || errors.As(err, &b) || errors.As(err, &q)
}

func (r *Run) cancelAsked() (asked bool) {
	r.log.view(func(_ *journal.History, s *journal.State) { asked = s.CancelAsked })
	return asked
}

// callDriver turns a panic of the driver into an error that leaves the run resumable: it is a fault of the program.
func (r *Run) callDriver(ctx context.Context, drive Driver) (output []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			output, err = nil, &hostError{fmt.Errorf("driver %s: %v", r.spec.Driver, p)}
		}
		r.mu.Lock()
		r.over = true
		r.mu.Unlock()
		r.steps.Wait() // a step that the driver did not wait for still has an outcome
	}()
	return drive(ctx, r)
}

// asFailure returns what a failed run is recorded with.
func (e *Engine) asFailure(err error) *toolabi.Error {
	var t *toolabi.Error
	if !errors.As(err, &t) {
		return toolabi.NewError(toolabi.Failed, e.quiet(err).Error())
	}
	f := *t
	if err != error(t) { // what is around it says where it happened
		f.Message = err.Error()
	}
	return readable(e.cfg.Secrets.HideError(&f))
}

// unasked reports a recorded step that the driver did not ask for.
func (r *Run) unasked() error {
	var missed journal.Step
	r.log.view(func(h *journal.History, _ *journal.State) {
		for _, s := range h.Top() {
			if !r.wasAsked(s) {
				missed = s
				return
			}
		}
	})
	if missed == "" {
		return nil
	}
	return &DivergedError{Run: r.id, Step: missed, What: "the log holds this step, and the driver finished without asking for it"}
}

// finish closes the log. What rides along is on the disk with it.
func (r *Run) finish(outcome journal.Outcome, body []byte, failed error) (Result, error) {
	f := journal.Entry{Kind: journal.Finished, Outcome: outcome}
	// The commit of a result that already happened is not given up because the caller's context ended.
	if err := journal.SetBody(context.Background(), r.engine.blobs, &f, body); err != nil { // no space, perhaps
		return r.result(nil), r.stop(r.journalError(err))
	}
	err := r.add(f)
	var late *LateError
	switch {
	case errors.Is(err, journal.ErrCancelled): // and steps that are not in the log were taken back
		return r.finishCancelled()
	case errors.As(err, &late):
		return r.result(nil), r.stop(late)
	case err != nil:
		return r.result(nil), err
	}
	if outcome != journal.OK {
		return r.result(nil), failed
	}
	return r.result(body), nil
}

// finishCancelled closes a cancelled run. What it leaves in doubt is named, and can be settled afterwards.
func (r *Run) finishCancelled() (Result, error) {
	var doubt []journal.Step
	why := ""
	r.log.view(func(_ *journal.History, s *journal.State) {
		if doubt = s.InDoubt(); s.Unconfirmed {
			why = "it was restored from a backup, and may have done more than its log says"
		}
	})
	f := journal.Entry{Kind: journal.Finished, Outcome: journal.Cancelled, Note: leftInDoubt(doubt, why)}
	if err := r.add(f); err != nil {
		return r.result(nil), err
	}
	return r.result(nil), &FailedError{Run: r.id, Outcome: journal.Cancelled}
}

// add appends an entry of the run's own, durably.
func (r *Run) add(e journal.Entry) error {
	_, err := r.log.add(e, true)
	return r.describeFence(r.stopFor(e.Step, err))
}

// stop releases the run with the reason for it, so that anyone may go on with it.
func (r *Run) stop(err error) error {
	err = r.engine.quiet(err)
	rel := journal.Entry{Kind: journal.Released, Name: stopName(err), Note: text(err, maxNote), Due: dueOf(err)}
	if relErr := r.add(rel); relErr != nil {
		return relErr
	}
	return err
}

// dueOf is when a run that stops with err can go on by itself.
func dueOf(err error) int64 {
	var waits *WaitingError
	if errors.As(err, &waits) {
		return unixNano(waits.Due)
	}
	return 0
}

// maxNote is the longest note that an error leaves in a log, in bytes.
const maxNote = 512

// text is an error's text as an entry can hold it.
func text(err error, most int) string {
	return toolabi.CutText(strings.ToValidUTF8(err.Error(), "\uFFFD"), most)
}

func damaged(run string, err error) error {
	return fmt.Errorf("run %s: %w: %w", run, journal.ErrDamaged, err)
}
