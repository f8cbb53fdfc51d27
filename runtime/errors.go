package runtime

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// ErrInterrupted: the context of Drive ended. What was known is recorded, and the run can be resumed.
var ErrInterrupted = errors.New("interrupted")

// UncertainError says that an effect may or may not have taken place, and that the run waits until someone says.
type UncertainError struct {
	Run  string
	Step journal.Step
	// Tool is the tool that asked for the effect, "module.tool"; "" for a driver's own step.
	Tool string
	// Intent is the entry that announced the effect. Its Note says what was asked for, its Body is the request.
	Intent journal.Entry
	// Request is the length of the request in bytes.
	Request int64
	// Evidence is what the process that tried learned before it stopped; nil after a crash.
	Evidence *Evidence
	// Why is set when the effect would have been repeatable, and says why it is not any more.
	Why string
}

// Program says that it is the call of a program which could write to directories, and which was given no key: what is in doubt
// is what it wrote there.
func (e *UncertainError) Program() bool { return isOpaque(&e.Intent) }

// Error says what is known.
func (e *UncertainError) Error() string {
	if e.Program() {
		return e.programError()
	}
	s := fmt.Sprintf("outcome unknown: %s of run %s (%s) may or may not have happened", e.Step, e.Run, e.Intent.Name)
	if e.Evidence != nil && e.Evidence.Err != nil {
		s += ": " + e.Evidence.Err.Message
	}
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s
}

func (e *UncertainError) programError() string {
	how := "it has no end in the log"
	if e.Evidence != nil && e.Evidence.Err != nil {
		how = e.Evidence.Err.Message
	}
	return fmt.Sprintf("outcome unknown: %s of run %s (%s) was about to be entered at %s and %s; %s, and what it wrote is not known",
		e.Step, e.Run, e.Intent.Name, timeOf(e.Intent.Time).UTC().Format(time.RFC3339), e.Intent.Note, how)
}

// Evidence is what is known of an effect whose outcome is not.
type Evidence struct {
	// Err is how the attempt ended.
	Err *toolabi.Error `cbor:"1,keyasint,omitempty"`
	// Sent is how many bytes were written to the connection.
	Sent int64 `cbor:"2,keyasint,omitempty"`
}

// UnconfirmedError says that the log was restored from a backup and may be older than the world.
type UnconfirmedError struct {
	Run string
	// Step is the one that is not begun, "" where none was come to yet.
	Step journal.Step
}

// Error says what a person has to decide.
func (e *UnconfirmedError) Error() string {
	what := string(e.Step)
	if what == "" {
		what = "what it does next"
	}
	return fmt.Sprintf("run %s was restored from a backup: %s may have happened after the backup was made", e.Run, what)
}

// WaitingError says that the run waits for something outside: a person or a time.
type WaitingError struct {
	Run  string
	Step journal.Step
	// For is what it waits for: the name of a host function, or words. Text is what a person is asked.
	For, Text string
	// Due is when the run can go on although nobody says anything; zero when time alone does not help.
	Due time.Time
	// Also are other steps that wait, in parallel branches.
	Also []journal.Step
}

// Error says what it waits for.
func (e *WaitingError) Error() string {
	s := fmt.Sprintf("run %s waits at %s for %s", e.Run, e.Step, e.For)
	switch {
	case e.For == toolabi.FuncApprove:
		s = fmt.Sprintf("run %s waits at %s for somebody to agree", e.Run, e.Step)
		if !e.Due.IsZero() {
			s += " before " + e.Due.UTC().Format(time.RFC3339)
		}
	case !e.Due.IsZero():
		s += ", until " + e.Due.UTC().Format(time.RFC3339)
	}
	if len(e.Also) > 0 {
		s += "; and at " + joined(e.Also)
	}
	return s
}

// joined are steps in a sentence.
func joined(steps []journal.Step) string {
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}

// LateError says that an outcome came in when it could no longer count, and that a person should look at it first.
type LateError struct{ Run string }

// Error names the run.
func (e *LateError) Error() string {
	return fmt.Sprintf("run %s has outcomes that arrived too late to count", e.Run)
}

// DivergedError says that the driver or a tool asked for something else than the log holds. Nothing was executed.
type DivergedError struct {
	Run  string
	Step journal.Step
	// What says how they differ.
	What string
}

// Error says where and how.
func (e *DivergedError) Error() string {
	return fmt.Sprintf("run %s diverged from its log at %s: %s", e.Run, e.Step, e.What)
}

// BusyError says that another process drives the run.
type BusyError struct {
	Run string
	// Owner is the claim's owner, Who what is known of its process.
	Owner, Who string
	// Unknown says that nobody can tell here whether that process lives.
	Unknown bool
	// Until is when the claim ends by itself; zero when it does not.
	Until time.Time
	// Late are the effects of which this process learned the outcome when it could no longer count. It is in the log.
	Late []journal.Step
}

