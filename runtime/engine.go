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

// Invoker enters a module. The real one is sandbox.Sandbox; tests use a plain Go one. Invoke may be called concurrently.
//
// It returns an error when the call has no outcome: whatever error host returned, context.Cause(ctx) when that is not
// a *toolabi.Error, or a fault of the host. A context whose cause is a *toolabi.Error ends the guest with that error
// as its outcome.
type Invoker interface {
	Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error)
}

// Preparer is an Invoker that takes time before it first enters a module. That time is not the call's.
type Preparer interface {
	// Prepare returns when the module can be entered at once.
	Prepare(ctx context.Context, module toolabi.Digest) error
}

// Driver decides a run's next steps, by calling methods of r, and returns the run's output. It must ask for the same
// steps in the same order when it is run again and gets the same answers; steps that run in parallel are told apart by
// their names. Effects of its own belong into Run.Do. A step that the log does not hold is executed when it is asked for,
// since another branch may come to the recorded ones yet; recorded steps that were never asked for show as a divergence
// at the end.
//
// An error that came from r ends the driving as it says; any other error fails the run.
type Driver func(ctx context.Context, r *Run) (output []byte, err error)

// DriverInfo is a driver and its version. A run that began with another version diverges.
type DriverInfo struct {
	Version string
	Drive   Driver
}

// Config makes an Engine. Journal is mandatory; a journal that is a journal.Blobs, Owners, Identity, KV or Room besides is
// used as such.
type Config struct {
	Journal journal.Journal
	// Invoker enters modules; without one no tool can be called.
	Invoker Invoker
	// Elsewhere returns what enters modules as they were entered in the journal of another id, for calls that began there: what a
	// module sees of randomness while it starts depends on it. nil leaves them to Invoker.
	Elsewhere func(ctx context.Context, journal journal.Digest) (Invoker, error)
	// Funcs are the host functions that tools may use.
	Funcs []hostfuncs.Func
	// Drivers are the drivers by name, for runs that are resumed by their id alone.
	Drivers map[string]DriverInfo
	// Now tells the time; nil means time.Now.
	Now func() time.Time
	// RideAlong is how long an outcome that may be lost without harm waits for the next append; 0 means 3 ms.
	RideAlong time.Duration
	// Lease is how long a claim lasts in a journal that cannot tell whether its owner lives; 0 means one minute.
	Lease time.Duration
	// Observe is told of each step as it is served, begun and ended, and of each run as it is claimed and let go of. It is called
	// concurrently and must return at once.
	Observe func(Event)
	// Policy decides whether a call may begin; nil leaves it to the manifests.
	Policy Policy
	// Patience is how long a sleep may be that is waited for without suspending the run; 0 means one second, a negative
	// one that none is.
	Patience time.Duration
	// Grace is how long an effect that must not be repeated, or one of the driver's own, may still be on its way once the
	// context of Drive has ended; 0 means 750 ms. Then it is given up, and in doubt unless it may be repeated.
	Grace time.Duration
	// RunQuota is how many bytes a run may take in the journal, its entries with their bodies and its artifacts, and JournalQuota
	// how many the journal may take in all, before a run stops with a *QuotaError; 0 means no such limit. They are looked at before
	// a step begins: what has begun is recorded whatever it takes. The second needs a journal that is a journal.Sizer.
	RunQuota, JournalQuota int64
	// Secrets knows the values that are written nowhere. It is the vault of Funcs; nil knows none.
	Secrets *hostfuncs.Vault
	// Rescue is given a reply that came and could not be recorded, so that it is not lost. nil saves it in a file of RescueDir, or
	// else of the system's directory for temporary files, and Drive returns an *UnrecordedError that names it.
	Rescue    func(run string, step journal.Step, reply []byte)
	RescueDir string
}

// Event is what Observe is told.
type Event struct {
	Run  string
	Step journal.Step
	// Name is what the step calls, Class what it does.
	Name  string
	Class toolabi.Class
	// Phase says which moment it is.
	Phase Phase
	// Err is the step's error, when it has one.
	Err *toolabi.Error
	// Text is a log line, a progress report or a description.
	Text string
	// Level is the level of a log line.
	Level uint8
	// Began is when what is begun or has ended was announced in the log, perhaps by a process that has died since; zero for a step that
	// is not announced. Of Driven and LetGo it is when the run was created.
	Began time.Time
	// Request is what a step asks for, of Begun and Ended, and nil where it was refused; Reply is what came of one that succeeded, of
	// Ended. They are in the form in which a journal holds them, and must not be changed.
	Request, Reply []byte
	// Driver is the run's driver, of Driven and LetGo.
	Driver string
	// Finished says that the run is over, and Outcome what came of driving it: the word of a journal.Outcome when it is over, else that of
	// a journal.Released, why it was let go of. Of LetGo.
	Finished bool
	Outcome  string
	// Time is when it was, by the engine's clock.
	Time time.Time
	// Size is how many bytes an outcome has that is served or ended: those of the reply, 0 for an error.
	Size int64
	// Fuel is how much a call computed that ended, in units of whoever entered the module; 0 where that is not counted.
	Fuel uint64
	// Done and Total are how far a tool said that it is, in a unit of its own; Total is 0 where it did not say of how much. Text says it too.
	Done, Total uint64
}

