package tooltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// maxLives is how many processes a call may take.
const maxLives = 50

// playing is one trial while it is played.
type playing struct {
	*trial
	stage *Stage
	mem   *journaltest.Mem

	mu   sync.Mutex // guards the log and the appends of the trial while it is played
	seen int        // guarded by mu: events of the world that are in the log
}

// play plays the case with something done to it. An error is a fault of the host.
func (x *crashing) play(ctx context.Context, m Moment, set Setting) (t *trial, err error) {
	set.World, set.NoTimers = x.disturbed(m), true
	stage, err := x.bench.Stage(x.file, x.c, set)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stage.Close()) }()
	p := &playing{trial: &trial{moment: m, state: map[string]string{}}, stage: stage, mem: journaltest.NewMem()}
	if err := stage.Prepare(ctx, p.mem.Handle()); err != nil {
		return nil, err
	}
	if err := p.live(ctx); err != nil {
		return nil, err
	}
	if at := stage.Live.Late(); !at.IsZero() {
		stage.clock.Jump(at)
	}
	if p.look(); p.stuck == nil && m.Kind == Undone {
		p.undo(ctx)
	}
	return p.trial, p.leave(ctx)
}

// disturbed is the world with the fault of a moment, nil for the one that the case has.
func (x *crashing) disturbed(m Moment) *world.World {
	if m.Kind != GoesWrong {
		return nil
	}
	s := x.jury.base.sent()[m.Request-1]
	if s.Kind != world.KindMail {
		return x.world.WithFault(s.Route, s.answer, m.Fault)
	}
	fate := world.Lost
	if m.Fault == world.Refused {
		fate = world.Refuse
	}
	return x.world.WithMail(s.answer, fate)
}

// live drives the call, through as many lives as it takes, to its end.
func (p *playing) live(ctx context.Context) error {
	for n := range maxLives {
		handle := &noting{Store: p.mem.Handle(), p: p, first: n == 0}
		crasher := journaltest.CrashBefore(handle, 0)
		if n == 0 && p.moment.isCrash() {
			if crasher = journaltest.CrashBefore(handle, p.moment.Append); p.moment.After {
				crasher = journaltest.CrashAfter(handle, p.moment.Append)
			}
		}
		end, err := p.stage.Drive(ctx, crasher)
		p.look()
		uncertain := err == nil && end.Uncertain != nil
		if uncertain {
			err = p.settle(ctx, crasher, end.Uncertain)
			p.look()
		}
		switch {
		case crasher.Crashed():
			p.died(ctx)
			continue
		case uncertain && err == nil:
			p.byHarness++
		case err == nil:
			p.output, p.failed = end.Output, end.Err
			if end.Waits != nil {
				p.output = fmt.Appendf(nil, "%q", "waits: "+end.Waits.Text)
			}
			return crasher.Close()
		default:
			p.stuck = err
			return errors.Join(ctx.Err(), crasher.Close())
		}
		if err := crasher.Close(); err != nil {
			return err
		}
	}
	p.stuck = fmt.Errorf("it is not over after %d resumes", maxLives)
	return nil
}

// look moves what the world saw since the last look into the log.
func (p *playing) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lookOnce()
}

// lookOnce wants mu held.
func (p *playing) lookOnce() {
	all := p.stage.Live.Seen()
	for i := range all[p.seen:] {
		p.log = append(p.log, happening{event: &all[p.seen+i]})
	}
	p.seen = len(all)
}

// did notes what was done to the call.
func (p *playing) did(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, happening{did: what})
}

// died notes that the process died, and gives back to the world what it had read and not written down.
func (p *playing) died(ctx context.Context) {
	p.did("the process dies, and the next one resumes")
	recorded := 0
	for e, err := range p.mem.Handle().Read(ctx, RunID, 0) {
		if err != nil {
			break // the run was not written
		}
		if e.Kind == journal.Result && e.Name == toolabi.FuncHTTPFetch && e.Outcome == journal.OK {
			recorded++
		}
	}
	p.stage.unread(recorded)
}

