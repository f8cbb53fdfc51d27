package tooltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/drivers/rollback"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// End is how a call ended: with one of the fields set, and with an Output otherwise.
type End struct {
	// Output is what came out, JSON.
	Output []byte
	// Err is how it failed.
	Err *toolabi.Error
	// Uncertain is the effect that nobody knows about.
	Uncertain *runtime.UncertainError
	// Waits is a question that the world has no answer to.
	Waits *runtime.WaitingError
}

// maxPauses is how often a call may wait.
const maxPauses = 1000

// Drive drives the call on a handle of the journal until it is over: it answers what people are asked and lets the time pass that is
// waited for. A run that is there goes on, so that it may be called again with another handle after the first was killed. An error is
// a fault of the host, or of a handle that died; what came of the tool is in the End.
func (s *Stage) Drive(ctx context.Context, store journaltest.Store) (End, error) {
	e, err := s.engine(store)
	if err != nil {
		return End{}, err
	}
	spec, modules := s.spec()
	if _, err := e.Start(ctx, RunID, spec, modules, true); err != nil {
		return End{}, err
	}
	return s.drive(ctx, e, RunID)
}

// engine is one on a handle of the journal.
func (s *Stage) engine(store journaltest.Store) (*runtime.Engine, error) {
	return runtime.New(runtime.Config{
		Journal: store, Invoker: s, Funcs: s.funcs(), Now: s.clock.Now, Patience: -1, Observe: s.observe, Secrets: s.cfg.Secrets, RideAlong: s.ride,
		Drivers: map[string]runtime.DriverInfo{call.Name: call.Driver(), runtime.RollbackDriver: rollback.Driver()}, Rescue: func(string, journal.Step, []byte) {},
	})
}

// drive drives a run until it is over.
func (s *Stage) drive(ctx context.Context, e *runtime.Engine, run string) (End, error) {
	for range maxPauses {
		res, err := e.Drive(ctx, run, runtime.DriveOptions{})
		var failed *runtime.FailedError
		var uncertain *runtime.UncertainError
		var waits *runtime.WaitingError
		switch {
		case err == nil:
			return End{Output: res.Output}, nil
		case errors.As(err, &failed):
			return End{Err: failed.Err}, nil
		case errors.As(err, &uncertain):
			return End{Uncertain: uncertain}, nil
		case !errors.As(err, &waits):
			return End{}, err
		}
		if over, err := s.pause(ctx, e, run, waits); err != nil || over {
			return End{Waits: waits}, err
		}
	}
	return End{}, fmt.Errorf("the call waited %d times and did not end", maxPauses)
}

// spec is what the run is made of.
func (s *Stage) spec() (runtime.Spec, map[toolabi.Digest][]byte) {
	spec := runtime.Spec{
		Driver: call.Name, Version: call.Version, Plan: []byte(s.bench.module.Name + "." + s.Case.Tool), Input: []byte(world.ShowJSON(s.Case.Input)),
		Modules: []runtime.Module{s.bench.module}, Grants: s.grants,
	}
	modules := map[toolabi.Digest][]byte{s.bench.module.Digest: s.bench.wasm}
	for digest, f := range s.fakes {
		spec.Modules = append(spec.Modules, f.module)
		modules[digest] = fakeBytes(f.module.Name)
	}
	slices.SortFunc(spec.Modules[1:], func(a, b runtime.Module) int { return strings.Compare(a.Name, b.Name) }) // a run that goes on is made of the same
	return spec, modules
}

// pause answers a question, or lets the time pass. It is over when nobody answers.
func (s *Stage) pause(ctx context.Context, e *runtime.Engine, run string, waits *runtime.WaitingError) (over bool, err error) {
	if waits.For != toolabi.FuncApprove {
		if waits.Due.IsZero() {
			return true, waits
		}
		s.clock.Jump(waits.Due.Add(time.Nanosecond))
		return false, nil
	}
	s.mu.Lock()
	n, again := s.answers[waits.Step]
	if !again {
		n = len(s.answers)
		s.answers[waits.Step] = n
	}
	s.mu.Unlock()
	answer, ok := world.Nth(s.world.Approvals, n)
	if !ok {
		s.note("a person is asked %q, and the world of this case has no approvals", waits.Text)
		return true, nil
	}
	err = e.Answer(ctx, run, waits.Step, runtime.Answer{Yes: answer.Yes, By: answer.Who(), Note: answer.Note})
	if errors.As(err, new(*runtime.AnsweredError)) {
		return false, nil
	}
	return false, err
}
