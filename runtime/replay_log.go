package runtime

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// loadReadable reads a log as far as it can be read and keeps the rules, with the steps in the order in which it first names them.
// Beside a log the error is why that is not all of it.
func (e *Engine) loadReadable(ctx context.Context, run string) (*loaded, []journal.Step, error) {
	l := e.unread(run)
	var begun []journal.Step
	seen := map[journal.Step]bool{}
	for entry, err := range e.cfg.Journal.Read(ctx, run, 0) {
		if err == nil {
			err = l.fold(entry)
		}
		switch {
		case err != nil && (ctx.Err() != nil || l.history.Created().Kind == 0):
			return nil, nil, err
		case err != nil:
			return l, begun, err
		}
		// Of grants that cannot be read only what a module asks anew would be refused.
		_ = e.loadRecord(ctx, l, entry)
		if (entry.Kind == journal.Intent || entry.Kind == journal.Result) && !seen[entry.Step] {
			seen[entry.Step] = true
			begun = append(begun, entry.Step)
		}
	}
	return l, begun, nil
}

// inert is the engine with nothing that does anything: functions that only judge, a log and blobs that are only read, nobody who is
// told. Free functions are called as in every resume. What a function refuses is judged of another module alone: of the run's own the
// log says what was refused.
func (e *Engine) inert(opts ReplayOptions) *Engine {
	funcs := make(map[string]hostfuncs.Func, len(e.funcs))
	for name, f := range e.funcs {
		still := hostfuncs.Func{Name: f.Name, Class: f.Class, Bulky: f.Bulky}
		if f.Class == toolabi.Free {
			still.Call = f.Call
		}
		if len(opts.Tools) > 0 || name == toolabi.FuncToolCall { // which tells by the manifest what is called
			still.Check = f.Check
		}
		funcs[name] = still
	}
	quiet := &Engine{cfg: e.cfg, blobs: onlyRead{e.blobs}, identity: e.identity, funcs: funcs, driving: map[string]bool{}}
	quiet.cfg.Journal, quiet.cfg.Invoker = shutLog{e.cfg.Journal}, opts.Invoker
	quiet.cfg.Observe, quiet.cfg.Rescue, quiet.cfg.Policy = nil, nil, nil
	return quiet
}

var errReplayWrites = errors.New("a replay writes nothing")

// shutLog is a journal that nothing can be appended to.
type shutLog struct{ of journal.Journal }

func (shutLog) Append(context.Context, string, uint64, ...journal.Entry) error {
	return errReplayWrites
}

func (s shutLog) Read(ctx context.Context, run string, from uint64) iter.Seq2[journal.Entry, error] {
	return s.of.Read(ctx, run, from)
}

func (s shutLog) List(ctx context.Context, q journal.Query) iter.Seq2[journal.State, error] {
	return s.of.List(ctx, q)
}

func (shutLog) Close() error { return nil }

// onlyRead are blobs that nothing can be added to.
type onlyRead struct{ of journal.Blobs }

func (onlyRead) Put(context.Context, io.Reader) (d journal.Digest, n int64, err error) {
	return d, 0, errReplayWrites
}

func (b onlyRead) Open(ctx context.Context, d journal.Digest) (io.ReadCloser, error) {
	if b.of == nil {
		return nil, journal.ErrNotFound
	}
	return b.of.Open(ctx, d)
}

func (b onlyRead) Stat(ctx context.Context, d journal.Digest) (int64, error) {
	if b.of == nil {
		return 0, journal.ErrNotFound
	}
	return b.of.Stat(ctx, d)
}

// worthSaying are the steps of which a replay says something: calls, what the driver did itself, and questions that wait for an answer
// before there is a call.
func (p *replaying) worthSaying(begun []journal.Step) (steps []journal.Step) {
	for _, step := range begun {
		past := p.past(step)
		is := false
		switch known := past.Known(); {
		case !p.wanted(step):
		case len(p.opts.Tools) > 0:
			_, is = p.instead(known)
		case step.Asks() != "":
			_, call, _ := p.run.lookup(step.Asks())
			latest, _, _ := p.run.lookup(step)
			is = call == nil && latest == step && past.Open()
		default:
			is = entersModule(known) || step.Parent() == ""
		}
		if is {
			steps = append(steps, step)
		}
	}
	return steps
}

// wanted says whether a step is the one that is replayed, or inside of it.
func (p *replaying) wanted(step journal.Step) bool {
	want, step := p.opts.Step, step.Asked()
	if want == "" || step == want || step.Within(want) {
		return true
	}
	return want == want.WithoutAttempts() && insideOf(step, want)
}

// instead returns the module that is entered in the place of the one that an entry enters.
func (p *replaying) instead(known *journal.Entry) (Module, bool) {
	if !entersModule(known) {
		return Module{}, false
	}
	was, _, err := p.run.spec.tool(known.Name)
	if err != nil {
		return Module{}, false
	}
	for _, m := range p.opts.Tools {
		if m.own() == was.own() {
			now := was // with what the run lets it do
			now.Digest, now.Manifest = m.Digest, m.Manifest
			return now, true
		}
	}
	return Module{}, false
}

// past is what the log holds of this very attempt.
func (p *replaying) past(step journal.Step) (past journal.Past) {
	p.run.log.view(func(h *journal.History, _ *journal.State) {
		if it := h.Find(step); it != nil {
			past = *it
		}
	})
	return past
}

// hostCalls are those that the log holds of a call.
func (p *replaying) hostCalls(ctx context.Context, call journal.Step) []ReplayedHostCall {
	n := p.run.recorded(call)
	calls := make([]ReplayedHostCall, 0, n)
	for i := range n {
		step, past, _ := p.run.lookup(call.Child(i + 1))
		c := ReplayedHostCall{Step: step, Request: -1, Reply: -1}
		if past == nil { // somebody is asked about it
			calls = append(calls, c)
			continue
		}
		known := past.Known()
		c.Name, c.Class, c.Note = known.Name, toolabi.Class(known.Class), known.Note
		if in := past.Intent; in != nil {
			c.Began = in.Time
			if bulky := p.run.engine.funcs[in.Name].Bulky; !bulky {
				c.Request = sizeOf(*in)
			}
		}
		if out := past.Result; out != nil {
			c.Ended, c.Outcome, c.Reply = out.Known(), out.Outcome, sizeOf(*out)
			if out.Outcome != journal.OK {
				if failed, err := p.result(ctx, out); err == nil {
					c.Err = failed.Err
				}
			}
		}
		calls = append(calls, c)
	}
	return calls
}

func sizeOf(e journal.Entry) int64 {
	if e.Blob.IsZero() {
		return int64(len(e.Body))
	}
	return e.Size
}

// result is what a result entry says.
func (p *replaying) result(ctx context.Context, e *journal.Entry) (*ReplayedResult, error) {
	body, err := journal.Body(ctx, p.run.engine.blobs, *e)
	if err != nil {
		return nil, err
	}
	res := &ReplayedResult{Fuel: e.Fuel}
	if e.Outcome == journal.OK {
		res.Output = body
		return res, nil
	}
	res.Err = new(toolabi.Error)
	if err := toolabi.Decode(body, res.Err); err != nil {
		return nil, damaged(p.run.id, err)
	}
	return res, nil
}
