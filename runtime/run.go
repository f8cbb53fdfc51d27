package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// RecordGrants is the name of the records that hold what a resume added to the grants, as a hostfuncs.Grants.
const RecordGrants = "grants"

// Run is a run while it is driven: what a Driver has in its hands. Its methods may be called concurrently, for steps of
// different names.
type Run struct {
	engine *Engine
	id     string
	spec   *Spec
	log    *appender
	kept   *kept // what the log keeps beside
	grants hostfuncs.Grants
	budget Budget // what resumes have allowed
	spent  spent  // as the log said when this process began
	// approveBy is the last moment at which a yes counts to a question that is put now; zero for any time.
	approveBy time.Time
	from      uint64 // the log's length when this process began to drive

	workspaces *workspaces // where the run's files are

	steps sync.WaitGroup // the driver's own steps that are being asked for
	local sync.Mutex     // held from the look at the state of tools until what a step writes there is on the disk

	mu      sync.Mutex
	asked   map[journal.Step]bool // guarded by mu: the driver's own steps, first attempts
	busy    map[journal.Step]bool // guarded by mu: those that are being asked for now
	over    bool                  // guarded by mu: the driver has returned
	stopped error                 // guarded by mu: the first reason to stop
	waits   []*WaitingError       // guarded by mu: steps that wait for something outside
	counts  Counts                // guarded by mu
	usage   Usage                 // guarded by mu
	// unrecorded are the replies that came and could not be recorded; guarded by mu.
	unrecorded []Unrecorded
}

func newRun(e *Engine, id string, l *loaded) *Run {
	r := &Run{
		engine: e, id: id, grants: l.grants, budget: l.budget, spent: l.spent, from: l.state.Len,
		log: newAppender(e, l), kept: l.kept, workspaces: newWorkspaces(), asked: map[journal.Step]bool{}, busy: map[journal.Step]bool{},
	}
	r.log.rescue = r.rescue
	return r
}

// ID returns the run's id.
func (r *Run) ID() string { return r.id }

// Input returns the run's input, JSON. The caller must not change it.
func (r *Run) Input() []byte { return r.spec.Input }

// Plan returns the driver's text. The caller must not change it.
func (r *Run) Plan() []byte { return r.spec.Plan }

// Modules returns the modules that the run may call. The caller must not change them.
func (r *Run) Modules() []Module { return r.spec.Modules }

// Flush returns when everything that the run has done is on the disk. A driver calls it before it lets anything out
// that is not a step: a line on a terminal, a reply to a client.
func (r *Run) Flush() error { return r.journalError(r.log.flush()) }

// Call enters a tool, or returns what came of it when the log holds that. tool is "module.tool"; input and output are
// JSON. The input is held against the tool's schema before anything is written.
//
// A *toolabi.Error is an outcome that the driver may handle. Any other error ends the driving: the driver returns it.
func (r *Run) Call(ctx context.Context, step journal.Step, tool string, input []byte) ([]byte, error) {
	return r.Invoke(ctx, CallSpec{Step: step, Tool: tool, Input: input})
}

// CallSpec is one call.
type CallSpec struct {
	Step journal.Step
	// Tool is the tool's full name, "module.tool".
	Tool string
	// Input is JSON.
	Input []byte
	// Retry, when it has attempts, takes the place of the tool's own policy: the call is tried again after any failure but
	// a refusal, as long as no effect that must not be repeated took place in it.
	Retry toolabi.RetryPolicy
	// Decide is what the driver itself wants of this call, beside the manifest and the operator's policy: AskFirst or Deny,
	// with Reason and Within. The strictest of them counts, so Allow is as good as NoVerdict: it lets nothing begin that
	// another one asks about. Where the log holds what came of the call, or a question about it, that counts as it does
	// when the policy has changed.
	Decide Decision
	// DecideEdited says what the driver wants when somebody has put another input in the place of Input; nil leaves it at Decide.
	DecideEdited func(input []byte) Decision
}

