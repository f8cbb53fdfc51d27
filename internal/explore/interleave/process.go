package interleave

import (
	"context"
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// process is one life of a program: an engine of its own on a handle of its own. Its fields are guarded by the trial's mu.
type process struct {
	name     string
	engine   *runtime.Engine
	handle   *handle
	isPerson bool
	free     bool // it is not scheduled: it only replays

	dead    bool
	asleep  bool // it stands still, as after SIGSTOP
	spoiled bool // its journal has reported an error, so that it ends when its drive does
	driving bool
	cancel  context.CancelFunc // interrupts the drive
	stopped bool               // it was interrupted
	rescued []string
}

var errDead = errors.New("the process was killed")

// begin makes a process.
func (t *trial) begin(name string) *process {
	p := &process{name: name}
	p.handle = &handle{t: t, p: p}
	var j journal.Journal = p.handle
	if t.owners {
		j = owning{p.handle}
	}
	e, err := runtime.New(runtime.Config{
		Journal: j, Invoker: guests{t, p}, Funcs: t.functions(p), Lease: leaseTime,
		Rescue: func(_ string, _ journal.Step, reply []byte) {
			t.mu.Lock()
			defer t.mu.Unlock()
			p.rescued = append(p.rescued, string(reply))
		},
	})
	if err != nil {
		panic(err) // the configuration is ours
	}
	p.engine = e
	return p
}

// functions are the host functions of a process.
func (t *trial) functions(p *process) []hostfuncs.Func {
	return []hostfuncs.Func{
		{
			Name: toolabi.FuncHTTPSend, Class: toolabi.Once, Timeout: sendsFor,
			Call: func(ctx context.Context, c hostfuncs.Call, body []byte) ([]byte, error) {
				return t.send(ctx, p, request{
					step: journal.Step(c.Step), body: string(body), key: c.Key, again: c.Repeatable, promise: t.scenario.promise(c.Tool), beforeSend: c.BeforeSend,
				})
			},
		},
		{
			Name: toolabi.FuncClock, Class: toolabi.Read,
			Call: func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
				t.began(p, "a read", c.Step)
				t.mu.Lock()
				defer t.mu.Unlock()
				t.reads++
				return fmt.Appendf(nil, "r%d", t.reads), nil
			},
		},
	}
}

// drive lets a process drive the run. The caller holds mu.
func (t *trial) drive(p *process) {
	ctx, cancel := context.WithCancel(context.Background())
	p.driving, p.stopped, p.cancel = true, false, cancel
	t.tasks++
	t.drives++
	go func() {
		defer cancel()
		res, err := t.startAndDrive(ctx, p)
		t.mu.Lock()
		defer t.mu.Unlock()
		p.driving = false
		t.tasks--
		if p.dead {
			return
		}
		t.driven(p, res, err)
		if p.spoiled {
			t.end(p)
		}
	}()
}

func (t *trial) startAndDrive(ctx context.Context, p *process) (runtime.Result, error) {
	spec, modules := t.scenario.spec()
	if _, err := p.engine.Start(ctx, runID, spec, modules, true); err != nil {
		return runtime.Result{}, err
	}
	return p.engine.Drive(ctx, runID, runtime.DriveOptions{Driver: t.driver(p)})
}

func (t *trial) driver(p *process) *runtime.DriverInfo {
	return &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return t.scenario.drive(&drive{t: t, p: p, ctx: ctx, run: r})
	}}
}

// end ends a process: what it has deferred is lost, what it waits for never comes. The caller holds mu.
func (t *trial) end(p *process) {
	p.dead = true
	if _, known := t.store.owners[p.name]; known {
		t.store.owners[p.name] = journal.Dead
	}
	for _, w := range append([]*waiter(nil), t.waiters...) {
		if w.p == p {
			t.release(w, dead)
		}
	}
}

// spoil notes that a process has learned of an error of its journal.
func (t *trial) spoil(p *process) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.spoiled = true
}

// expected says whether a drive may end with this error. The caller holds mu.
func (t *trial) expected(p *process, err error) bool {
	var (
		failed      *runtime.FailedError
		waiting     *runtime.WaitingError
		uncertain   *runtime.UncertainError
		unconfirmed *runtime.UnconfirmedError
		late        *runtime.LateError
		busy        *runtime.BusyError
		broken      *runtime.JournalError
	)
	switch {
	case err == nil, errors.As(err, &failed), errors.As(err, &waiting), errors.As(err, &uncertain),
		errors.As(err, &unconfirmed), errors.As(err, &late), errors.As(err, &busy):
		return true
	case errors.Is(err, runtime.ErrInterrupted), errors.Is(err, context.Canceled):
		return p.stopped
	case errors.As(err, &broken), errors.Is(err, journal.ErrUnusable):
		return p.spoiled || errors.Is(err, journal.ErrBusy)
	}
	return !t.owners && isAboutLease(err)
}
