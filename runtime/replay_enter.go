package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// replay says of one step how it compares. The error is the end of ctx.
func (p *replaying) replay(ctx context.Context, step journal.Step) (Replayed, error) {
	past := p.past(step)
	known := past.Known()
	res := Replayed{Step: step, Tool: known.Name, Recorded: toolabi.Digest(known.Module), Verdict: ReplayNot}
	if past.Intent != nil {
		res.Began = past.Intent.Time
	}
	var unread error
	if past.Result != nil {
		res.Ended = past.Result.Time
		res.Result, unread = p.result(ctx, past.Result)
	}
	if why := p.notEntered(&past); why != "" {
		res.Why = why
		return res, nil
	}
	res.HostCalls = p.hostCalls(ctx, step)
	res.Verdict = ReplayCannot
	if unread != nil {
		res.cannot(fmt.Errorf("its result cannot be read: %w", unread))
		return res, nil
	}
	e, err := p.entry(ctx, &past)
	if err != nil {
		res.cannot(err)
		return res, nil
	}
	e.judge(ctx, &res)
	if id, elsewhere := p.run.origin(past.Intent); elsewhere && id.IsZero() && res.Verdict.Differs() && !e.other && res.Why == "" {
		res.Why = "it was imported by an older version, which did not note from which journal: a module that uses randomness while it starts is not the same here"
	}
	for i := range e.served {
		res.HostCalls[i].Served = true
		if n := e.served[i]; n >= 0 {
			res.HostCalls[i].Request = n
		}
	}
	return res, interruption(ctx)
}

// cannot notes why a call cannot be replayed.
func (res *Replayed) cannot(err error) {
	res.Verdict, res.Why, res.Err = ReplayCannot, err.Error(), err
}

// interruption is ErrInterrupted once ctx has ended.
func interruption(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrInterrupted, context.Cause(ctx))
}

// notEntered says why no module was entered for a step, or none whose inside the log knows; "" where one was.
func (p *replaying) notEntered(past *journal.Past) string {
	known := past.Known()
	switch {
	case known.Step.Asks() != "":
		return "it waits for somebody to agree; nothing was entered yet"
	case known.Module.IsZero():
		return "it is a step of the driver's own: no module was entered"
	case past.Intent == nil:
		return "it was denied: no module was entered"
	case isOpaque(past.Intent):
		return "it is a program that could write to a directory: what it did there is not recorded"
	}
	module, _, err := p.run.spec.tool(known.Name)
	if now, other := p.instead(known); other {
		module = now
	}
	if c := module.Manifest.Command; err == nil && c != nil && len(c.Dirs) > 0 {
		return "it is a program that reads a directory: what it found there is not recorded"
	}
	return ""
}

// replayEntry is one time that a module is entered for a replay.
type replayEntry struct {
	p      *replaying
	past   *journal.Past
	frame  *frame
	input  []byte
	module Module  // the run's own
	other  bool    // another module is entered in its place
	served []int64 // of each host call that was answered: the length of its request
	want   int     // stop at this host call, with what is asked for there; 0 for none
	with   Invoker // enters it

	stop *replayStop
}

// replayStop is where a replay ends before the module does.
type replayStop struct {
	verdict ReplayVerdict
	at      int
	was     *journal.Entry // what the log holds there
	now     *ReplayedRequest
	why     string
	err     error // why it cannot go on
}

// errReplayStops unwinds a guest whose replay is over.
var errReplayStops = errors.New("the replay ends here")

// entry prepares to enter the module of a call.
func (p *replaying) entry(ctx context.Context, past *journal.Past) (*replayEntry, error) {
	intent := past.Intent
	module, tool, err := p.run.spec.tool(intent.Name)
	if err == nil && journal.Digest(module.Digest) != intent.Module {
		err = fmt.Errorf("the run is made of another module %s (digest %s) than the call entered (%s)", module.Name, module.Digest.Short(), intent.Module.Short())
	}
	if err != nil {
		return nil, err
	}
	e := &replayEntry{p: p, past: past, module: module}
	if e.input, err = journal.Body(ctx, p.run.engine.blobs, *intent); err != nil {
		return nil, fmt.Errorf("its input cannot be read: %w", err)
	}
	if now, other := p.instead(intent); other {
		e.other = true
		module = now
		tool, _ = now.Manifest.Tool(tool.Name)
	}
	if e.with, err = p.run.invoker(ctx, intent); err != nil {
		return nil, err
	}
	e.frame = p.run.newFrame(nil, module, tool, intent.Step)
	e.frame.ask = e.ask
	if max := uint64(p.opts.Timeout.Milliseconds()); max > 0 {
		e.frame.limits.Limits = e.frame.limits.Tighten(toolabi.Limits{TimeoutMS: min(max, uint64(e.frame.limits.timeout().Milliseconds()))})
	}
	return e, nil
}

// unfit says why the module that was given would not be entered, or not at once; "" for the run's own, whose log says.
func (e *replayEntry) unfit() string {
	if !e.other {
		return ""
	}
	f := e.frame
	name := f.module.Name + "." + f.tool.Name
	_, was, _ := e.p.run.spec.tool(e.past.Intent.Name)
	switch {
	case f.tool.Name == "":
		return fmt.Sprintf("%s %s has no tool %s", f.module.own(), f.module.Manifest.Version, was.Name)
	case f.tool.Approval && !was.Approval:
		return name + " asks for somebody to agree before each call, and did not before"
	}
	if refused := f.run.engine.judgeInput(name, f.tool, e.input); refused != nil {
		return refused.Message
	}
	return ""
}

