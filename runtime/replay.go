package runtime

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// ReplayOptions says what is replayed, and with what. The zero value is every call of a run with the modules of the run.
type ReplayOptions struct {
	// Step is replayed, with all that is inside of it and in all attempts unless it names one; "" is the whole run.
	Step journal.Step
	// Tools are entered in the place of the run's modules that have the same name in their manifests, whatever the driver
	// calls these. The calls of other modules are then left out. Config.Invoker can enter them.
	Tools []Module
	// Timeout bounds how long each call may compute where its own limit is longer; 0 leaves it at that.
	Timeout time.Duration
	// Invoker enters the modules of calls that were made in this journal; nil is that of the engine.
	Invoker Invoker
}

// ReplayVerdict says how a call that was entered once more compares with what the log holds of it.
type ReplayVerdict string

// The verdicts.
const (
	// ReplaySame: it asked for the same and came to the same.
	ReplaySame ReplayVerdict = "same"
	// ReplayOpen: it asked for the same as far as the log goes, which holds no end of the call, or one that was not the module's.
	ReplayOpen ReplayVerdict = "same so far"
	// ReplayNot: no module was entered, or one of whose inside the log knows nothing. Replayed.Why says which.
	ReplayNot ReplayVerdict = "not replayed"
	// ReplayCannot: it should have been entered, and could not be, or not to an end. Replayed.Why says why.
	ReplayCannot ReplayVerdict = "cannot be replayed"
	// ReplayResult: it asked for the same and came to something else.
	ReplayResult ReplayVerdict = "other result"
	// ReplayRequest: host call Replayed.At is another one than the log holds.
	ReplayRequest ReplayVerdict = "other request"
	// ReplayMore: it asks for host call Replayed.At, and had ended by then.
	ReplayMore ReplayVerdict = "asks for more"
	// ReplayLess: it ended without asking for host call Replayed.At and those behind it.
	ReplayLess ReplayVerdict = "asks for less"
	// ReplayRefused: the module that was to be entered instead would not be, or its host call Replayed.At would be refused.
	ReplayRefused ReplayVerdict = "would be refused"
)

// Differs says whether the call did not do what the log holds.
func (v ReplayVerdict) Differs() bool {
	return v == ReplayResult || v == ReplayRequest || v == ReplayMore || v == ReplayLess || v == ReplayRefused
}

// Replayed is what came of one call.
type Replayed struct {
	// Step is the call, with its attempt.
	Step journal.Step
	// Tool is its full name, "module.tool", or what else the step is.
	Tool string
	// Recorded is the module that the log names, Module the one that was entered; zero where there is none.
	Recorded, Module toolabi.Digest
	Verdict          ReplayVerdict
	// At is the host call that Verdict is about, counted from 1 as in steps; 0 for none. Of ReplayOpen it is the one at which the log
	// ends.
	At int
	// Was is what the log holds at At, Now what was asked for there; nil for nothing.
	Was, Now *ReplayedRequest
	// Result is what the log holds, Came what came of the call now; nil for nothing.
	Result, Came *ReplayedResult
	// Why says more, for people; "" where there is no more to say.
	Why string
	// Err is why it cannot be replayed: journal.ErrDamaged where a part of the log or the module is gone, the sandbox's own of a module
	// that it does not take. nil where no error is the reason.
	Err error
	// Began and Ended are when the log says that the call did, in nanoseconds since 1970-01-01 UTC; 0 for not.
	Began, Ended int64
	// HostCalls are those that the log holds of the call, in order.
	HostCalls []ReplayedHostCall
}

// ReplayedRequest is one request of a host function.
type ReplayedRequest struct {
	// Name is the function, or the tool that is called.
	Name string
	// Digest is that of name and request, as in the log.
	Digest journal.Digest
	// Request is the encoded request, or the input of the tool that is called; nil where the log holds only the digest of it.
	Request []byte
	// Called says that Request is the input of a tool.
	Called bool
}

// ReplayedResult is how a call ended.
type ReplayedResult struct {
	// Output is JSON; Err is set instead when the call failed.
	Output []byte
	Err    *toolabi.Error
	// Fuel is how much it computed; 0 where that was not counted.
	Fuel uint64
}

// ReplayedHostCall is what the log holds of one host call.
type ReplayedHostCall struct {
	// Step is its last attempt.
	Step journal.Step
	// Name is the function, or the tool that was called.
	Name string
	// Class is how it was written down.
	Class toolabi.Class
	// Note says what was asked for, for people.
	Note string
	// Began is when it was announced, 0 for what is not; Ended when its outcome became known, 0 for not yet. Nanoseconds since
	// 1970-01-01 UTC.
	Began, Ended int64
	// Request and Reply are lengths in bytes; -1 where they are not known.
	Request, Reply int64
	// Outcome is that of its result; 0 for none yet. Err is how it failed.
	Outcome journal.Outcome
	Err     *toolabi.Error
	// Served says that the replay was answered with it.
	Served bool
}

