package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/failpoint"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// frame is one call while its module is being entered.
type frame struct {
	run    *Run
	caller *frame       // of a tool that is called by a tool
	step   journal.Step // with its attempt
	module Module
	tool   toolabi.Tool
	limits callLimits
	grants hostfuncs.Grants // what the module may do
	// ask takes a step that the guest asks for into the log and out of it.
	ask func(context.Context, op) (outcome, error)

	mu       sync.Mutex
	n        int                     // guarded by mu: host functions asked so far that are not Free
	seen     map[journal.Digest]int  // guarded by mu: equal requests so far
	vague    map[journal.Digest]bool // guarded by mu: those of which one may have taken place
	live     bool                    // guarded by mu: the log's end was reached
	clock    *time.Timer             // guarded by mu: the limit on live time
	deadline time.Time               // guarded by mu: when the clock runs out
}

// call is the step of a driver's that enters a tool.
func (r *Run) call(ctx context.Context, c CallSpec) (res CallResult) {
	module, tool, err := r.spec.tool(c.Tool)
	if err != nil {
		return CallResult{Err: err}
	}
	if err := r.engine.judgeInput(c.Tool, tool, c.Input); err != nil {
		return CallResult{Err: err}
	}
	o := r.callOp(nil, c.Step, module, tool, c.Input)
	o.wanted, o.wantedEdited = c.Decide, c.DecideEdited
	if c.Retry.Attempts > 0 {
		o.retry, o.anyFailure = c.Retry, true
	}
	out, err := r.step(ctx, o)
	if err != nil {
		return CallResult{Err: err}
	}
	if out.edited != nil {
		res.Edited, res.EditedBy = out.edited.Input, out.edited.By
	}
	if out.err != nil {
		res.Err = out.err
		return res
	}
	if err := r.engine.judgeOutput(c.Tool, tool, out.reply); err != nil {
		res.Err = err
		return res
	}
	res.Output = out.reply
	return res
}

// judgeInput says what is wrong with the input of a tool, before anything is written about the call; nil for nothing.
func (e *Engine) judgeInput(name string, tool toolabi.Tool, input []byte) *toolabi.Error {
	if len(input) > toolabi.MaxInput {
		return toolabi.NewError(toolabi.TooLarge, fmt.Sprintf("input of %s has %d bytes, at most %d are allowed", name, len(input), toolabi.MaxInput))
	}
	if err := e.schemas.check(tool.Input, input); err != nil {
		return e.cfg.Secrets.HideError(toolabi.NewError(toolabi.BadInput, fmt.Sprintf("input of %s: %v", name, err)))
	}
	return nil
}

// judgeOutput says what is wrong with the output of a tool, which is recorded; nil for nothing.
func (e *Engine) judgeOutput(name string, tool toolabi.Tool, output []byte) *toolabi.Error {
	if err := e.schemas.check(tool.Output, output); err != nil {
		return e.cfg.Secrets.HideError(toolabi.NewError(toolabi.BadOutput, fmt.Sprintf("output of %s: %v", name, err)))
	}
	return nil
}

// callOp is the step that enters a tool, for a driver or for a tool that calls it.
func (r *Run) callOp(caller *frame, step journal.Step, module Module, tool toolabi.Tool, input []byte) op {
	name := module.Name + "." + tool.Name
	o := op{
		step: step, name: name, class: toolabi.Call, module: journal.Digest(module.Digest), frame: caller,
		request: input, digest: requestDigest(name, input), callee: module, tool: tool, retry: tool.Retry,
	}
	o.perform = r.entering(o)
	r.mount(&o)
	return o
}

// entering is what a call does: its module is entered with its input.
func (r *Run) entering(o op) func(context.Context, *journal.Entry) (outcome, error) {
	return func(ctx context.Context, intent *journal.Entry) (outcome, error) {
		return r.enter(ctx, o.frame, o.callee, o.tool, o.request, intent)
	}
}

