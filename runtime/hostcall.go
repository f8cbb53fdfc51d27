package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/failpoint"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// defaultSendTimeout is how long an effect may take when its function does not say.
const defaultSendTimeout = 30 * time.Second

// host answers one use of a host function by the guest of this call.
func (f *frame) host(ctx context.Context, name string, request []byte) (toolabi.Answer, error) {
	f.run.use(func(u *Usage) { u.HostCalls++ })
	fn, known := f.run.engine.funcs[name]
	if known && fn.Class == toolabi.Free {
		return f.free(ctx, fn, request), nil
	}
	if known && name == toolabi.FuncToolCall {
		return f.callTool(ctx, fn, request)
	}
	o := f.op(name, fn, known, request)
	defer f.run.workspaces.turn(ctx, name)()
	out, err := f.ask(ctx, o)
	if err != nil {
		return toolabi.Answer{}, err
	}
	f.answered(o, out)
	return toolabi.Answer{Reply: out.reply, Err: out.err, At: out.at}, nil
}

// answered notes what an answer means for those that follow. A request that is repeated because the outcome of one before
// is unknown is the same request, and has the same key, until it is known that it took place: that one repetition did not
// leave says nothing of the first.
func (f *frame) answered(o op, out outcome) {
	f.mu.Lock()
	switch {
	case out.err == nil, out.err.Effect == toolabi.EffectApplied:
		f.vague[o.digest] = false
	case out.err.Effect == toolabi.EffectUnknown:
		f.vague[o.digest] = true
	}
	if f.vague[o.digest] {
		f.seen[o.digest]--
	}
	f.mu.Unlock()
	if out.served && f.run.recorded(f.step) == f.asked() {
		f.goLive() // that was the last answer of the log
	}
}

// free calls a function that leaves no trace. While the call is still being answered from the log nothing is said to
// people, who have seen it before; the tool is answered as it was.
func (f *frame) free(ctx context.Context, fn hostfuncs.Func, request []byte) toolabi.Answer {
	c := f.hostCall(fn, nil)
	if f.run.recorded(f.step) > f.asked() {
		c.Log, c.Progress = nil, nil
	}
	reply, err := use(ctx, fn, c, request)
	if err != nil {
		return toolabi.Answer{Err: hostfuncs.AsError(err)}
	}
	return toolabi.Answer{Reply: reply}
}

// use calls a function. Its panic is an error like another: what it was doing may have been done.
func use(ctx context.Context, fn hostfuncs.Func, c hostfuncs.Call, request []byte) (reply []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			reply, err = nil, fmt.Errorf("host function %s panicked: %v", fn.Name, p)
		}
	}()
	return fn.Call(ctx, c, request)
}

// op makes a step of the use of a host function.
func (f *frame) op(name string, fn hostfuncs.Func, known bool, request []byte) op {
	digest := requestDigest(name, request)
	f.mu.Lock()
	f.n++
	f.seen[digest]++
	n, occurrence := f.n, f.seen[digest]
	f.mu.Unlock()
	o := op{step: f.step.Child(n), name: name, class: toolabi.Read, request: request, digest: digest, frame: f, bulky: fn.Bulky, room: &held{}}
	if !known {
		o.refused = toolabi.NewError(toolabi.Unsupported, fmt.Sprintf("this host does not have %s", name))
		return o
	}
	declared := f.tool.Declared()
	o.class = declared.Weaken(fn.Class)
	if fn.Describe != nil {
		o.note = fn.Describe(request)
	}
	o.timeout = defaultSendTimeout
	if fn.Timeout != nil {
		if t := fn.Timeout(request); t > 0 {
			o.timeout = t
		}
	}
	if fn.MaxReply != nil {
		o.reply = func() int64 { return fn.MaxReply(request) }
	}
	if o.class == toolabi.Effect || o.class == toolabi.Once {
		o.key = func() string { return idempotencyKey(f.run.engine.identity, f.run.id, f.step, digest, occurrence) }
		if fn.Class == toolabi.Once { // what gives the same when it is done again relies on nobody's memory of a key
			o.keyTTL = time.Duration(f.tool.KeyTTLMS) * time.Millisecond
		}
	}
	switch {
	case !declared.Allows(fn.Class):
		o.refused = toolabi.NewError(toolabi.Denied, fmt.Sprintf("%s is a %s function, and the tool declares itself %s", name, fn.Class, declared))
	case fn.Check != nil:
		if err := fn.Check(f.hostCall(fn, nil), request); err != nil {
			o.refused = readable(hostfuncs.AsError(err))
		}
	}
	o.pending = func() (hostfuncs.Pending, error) { return f.pending(fn, request) }
	o.perform = func(ctx context.Context, intent *journal.Entry) (outcome, error) {
		f.goLive()
		return f.do(ctx, fn, o, intent)
	}
	return o
}

