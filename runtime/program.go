package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// A call is opaque when it can change something without asking the host: a program that has a directory to write to. Then the
// whole call is the effect. Its class is Once, or Effect where the program may be repeated; its intent is on the disk before
// the program is entered, and there is nothing inside of it that could say how far it came.

// enters says whether the step enters a module.
func (o op) enters() bool { return !o.module.IsZero() }

// isOpaque says whether an intent announces an opaque call.
func isOpaque(intent *journal.Entry) bool {
	return intent != nil && isEffect(intent.Class) && !intent.Module.IsZero()
}

// entersModule says whether an intent announces that a module is entered; the question about a call names one as well.
func entersModule(intent *journal.Entry) bool {
	return intent != nil && !intent.Module.IsZero() && toolabi.Class(intent.Class) != toolabi.Wait
}

// mount gives a call the directories that its module wants and the run grants, and the class that follows from them.
func (r *Run) mount(o *op) {
	m := &o.callee.Manifest
	mounts, missing := o.callee.granted(r.grants).Mounts(m.Command)
	o.mounts = mounts
	if len(missing) > 0 {
		o.refused = toolabi.NewError(toolabi.Denied, (&UngrantedError{Module: o.callee.Name, Dirs: missing}).Error())
		return
	}
	if !m.Opaque(mounts) {
		return
	}
	o.class, o.now, o.timeout, o.note = toolabi.Once, true, enterWithin, "may write to "+writable(mounts)
	switch declared := o.tool.Declared(); declared {
	case toolabi.Idempotent:
		o.class = toolabi.Effect
	case toolabi.Pure, toolabi.ReadOnly: // a manifest that says so is refused; this one was written by somebody else
		o.refused = toolabi.NewError(toolabi.Denied, fmt.Sprintf("%s declares %s and was given a directory to write to, where nobody can hold it to that", o.name, declared))
	}
}

// enterWithin is how long after its intent a program may be entered.
const enterWithin = defaultSendTimeout

// asAnnounced is the step as its first attempt was announced. A call that began without a directory to write to does not get
// one later, when grants are added: its intent says that it may be entered again, and nobody was asked about more.
func (o op) asAnnounced(known *journal.Entry) op {
	if o.enters() && toolabi.Class(known.Class) == toolabi.Call {
		o.class, o.now, o.note = toolabi.Call, false, ""
	}
	return o
}

// mountsOf are the directories that an announced call gets.
func (r *Run) mountsOf(module Module, intent *journal.Entry) []toolabi.Mount {
	mounts, _ := module.granted(r.grants).Mounts(module.Manifest.Command)
	if toolabi.Class(intent.Class) == toolabi.Call {
		for i := range mounts {
			mounts[i].Write = false
		}
	}
	return mounts
}

// writableNames are the names of the directories that may be written to.
func writableNames(mounts []toolabi.Mount) (names []string) {
	for _, m := range mounts {
		if m.Write {
			names = append(names, m.Name)
		}
	}
	return names
}

// writable names the directories that may be written to, for people.
func writable(mounts []toolabi.Mount) string {
	var names []string
	for _, m := range mounts {
		if m.Write {
			names = append(names, m.Name+" ("+toolabi.CutText(m.Path, 160)+")")
		}
	}
	return toolabi.CutText(strings.Join(names, ", "), maxNote)
}

// usable says why a directory that was granted cannot be used now, or nil. A run stops then, and can go on once it is back.
func usable(run string, grants hostfuncs.Grants, mounts []toolabi.Mount) error {
	for _, m := range mounts {
		if d, ok := grants.Dir(m.Name); ok {
			if err := d.Check(); err != nil {
				return &DirError{Run: run, Err: err}
			}
		}
	}
	return nil
}

// mayEnter looks immediately before a program is entered, as before a request is sent. An outcome with an error is the call's.
// A cancellation that came since the intent is in the log, and is found there by the note that nothing was entered.
func (r *Run) mayEnter(intent *journal.Entry) (outcome, error) {
	send := sending{run: r, intent: intent}
	err := send.allow()
	switch {
	case err == nil:
		return outcome{}, nil
	case errors.Is(err, journal.ErrCancelled):
		r.noteUnsent(*intent, err)
		return outcome{}, errMoved
	}
	return send.outcome(nil, err, toolabi.Internal)
}