// enter enters the module. What it computes is bounded by the call's limits.
func (e *replayEntry) enter(ctx context.Context) (toolabi.Outcome, error) {
	f := e.frame
	if gone := e.p.gone[f.module.Digest]; gone != nil {
		return toolabi.Outcome{}, gone
	}
	if with, ok := e.with.(Preparer); ok {
		if err := with.Prepare(ctx, f.module.Digest); err != nil {
			if ctx.Err() == nil {
				e.p.gone[f.module.Digest] = err
			}
			return toolabi.Outcome{}, err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f.startClock(cancel)
	defer f.stopClock()
	out, err := e.with.Invoke(ctx, f.invocation(e.input, e.past.Intent, nil), f.host)
	if limit := cutBy(ctx); err != nil && limit != nil {
		return toolabi.Outcome{Err: limit}, nil
	}
	return out, err
}

// ask answers a host call from the log, or ends the replay. It is the recovery table for a log that is only read.
func (e *replayEntry) ask(ctx context.Context, o op) (outcome, error) {
	r, n := e.frame.run, o.step.Ordinal()
	step, past, _ := r.lookup(o.step)
	now := &ReplayedRequest{Name: o.name, Digest: o.digest, Request: append([]byte{}, o.request...), Called: o.enters()}
	end := func(v ReplayVerdict, was *journal.Entry, why string) (outcome, error) {
		e.stop = &replayStop{verdict: v, at: n, was: was, now: now, why: why}
		return outcome{}, errReplayStops
	}
	cannot := func(was *journal.Entry, err error) (outcome, error) {
		e.stop = &replayStop{verdict: ReplayCannot, at: n, was: was, now: now, why: err.Error(), err: err}
		return outcome{}, errReplayStops
	}
	switch {
	case n == e.want:
		return end(ReplayOpen, nil, "")
	case past == nil && n <= r.recorded(e.frame.step):
		return end(ReplayOpen, nil, "somebody is asked whether that may begin")
	case past == nil && !e.endedByItself(ctx):
		return end(ReplayOpen, nil, "")
	case past == nil:
		return end(ReplayMore, nil, "")
	}
	known := past.Known()
	if e.refusedSecret(ctx, past.Result) {
		now.Request = nil
	}
	if e.other && o.refused != nil && !e.refusedThen(ctx, past.Result, o.refused) {
		return end(ReplayRefused, known, o.refused.Message)
	}
	asked, err := r.asAgreed(ctx, o, known)
	if err == nil {
		err = r.same(asked, step, known)
	}
	var diverged *DivergedError
	if errors.As(err, &diverged) {
		return end(ReplayRequest, known, diverged.What)
	}
	if err != nil {
		return cannot(known, err)
	}
	if past.Result == nil || past.Result.Retry {
		return end(ReplayOpen, known, "")
	}
	out, err := r.serve(ctx, asked, step, *past.Result)
	if err != nil {
		return cannot(known, fmt.Errorf("the outcome of %s cannot be read: %w", step, err))
	}
	for len(e.served) < n {
		e.served = append(e.served, -1)
	}
	e.served[n-1] = int64(len(asked.request))
	return out, nil
}

// refusedThen says whether the log holds the same refusal.
func (e *replayEntry) refusedThen(ctx context.Context, result *journal.Entry, now *toolabi.Error) bool {
	if result == nil {
		return false
	}
	was, err := e.p.result(ctx, result)
	return err == nil && was.Err != nil && was.Err.Code == now.Code && was.Err.Message == now.Message
}

// endedByItself says whether the log holds an end of the call that was the module's own.
func (e *replayEntry) endedByItself(ctx context.Context) bool {
	if e.past.Result == nil {
		return false
	}
	was, err := e.p.result(ctx, e.past.Result)
	return err == nil && hostEnded(was.Err) == ""
}

// tell says where the replay ended before the module did.
func (e *replayEntry) tell(ctx context.Context, res *Replayed) {
	s := e.stop
	res.Verdict, res.At, res.Now, res.Why, res.Err = s.verdict, s.at, s.now, s.why, s.err
	if s.was != nil {
		res.Was = e.recorded(ctx, s.was)
	}
	if s.verdict == ReplayOpen && res.Result != nil && res.Why == "" {
		res.Why = hostEnded(res.Result.Err)
	}
}

// recorded is a request that the log holds. Where that is a digest only, the run's own module is entered to hear it.
func (e *replayEntry) recorded(ctx context.Context, known *journal.Entry) *ReplayedRequest {
	was := &ReplayedRequest{Name: known.Name, Digest: known.Request, Called: entersModule(known)}
	if bulky := e.p.run.engine.funcs[known.Name].Bulky; known.Kind == journal.Intent && !bulky {
		if body, err := journal.Body(ctx, e.p.run.engine.blobs, *known); err == nil {
			was.Request = body
			if was.Request == nil {
				was.Request = []byte{}
			}
		}
		return was
	}
	if !e.other || known.Kind == journal.Result && e.refusedSecret(ctx, known) {
		return was
	}
	_, tool, err := e.p.run.spec.tool(e.past.Intent.Name)
	if err != nil {
		return was
	}
	own := &replayEntry{p: e.p, past: e.past, module: e.module, input: e.input, with: e.with, want: known.Step.Ordinal()}
	own.frame = e.p.run.newFrame(nil, e.module, tool, e.past.Intent.Step)
	own.frame.ask = own.ask
	if _, err := own.enter(ctx); err != nil && own.stop != nil && own.stop.now.Digest == known.Request {
		was.Request = own.stop.now.Request
	}
	return was
}