// Invoke is Call with all that can be said about a call.
func (r *Run) Invoke(ctx context.Context, c CallSpec) ([]byte, error) {
	res := r.invoke(ctx, c)
	return res.Output, res.Err
}

func (r *Run) invoke(ctx context.Context, c CallSpec) CallResult {
	answered, err := r.ask(c.Step)
	if err != nil {
		return CallResult{Err: err}
	}
	defer answered()
	return r.call(ctx, c)
}

// CallResult is what came of one call of CallAll.
type CallResult struct {
	Output []byte
	Err    error
	// Edited is the input that the call was made with, or was denied with, when somebody who agreed to it put that in the
	// place of what the driver asked for; EditedBy is who. nil and "" when nobody did. A replay says the same.
	Edited   []byte
	EditedBy string
}

// CallAll makes calls in parallel, each as Call does, and returns when all have ended. One that fails or becomes
// uncertain does not break off the others.
func (r *Run) CallAll(ctx context.Context, calls []CallSpec) []CallResult {
	results := make([]CallResult, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() {
			results[i] = r.invokeBeside(ctx, c)
		})
	}
	wg.Wait()
	return results
}

// invokeBeside is invoke in a goroutine of its own, where a panic would end the process and with it all that it drives. As one of the
// driver it is a fault of the program, and leaves the run resumable.
func (r *Run) invokeBeside(ctx context.Context, c CallSpec) (res CallResult) {
	defer func() {
		if p := recover(); p != nil {
			res = CallResult{Err: r.halt(&hostError{fmt.Errorf("step %s: %v", c.Step, p)})}
		}
	}()
	return r.invoke(ctx, c)
}

// ask notes that the driver asks for one of its steps, until answered is called.
func (r *Run) ask(step journal.Step) (answered func(), err error) {
	if err := step.Validate(); err != nil {
		return nil, &hostError{err}
	}
	if step.Parent() != "" || step.Attempt() != 1 || step.Asks() != "" {
		return nil, &hostError{fmt.Errorf("step %q: a driver names its steps without /, ? and ~", string(step))}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return nil, &hostError{fmt.Errorf("step %q is asked for after the driver has returned", string(step))}
	}
	if r.busy[step] {
		return nil, &hostError{fmt.Errorf("step %q is asked for twice at once: parallel steps need names of their own", string(step))}
	}
	r.asked[step], r.busy[step] = true, true
	r.steps.Add(1)
	return func() {
		defer r.steps.Done()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.busy, step)
	}, nil
}

func (r *Run) wasAsked(step journal.Step) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[step]
}

// halt remembers the first reason to stop, so that it holds whatever the driver makes of it.
func (r *Run) halt(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped == nil {
		r.stopped = err
	}
	return err
}

func (r *Run) stoppedBy() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

func (r *Run) count(f func(*Counts)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.counts)
}

func (r *Run) use(f func(*Usage)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.usage)
}

func (r *Run) result(output []byte) Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Result{Output: output, Counts: r.counts, Usage: r.usage}
}

// stopFor turns what the rules refuse into the error that says what a person has to do, and any other error of the log
// into one that ends the driving.
func (r *Run) stopFor(step journal.Step, err error) error {
	switch {
	case errors.Is(err, journal.ErrLate):
		return &LateError{Run: r.id}
	case errors.Is(err, journal.ErrUnconfirmed):
		return &UnconfirmedError{Run: r.id, Step: step}
	}
	return r.journalError(err)
}

// journalError makes an error of the log one that ends the driving, where it is not one already.
func (r *Run) journalError(err error) error {
	if err == nil || stops(err) {
		return err
	}
	return &JournalError{Run: r.id, Err: err}
}

// describeFence says who it was that claimed the run.
func (r *Run) describeFence(err error) error {
	var busy *BusyError
	if errors.As(err, &busy) && busy.Who == "" && r.engine.owners != nil {
		busy.Who = r.engine.owners.Describe(busy.Owner)
	}
	return err
}