// NotInRunError says that a run has no module of a name.
type NotInRunError struct {
	Run, Name string
	// Has are the names in the manifests of its modules.
	Has []string
}

// Error says which there are.
func (e *NotInRunError) Error() string {
	return fmt.Sprintf("run %s has no module %s; it has %s", e.Run, e.Name, strings.Join(e.Has, ", "))
}

// Replay enters the modules of a run's calls once more, answers what they ask of the host from the log, and yields how each call
// compares with what the log holds of it, in the order in which they began. A step that is no call, a call that was not entered and
// one that cannot be entered are yielded too, as ReplayNot.
//
// Nothing is executed and nothing is written: no host function is called but those of class Free, with nobody to say anything to,
// and the run is neither claimed nor changed. It may be driven by another process meanwhile; what that adds is not looked at. A log
// that is damaged is replayed as far as it can be read, and the last yield is the error.
//
// Errors, each as the last yield: ErrNoStep; *NotInRunError; that of a module of opts.Tools which cannot be entered; journal.ErrNotFound; journal.ErrDamaged; ErrInterrupted when ctx ended.
func (e *Engine) Replay(ctx context.Context, run string, opts ReplayOptions) iter.Seq2[Replayed, error] {
	return func(yield func(Replayed, error) bool) {
		p, err := e.replaying(ctx, run, opts)
		if err != nil {
			yield(Replayed{}, e.quiet(err))
			return
		}
		for _, step := range p.steps {
			res, err := p.replay(ctx, step)
			if err != nil {
				yield(Replayed{}, e.quiet(err))
				return
			}
			if !yield(res, nil) {
				return
			}
		}
		if p.damage != nil {
			yield(Replayed{}, e.quiet(p.damage))
		}
	}
}

// replaying is a replay under way.
type replaying struct {
	run   *Run           // of an engine that executes nothing
	opts  ReplayOptions  //
	steps []journal.Step // what is yielded, in order
	// damage is where the log could not be read on.
	damage error
	// gone is why a module cannot be entered.
	gone map[toolabi.Digest]error
}

func (e *Engine) replaying(ctx context.Context, run string, opts ReplayOptions) (*replaying, error) {
	l, begun, err := e.loadReadable(ctx, run)
	if l == nil {
		return nil, err
	}
	spec, specErr := e.readSpec(ctx, l.history.Created())
	if specErr != nil {
		return nil, fmt.Errorf("run %s: %w", run, specErr)
	}
	if opts.Invoker == nil {
		opts.Invoker = e.cfg.Invoker
	}
	if opts.Invoker == nil {
		return nil, &hostError{errors.New("this program cannot enter modules")}
	}
	for _, m := range opts.Tools {
		if err := spec.names(run, m.own()); err != nil {
			return nil, err
		}
		if with, ok := opts.Invoker.(Preparer); ok { // so that what is wrong with it is said first, and once
			if err := with.Prepare(ctx, m.Digest); err != nil {
				return nil, err
			}
		}
	}
	p := &replaying{run: newRun(e.inert(opts), run, l), opts: opts, damage: err, gone: map[toolabi.Digest]error{}}
	p.run.spec, p.run.grants = spec, spec.Grants.Union(l.grants)
	if p.steps = p.worthSaying(begun); len(p.steps) == 0 && opts.Step != "" && p.damage == nil {
		return nil, p.notReplayable(opts.Step)
	}
	return p, nil
}

// names says that no module of the run has a name in its manifest, or nil.
func (s *Spec) names(run, name string) error {
	var has []string
	for _, m := range s.Modules {
		if m.own() == name {
			return nil
		}
		has = append(has, m.own())
	}
	return &NotInRunError{Run: run, Name: name, Has: has}
}

// notReplayable says why there is nothing to replay at a step.
func (p *replaying) notReplayable(step journal.Step) error {
	if _, past, _ := p.run.lookup(step); past != nil {
		if len(p.opts.Tools) > 0 {
			return fmt.Errorf("run %s: at %s nothing is called of the modules that were given: %w", p.run.id, step, ErrNoStep)
		}
		return fmt.Errorf("run %s: step %s is no call of a tool, but a use of %s in %s: %w", p.run.id, step, past.Known().Name, step.Parent(), ErrNoStep)
	}
	return fmt.Errorf("run %s has no step %s: %w", p.run.id, step, ErrNoStep)
}