// Phase is a moment in the life of a step.
type Phase uint8

// The moments.
const (
	// Begun: the step is executed now.
	Begun Phase = iota + 1
	// Ended: it has an outcome.
	Ended
	// Served: its outcome came from the log; nothing was executed.
	Served
	// Said: a tool wrote a log line, or printed one to its standard output or error; what it printed is known when it has ended.
	Said
	// Progressed: a tool said how far it is.
	Progressed
	// Driven: a run is claimed, and goes on.
	Driven
	// LetGo: it is driven no more.
	LetGo
)

// Engine drives the runs of one journal. It may be used concurrently.
type Engine struct {
	cfg      Config
	blobs    journal.Blobs
	kv       journal.KV
	owners   journal.Owners
	room     journal.Room // nil where nothing can be held
	sizer    journal.Sizer
	identity journal.Digest
	funcs    map[string]hostfuncs.Func
	schemas  schemas

	mu      sync.Mutex
	driving map[string]bool // guarded by mu: the runs that this engine drives now
	owner   string          // guarded by mu: this process's id, "" until it claims a run
}

// New returns an engine. A journal's handle belongs to one engine: two on the same handle would count as one owner.
func New(cfg Config) (*Engine, error) {
	if cfg.Journal == nil {
		return nil, errors.New("runtime: Config.Journal is missing")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.RideAlong == 0 {
		cfg.RideAlong = 3 * time.Millisecond
	}
	if cfg.Lease == 0 {
		cfg.Lease = time.Minute
	}
	if cfg.Patience == 0 {
		cfg.Patience = time.Second
	}
	if cfg.Grace == 0 {
		cfg.Grace = 750 * time.Millisecond
	}
	e := &Engine{cfg: cfg, funcs: map[string]hostfuncs.Func{}, driving: map[string]bool{}}
	for _, f := range cfg.Funcs {
		if f.Call == nil && f.Class != toolabi.Wait && f.Class != toolabi.Call {
			return nil, fmt.Errorf("runtime: host function %s does nothing", f.Name)
		}
		if _, ok := e.funcs[f.Name]; ok {
			return nil, fmt.Errorf("runtime: host function %s is given twice", f.Name)
		}
		e.funcs[f.Name] = f
	}
	e.blobs, _ = cfg.Journal.(journal.Blobs)
	e.kv, _ = cfg.Journal.(journal.KV)
	e.owners, _ = cfg.Journal.(journal.Owners)
	e.room, _ = cfg.Journal.(journal.Room)
	e.sizer, _ = cfg.Journal.(journal.Sizer)
	if cfg.RunQuota < 0 || cfg.JournalQuota < 0 {
		return nil, fmt.Errorf("runtime: a quota of less than nothing: %d and %d bytes", cfg.RunQuota, cfg.JournalQuota)
	}
	if cfg.JournalQuota > 0 && e.sizer == nil {
		return nil, errors.New("runtime: Config.JournalQuota needs a journal that says how much it takes")
	}
	if e.owners == nil {
		e.owner = randomOwner()
	}
	if i, ok := cfg.Journal.(journal.Identity); ok {
		id, err := i.ID()
		if err != nil {
			return nil, fmt.Errorf("read the journal's id: %w", err)
		}
		e.identity = id
	}
	return e, nil
}

func (e *Engine) observe(ev Event) {
	if e.cfg.Observe != nil {
		ev.Time = e.cfg.Now()
		ev.Text, ev.Err = e.cfg.Secrets.HideText(ev.Text), e.cfg.Secrets.HideError(ev.Err)
		e.cfg.Observe(ev)
	}
}

// state returns the folded log of a run. Errors: journal.ErrNotFound.
func (e *Engine) state(ctx context.Context, run string) (*journal.State, error) {
	for s, err := range e.cfg.Journal.List(ctx, journal.Query{Run: run}) {
		if err != nil {
			return nil, err
		}
		return &s, nil
	}
	return nil, fmt.Errorf("run %s: %w", run, journal.ErrNotFound)
}