// pending says what a function of class Wait waits for.
func (f *frame) pending(fn hostfuncs.Func, request []byte) (hostfuncs.Pending, error) {
	f.goLive()
	if fn.Await == nil {
		return hostfuncs.Pending{}, nil // somebody answers it
	}
	p, err := fn.Await(f.hostCall(fn, nil), request)
	if by := f.run.approveBy; err == nil && p.Due.IsZero() && !by.IsZero() && (p.Expires.IsZero() || by.Before(p.Expires)) {
		p.Expires = by
	}
	return p, err
}

// do calls the function.
func (f *frame) do(ctx context.Context, fn hostfuncs.Func, o op, intent *journal.Entry) (outcome, error) {
	if err := f.run.kept.fault(); err != nil {
		return outcome{unsent: true}, f.run.journalError(err)
	}
	send := sending{run: f.run, intent: intent}
	if o.keyTTL != 0 && f.repeats(o, intent) {
		send.expired = func() string { return f.run.expired(o, intent.Key) }
	}
	c := f.hostCall(fn, intent)
	c.BeforeSend = send.allow
	c.Sent = func(n int64) { send.sent = n }
	s := &holding{run: f.run, room: o.room}
	s.serve(ctx, &c)
	if err := f.run.restoreFor(ctx, fn.Name, c); err != nil {
		return outcome{unsent: true}, err
	}
	reply, err := use(ctx, fn, c, o.request)
	if failed := failpoint.Hit(failpoint.AfterHostCall); failed != nil {
		reply, err = nil, failed
	}
	if errors.Is(err, hostfuncs.ErrDamaged) {
		s.fail(ctx, fmt.Errorf("%w: %w", journal.ErrDamaged, err))
	}
	out, err := send.outcome(reply, err, toolabi.Internal)
	// What must not be repeated and has left is known by what the function says, or in doubt; it is not dropped.
	if fault := s.fault(); fault != nil && !(o.class == toolabi.Once && send.allowed) {
		out, err = outcome{unsent: !send.allowed}, fault
	}
	if out.holds = s; err == nil && out.err == nil && fn.Class == toolabi.Local {
		out.writes = s.staged()
	}
	return out, err
}

// repeats says whether an effect may have been sent under its key before: by this step, by a request that it repeats, or
// by an attempt of its call before this one.
func (f *frame) repeats(o op, intent *journal.Entry) bool {
	if intent == nil {
		return false
	}
	if intent.Step != intent.Step.WithoutAttempts() {
		uses := 0
		f.run.log.view(func(h *journal.History, _ *journal.State) { uses = len(h.Uses(intent.Key)) })
		if uses > 1 {
			return true
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return intent.Seq < f.run.from || f.vague[o.digest]
}

// hostCall says to a function who asks and what it may do.
func (f *frame) hostCall(fn hostfuncs.Func, intent *journal.Entry) hostfuncs.Call {
	r := f.run
	c := hostfuncs.Call{
		Run: r.id, Step: string(f.step), Module: f.module.own(), Tool: f.tool.Name, Grants: f.grants,
		Now: r.engine.cfg.Now, Repeatable: true,
		Log: func(level uint8, message string) {
			r.engine.observe(Event{Run: r.id, Step: f.step, Name: f.tool.Name, Phase: Said, Level: level, Text: message})
		},
		Progress: func(done, total uint64, message string) {
			text := message
			if total > 0 {
				text = fmt.Sprintf("%d/%d %s", done, total, message)
			}
			r.engine.observe(Event{Run: r.id, Step: f.step, Name: f.tool.Name, Phase: Progressed, Text: text, Done: done, Total: total})
		},
	}
	for _, want := range f.module.Manifest.Capabilities {
		if want.Name == fn.Name {
			c.Targets, c.Reason, c.Secrets = want.Targets, want.Reason, want.Secrets
		}
	}
	if intent != nil {
		c.Step, c.Key, c.Repeatable = string(intent.Step), intent.Key, intent.OnCut == journal.Redo
		c.Began = time.Unix(0, intent.Time)
	}
	return c
}