// settle says what became of an effect, as the world knows it. What is still to act does so first.
func (p *playing) settle(ctx context.Context, store journaltest.Store, u *runtime.UncertainError) error {
	if u.Program() {
		return errors.New("nobody can see what a program did")
	}
	if at := p.stage.Live.Late(); !at.IsZero() {
		p.stage.clock.Jump(at)
	}
	p.look()
	e, err := p.stage.engine(store)
	if err != nil {
		return err
	}
	res := runtime.Resolution{Now: true, By: "the test"}
	for _, h := range p.log {
		if h.event != nil && h.event.Acted && keyOf(*h.event) == u.Intent.Key {
			res.Happened, res.Now = true, false
			if res.Reply, err = p.replied(e, *h.event); err != nil {
				return err
			}
		}
	}
	p.did(map[bool]string{true: "the test says: it happened", false: "the test says: it did not happen"}[res.Happened])
	return e.Resolve(ctx, RunID, u.Step, res)
}

// replied is what an effect was answered, or would have been.
func (p *playing) replied(e *runtime.Engine, ev world.Event) ([]byte, error) {
	if ev.Kind == world.KindMail {
		return e.ParseReply(toolabi.FuncMailSend, fmt.Appendf(nil, `{"message_id":%q}`, ev.Key))
	}
	reply, ok := p.stage.Live.Replied(keyOf(ev))
	if !ok {
		return nil, fmt.Errorf("the world does not know what it replied to %s", whatWas(ev))
	}
	said, err := reply.Said()
	if err != nil {
		return nil, err
	}
	return e.ParseReply(toolabi.FuncHTTPSend, said)
}

// undo undoes the run, as wrun rollback does.
func (p *playing) undo(ctx context.Context) {
	handle := &noting{Store: p.mem.Handle(), p: p}
	defer handle.Close()
	p.did("it is undone")
	e, err := p.stage.engine(handle)
	if err == nil {
		if _, err = e.Rollback(ctx, RunID, "the test", ""); err == nil {
			var end End
			if end, err = p.stage.drive(ctx, e, runtime.RollbackOf(RunID)); err == nil && end.Err != nil {
				err = end.Err
			}
		}
	}
	if p.look(); err != nil && !errors.Is(err, runtime.ErrNothingToUndo) {
		p.stuck = err
	}
}

// leave reads what the call has left: the stores and the workspace.
func (p *playing) leave(ctx context.Context) error {
	store := p.mem.Handle()
	defer store.Close()
	for _, g := range p.stage.grants.KV {
		for item, err := range store.Scan(ctx, storeSpace(g.Store), "", "") {
			if err != nil {
				return err
			}
			p.state["store "+g.Store+": "+item.Key] = string(item.Value)
		}
	}
	err := p.stage.eachFile(func(path string, content []byte) { p.state["file "+path] = string(content) })
	if err != nil {
		return err
	}
	p.marks, err = p.stage.marks(ctx, store, End{Output: p.output, Err: p.failed})
	return err
}

// noting notes what is appended.
type noting struct {
	journaltest.Store
	p     *playing
	first bool // the life is the first
}

// Kill passes a death on.
func (n *noting) Kill() {
	if k, ok := n.Store.(interface{ Kill() }); ok {
		k.Kill()
	}
}

// Append notes what the world saw before, and what is written.
func (n *noting) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) error {
	n.p.mu.Lock()
	defer n.p.mu.Unlock()
	n.p.lookOnce()
	if n.first {
		n.p.appends = append(n.p.appends, slices.Clone(entries))
	}
	err := n.Store.Append(ctx, run, at, entries...)
	if err == nil {
		for _, e := range entries {
			n.p.log = append(n.p.log, happening{entry: &e})
		}
	}
	return err
}