// enter runs the module for one call. What the log holds of the inside of the call is answered from there.
func (r *Run) enter(ctx context.Context, caller *frame, module Module, tool toolabi.Tool, input []byte, intent *journal.Entry) (outcome, error) {
	with, err := r.invoker(ctx, intent)
	if err != nil {
		return outcome{unsent: true}, r.notEntered(ctx, module, err)
	}
	if err := r.prepare(ctx, module, with); err != nil {
		return outcome{unsent: true}, err
	}
	opaque := isEffect(intent.Class)
	if opaque {
		if out, err := r.mayEnter(intent); err != nil || out.err != nil {
			return out, err
		}
	}
	f := r.newFrame(caller, module, tool, intent.Step)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f.startClock(cancel)
	defer f.stopClock()
	defer func() { r.use(func(u *Usage) { u.Live += f.lived() }) }()
	r.count(func(c *Counts) { c.Entered++ })
	mounts := r.mountsOf(module, intent)
	out, err := with.Invoke(ctx, f.invocation(input, intent, mounts), f.host)
	if failed := failpoint.Hit(failpoint.AfterGuest); failed != nil && err == nil {
		err = failed
	}
	r.use(func(u *Usage) { u.Fuel += out.Fuel })
	f.says(out.Stderr)
	if opaque {
		return r.opaqueOutcome(ctx, f, mounts, out, err)
	}
	if err != nil {
		limit := r.limitOf(ctx, err)
		if limit == nil {
			return outcome{}, r.notEntered(ctx, module, err)
		}
		out = toolabi.Outcome{Err: limit}
	}
	return f.outcome(out)
}

// newFrame is a call that is about to be entered.
func (r *Run) newFrame(caller *frame, module Module, tool toolabi.Tool, step journal.Step) *frame {
	f := &frame{
		run: r, caller: caller, step: step, module: module, tool: tool, grants: module.granted(r.grants), limits: r.spec.limits(module, tool),
		ask: r.step, seen: map[journal.Digest]int{}, vague: map[journal.Digest]bool{},
	}
	if r.recorded(step) == 0 {
		f.live = true
		caller.goLive()
	}
	return f
}

// invocation is everything that decides what the call computes, as its intent says. The clock has been started.
func (f *frame) invocation(input []byte, intent *journal.Entry, mounts []toolabi.Mount) toolabi.Invocation {
	return toolabi.Invocation{
		Module: f.module.Digest, Tool: f.tool.Name, Input: input,
		Started: intent.Started, Seed: intent.Seed, Limits: f.limits.Limits, Mounts: mounts, Pause: f.pause,
	}
}