// Error says who.
func (e *BusyError) Error() string {
	who := e.Who
	switch {
	case who == "" && e.Owner == "":
		who = "another process, which has ended since"
	case who == "":
		who = "owner " + e.Owner
	}
	if e.Unknown {
		return fmt.Sprintf("run %s is claimed by %s, and it cannot be told here whether that process lives", e.Run, who)
	}
	if len(e.Late) > 0 {
		return fmt.Sprintf("run %s was taken over by %s; the outcome of %v came too late to count, and is kept in the log", e.Run, who, e.Late)
	}
	if e.Owner == "" && e.Who == "" {
		return fmt.Sprintf("run %s was taken over by %s", e.Run, who)
	}
	return fmt.Sprintf("run %s is being driven by %s", e.Run, who)
}

// Is makes a BusyError match journal.ErrFenced.
func (e *BusyError) Is(target error) bool { return target == journal.ErrFenced }

// LimitError says that the host reached a limit while it answered a tool from the log. Nothing was recorded.
type LimitError struct {
	Run  string
	Step journal.Step
	Err  *toolabi.Error
}

// Error says which.
func (e *LimitError) Error() string {
	s := fmt.Sprintf("run %s, step %s: limit reached while answering from the log: %s", e.Run, e.Step, e.Err.Message)
	if e.Err.Code == toolabi.LimitFuel { // the first time it came further with the same
		s += "; this version of wrun counts fuel otherwise than the one that began the call"
	}
	return s
}

// Unwrap returns the limit.
func (e *LimitError) Unwrap() error { return e.Err }

// UngrantedError says that a module wants directories that the run does not grant.
type UngrantedError struct {
	Module string
	Dirs   []toolabi.Dir
}

// Error says which, what for, and how they are granted.
func (e *UngrantedError) Error() string {
	var wants []string
	for _, d := range e.Dirs {
		flag := "--dir " + d.Name + "=PATH"
		if d.Write {
			flag += ":rw"
		}
		wants = append(wants, fmt.Sprintf("directory %s (%s), which is not granted: say %s", d.Name, toolabi.CutText(d.Reason, 200), flag))
	}
	return fmt.Sprintf("module %s wants %s", e.Module, strings.Join(wants, "; and "))
}

// DirError says that a directory which a run was granted cannot be used now. Nothing was entered.
type DirError struct {
	// Run is "" when the run was not begun because of it.
	Run string
	Err error
}

// Error says which and why.
func (e *DirError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DirError) Unwrap() error { return e.Err }

// FailedError says that the run is finished and did not succeed.
type FailedError struct {
	Run string
	// Outcome is journal.Fail or journal.Cancelled.
	Outcome journal.Outcome
	// Err is what the run failed with; nil for a cancelled one.
	Err *toolabi.Error
}

// Error says why.
func (e *FailedError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("run %s was %s", e.Run, e.Outcome)
	}
	if e.Err.Message == "" {
		return fmt.Sprintf("run %s failed: %s", e.Run, e.Err.Error())
	}
	return fmt.Sprintf("run %s failed: %s", e.Run, e.Err.Message)
}

// Unwrap returns what the run failed with.
func (e *FailedError) Unwrap() error {
	if e.Err == nil {
		return nil
	}
	return e.Err
}

// OtherRunError says that a run of this id exists and is another one.
type OtherRunError struct {
	Run string
	// Differs names the part that is not the same.
	Differs string
}

// Error says what differs.
func (e *OtherRunError) Error() string {
	return fmt.Sprintf("run %s exists already with another %s", e.Run, e.Differs)
}

// JournalError says that the journal could not do what was asked, at a moment when the run cannot go on without it.
type JournalError struct {
	Run string
	Err error
}

// Error gives the cause.
func (e *JournalError) Error() string { return fmt.Sprintf("journal of run %s: %v", e.Run, e.Err) }

// Unwrap returns the cause.
func (e *JournalError) Unwrap() error { return e.Err }

// stopper is an error that ends the driving of a run, as opposed to an outcome that a driver may handle. stop is the name
// of the release that it leaves.
type stopper interface {
	error
	stop() string
}

func (*UncertainError) stop() string   { return journal.StopUncertain }
func (*UnconfirmedError) stop() string { return journal.StopUncertain }
func (*LateError) stop() string        { return journal.StopUncertain }
func (*WaitingError) stop() string     { return journal.StopWaiting }
func (*DivergedError) stop() string    { return journal.StopDiverged }
func (*BusyError) stop() string        { return journal.StopFailed }
func (*LimitError) stop() string       { return journal.StopFailed }
func (*JournalError) stop() string     { return journal.StopFailed }
func (*DirError) stop() string         { return journal.StopFailed }
func (*hostError) stop() string        { return journal.StopFailed }

// stops says whether err ends the driving of a run.
func stops(err error) bool {
	var s stopper
	return errors.As(err, &s) || errors.Is(err, ErrInterrupted) || errors.Is(err, journal.ErrCancelled)
}

// stopName is the name of the release that err leaves.
func stopName(err error) string {
	var s stopper
	switch {
	case errors.Is(err, ErrInterrupted):
		return journal.StopInterrupted
	case errors.As(err, &s):
		return s.stop()
	}
	return journal.StopFailed
}

// hostError is a fault of the host that is no outcome of any step: a module that cannot be loaded, a driver that panics.
type hostError struct{ err error }

func (e *hostError) Error() string { return e.err.Error() }
func (e *hostError) Unwrap() error { return e.err }
