package interleave

import (
	"context"
	"errors"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
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
	shown   journal.Digest // of a person: what they answer to
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
		Journal: j, Invoker: guests{t, p}, Funcs: t.functions(p), Lease: leaseTime, Patience: -1,
		Drivers: map[string]runtime.DriverInfo{driverName: *t.driver(p)},
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
	case errors.Is(err, journal.ErrCancelled): // nothing is looked up any more
		return t.store.log.state.CancelAsked
	case errors.Is(err, runtime.ErrInterrupted), errors.Is(err, context.Canceled):
		return p.stopped
	case errors.As(err, &broken), errors.Is(err, journal.ErrUnusable):
		return p.spoiled || errors.Is(err, journal.ErrBusy)
	}
	return !t.owners && isAboutLease(err)
}