// says shows people the end of what a guest printed. It is not recorded, so a call that is entered again is heard again.
func (f *frame) says(printed []byte) {
	printed = f.run.engine.cfg.Secrets.Hide(printed) // before it is cut into lines
	lines := slices.DeleteFunc(strings.Split(string(printed), "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	for _, line := range lines[max(0, len(lines)-toolabi.MaxSaid):] {
		f.run.engine.observe(Event{
			Run: f.run.id, Step: f.step, Name: f.tool.Name, Phase: Said, Level: toolabi.LevelInfo, Text: toolabi.CutText(line, toolabi.MaxText),
		})
	}
}

// origin says in which other journal a call began, if in one; the id is zero where the log does not say.
func (r *Run) origin(intent *journal.Entry) (id journal.Digest, elsewhere bool) {
	r.log.view(func(h *journal.History, _ *journal.State) { id, elsewhere = h.Origin(intent.Seq) })
	return id, elsewhere
}

// invoker is what enters the module of a call, as it was entered where the call began; nil where there is none.
func (r *Run) invoker(ctx context.Context, intent *journal.Entry) (Invoker, error) {
	from, _ := r.origin(intent)
	if from.IsZero() || r.engine.cfg.Elsewhere == nil {
		return r.engine.cfg.Invoker, nil
	}
	return r.engine.cfg.Elsewhere(ctx, from)
}

// prepare returns when a module can be entered at once.
func (r *Run) prepare(ctx context.Context, module Module, with Invoker) error {
	if with == nil {
		return &hostError{errors.New("this program cannot enter modules")}
	}
	if p, ok := with.(Preparer); ok {
		if err := p.Prepare(ctx, module.Digest); err != nil {
			return r.notEntered(ctx, module, err)
		}
	}
	return nil
}

// limitOf returns the limit that ended a call, or nil when something else did.
func (r *Run) limitOf(ctx context.Context, err error) *toolabi.Error {
	var limit *toolabi.Error
	if r.stoppedBy() != nil || stops(err) || ctx.Err() == nil || !errors.As(context.Cause(ctx), &limit) {
		return nil
	}
	return limit
}

// notEntered is the error of a call that has no outcome.
func (r *Run) notEntered(ctx context.Context, module Module, err error) error {
	if stopped := r.stoppedBy(); stopped != nil {
		return stopped
	}
	if stops(err) {
		return err
	}
	if interrupted(ctx) {
		return r.ended(ctx)
	}
	return &hostError{fmt.Errorf("enter module %s (%s): %w", module.Name, module.Digest.Short(), err)}
}

// outcome judges how the guest ended.
func (f *frame) outcome(out toolabi.Outcome) (outcome, error) {
	r := f.run
	if out.Err != nil && out.Err.Code.IsLimit() && !f.isLive() {
		return outcome{}, &LimitError{Run: r.id, Step: f.step, Err: out.Err}
	}
	if n := r.recorded(f.step); n > f.asked() {
		return outcome{}, &DivergedError{
			Run: r.id, Step: f.step.Child(f.asked() + 1),
			What: fmt.Sprintf("the log holds %d host calls of this call, and the tool ended after %d", n, f.asked()),
		}
	}
	return f.ended(out), nil
}

// ended is what came of the call, by itself.
func (f *frame) ended(out toolabi.Outcome) outcome {
	if out.Err != nil && out.Err.Code == toolabi.LimitFuel {
		out.Err = f.outOfFuel(out.Err)
	}
	if out.Err != nil {
		return outcome{err: out.Err, fuel: out.Fuel}
	}
	return outcome{reply: out.Output, fuel: out.Fuel}
}

// recorded returns how many host calls the log holds of a call.
func (r *Run) recorded(call journal.Step) (n int) {
	r.log.view(func(h *journal.History, _ *journal.State) { n = h.Children(call) })
	return n
}

func (f *frame) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n
}

func (f *frame) isLive() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live
}

// startClock bounds the call's live time. What is answered from the log does not count, but is bounded by as much again.
func (f *frame) startClock(cancel context.CancelCauseFunc) {
	limit := f.limits.timeout()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limits.TimeoutMS = uint64(limit.Milliseconds())
	f.deadline = time.Now().Add(limit)
	f.clock = time.AfterFunc(limit, func() {
		cancel(toolabi.NewError(toolabi.LimitTime, fmt.Sprintf("the call used up its %s", limit)))
	})
}

// lived is how much of its live time a driver's call has used up; what it calls lives in it.
func (f *frame) lived() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.caller != nil || !f.live {
		return 0
	}
	return f.limits.timeout() - max(time.Until(f.deadline), 0)
}

func (f *frame) stopClock() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock.Stop()
}

// goLive notes that the log has ended, and that the own time of the call and of its callers begins.
func (f *frame) goLive() {
	if f == nil {
		return
	}
	f.mu.Lock()
	if !f.live && f.clock.Stop() { // else the limit was reached on the way here, and is the host's
		f.live = true
		limit := f.limits.timeout()
		f.deadline = time.Now().Add(limit)
		f.clock.Reset(limit)
	}
	f.mu.Unlock()
	f.caller.goLive()
}