// opaqueOutcome judges how a program ended that could write. That it has ended is an outcome, whatever it did: its output, its
// exit status, a trap, a limit. What it wrote until then is not known, and stays. When something else broke it off, nobody
// knows whether its work is done, and the step stays open.
func (r *Run) opaqueOutcome(ctx context.Context, f *frame, mounts []toolabi.Mount, out toolabi.Outcome, err error) (outcome, error) {
	if err != nil {
		limit := cutBy(ctx)
		switch {
		case out.Unentered:
			return outcome{unsent: true}, r.notEntered(ctx, f.module, err)
		case limit != nil:
			out = toolabi.Outcome{Err: limit}
		case f.tool.Declared() == toolabi.Idempotent:
			return outcome{}, r.notEntered(ctx, f.module, err)
		default:
			return outcome{err: brokenOff(ctx, err)}, nil
		}
	}
	done, err := f.outcome(out)
	if done.err != nil && out.Unentered {
		return done, err
	}
	if done.err != nil {
		failed, wrote := *done.err, "it may have written to "
		if failed.Effect == toolabi.EffectApplied {
			wrote = "it wrote to "
		}
		// Whoever called may be a tool, which the paths of the host are not for.
		failed.Message = strings.TrimPrefix(failed.Message+"; before that "+wrote+"directory "+strings.Join(writableNames(mounts), " or "), "; ")
		done.err = unlessApplied(&failed)
	}
	done.ended = true
	return done, err
}

// cutBy returns the limit of its own that a call was cut by, or nil.
func cutBy(ctx context.Context) *toolabi.Error {
	var limit *toolabi.Error
	if ctx.Err() != nil {
		errors.As(context.Cause(ctx), &limit)
	}
	return limit
}

// brokenOff is what is known of a program that was entered and has no outcome.
func brokenOff(ctx context.Context, err error) *toolabi.Error {
	what := toolabi.NewError(toolabi.Internal, "it was entered, and the host could not go on with it: "+err.Error())
	if interrupted(ctx) {
		what = toolabi.NewError(toolabi.Unavailable, "it was entered, and stopped before its end because the process was asked to stop")
	}
	what.Effect = toolabi.EffectUnknown
	return what
}

// programOver is when the program of an opaque call cannot be running any more: at once, where the process that entered it
// says that it has stopped, or is known to be dead; else after the last moment at which it may have been entered and all the
// time that a call has.
func (e *Engine) programOver(ctx context.Context, l *loaded, past *journal.Past) (time.Time, error) {
	intent, restored := past.Intent, l.history.Restored()
	again := restored != nil && restored.Seq > intent.Seq // it may have been entered once more after the backup was made
	copied := l.history.Created().By != ""                // and names the owner of the copy, not the one who entered it
	for _, ev := range past.Evidence {
		if ev.Name == journal.RecordEvidence && !again {
			return timeOf(intent.Time), nil
		}
	}
	if e.owners != nil && !again && !copied {
		if live, err := e.owners.Liveness(intent.Owner); err == nil && live == journal.Dead {
			return timeOf(intent.Time), nil
		}
	}
	spec, err := e.readSpec(ctx, l.history.Created())
	if err != nil {
		return time.Time{}, err
	}
	limits := callLimits{}
	if module, tool, err := spec.tool(intent.Name); err == nil {
		limits = spec.limits(module, tool)
	}
	by := intent.SendBy
	if again {
		by = max(by, restored.Time+int64(enterWithin))
	}
	return timeOf(by).Add(limits.timeout()), nil
}

// judgeVerdict says why a person's word about an opaque call cannot be taken, or nil: the output that they give is served to
// whoever called, like one of the program's own.
func (e *Engine) judgeVerdict(ctx context.Context, l *loaded, intent *journal.Entry, res Resolution) error {
	if !isOpaque(intent) {
		return nil
	}
	if !res.Happened {
		if res.NewKey {
			return fmt.Errorf("run %s: step %s: %w", l.state.Run, intent.Step, ErrNoKey)
		}
		return nil
	}
	spec, err := e.readSpec(ctx, l.history.Created())
	if err != nil {
		return err
	}
	_, tool, _ := spec.tool(intent.Name) // of a tool that is gone anything is taken
	if err := CheckJSON(tool.Output, res.Reply); err != nil {
		return toolabi.NewError(toolabi.BadInput, fmt.Sprintf("this cannot be the output of %s: %v", intent.Name, err))
	}
	return nil
}

// ErrNoKey: the step was given no idempotency key, so there is no other one for its next attempt.
var ErrNoKey = errors.New("a program is given no idempotency key, so there can be no other one")
