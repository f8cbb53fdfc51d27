package crashtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// Life is one process that goes on with a run.
type Life struct {
	Engine *runtime.Engine
	Store  *Watched
	Clock  *world.Clock
	// Begin starts the run; it is called where there is none.
	Begin func(context.Context) error
	// Ask asks the world what became of an effect.
	Ask func(Doubt) (Verdict, error)
	// Approvals are the answers of people.
	Approvals []world.Approval
	// Twice reads the books of the run; nil for one without a model.
	Twice func(context.Context) ([]string, error)
}

// maxTurns is how often a run may stop in one process.
const maxTurns = 10_000

// Config is that of an engine whose waits are jumped over, and in whose journal as much rides along as can.
//
// No wait is sat out, also none of those that a process sits out by itself: each suspends the run, and the clock goes to its end. What
// may ride along waits for the next append however long that takes, since a timer would let the same run come to other places
// each time; every log that a process leaves so, one with a timer could have left.
func (l *Life) Config(c runtime.Config) runtime.Config {
	c.Journal, c.Now, c.Patience, c.RideAlong = l.Store, l.Clock.Now, -1, time.Hour
	return c
}

// Go drives the run until it is finished, or until nobody knows how it could go on.
func (l *Life) Go(ctx context.Context) (End, error) {
	var end End
	before, err := l.log(ctx)
	if err != nil {
		return end, err
	}
	end.Had = len(before)
	if end.Had == 0 {
		if err := l.Begin(ctx); err != nil {
			return end, err
		}
	}
	if err := l.catchUp(ctx); err != nil {
		return end, err
	}
	if err := l.turns(ctx, &end); err != nil {
		return end, err
	}
	if end.Log, err = l.log(ctx); err != nil {
		return end, err
	}
	for i, was := range before {
		if i >= len(end.Log) || end.Log[i].Hash != was.Hash {
			end.Forgotten++
		}
	}
	end.Trace = l.Store.Trace()
	if l.Twice != nil {
		end.Twice, err = l.Twice(ctx)
	}
	return end, err
}

// turns drives the run again and again.
func (l *Life) turns(ctx context.Context, end *End) error {
	for range maxTurns {
		res, err := l.Engine.Drive(ctx, Run, runtime.DriveOptions{})
		var waits *runtime.WaitingError
		var doubt *runtime.UncertainError
		var failed *runtime.FailedError
		on := false
		switch {
		case err == nil:
			end.Output = res.Output
			return nil
		case errors.As(err, &failed):
			end.Failed = failure(failed)
			return nil
		case errors.As(err, &waits):
			on, err = l.wait(ctx, waits)
		case errors.As(err, &doubt):
			on, err = l.settle(ctx, doubt, end)
		case errors.Is(err, journal.ErrUnusable), ctx.Err() != nil:
			return err
		}
		if errors.Is(err, journal.ErrUnusable) {
			return err
		}
		if !on {
			end.Stopped = err.Error()
			return nil
		}
	}
	end.Stopped = fmt.Sprintf("it has stopped %d times", maxTurns)
	return nil
}

// failure is what a run failed with, as it is compared.
func failure(f *runtime.FailedError) string {
	if f.Err == nil {
		return f.Outcome.String()
	}
	return f.Err.Error()
}

// catchUp lets the clock go to where the log ends.
func (l *Life) catchUp(ctx context.Context) error {
	for s, err := range l.Store.List(ctx, journal.Query{Run: Run}) {
		if err != nil {
			return err
		}
		l.Clock.Jump(time.Unix(0, s.Time))
	}
	return nil
}

// wait answers what is asked, or else lets the time come that is waited for. on says that the run can go on; if it cannot, err says
// why.
func (l *Life) wait(ctx context.Context, w *runtime.WaitingError) (on bool, err error) {
	for item, err := range l.Engine.Inbox(ctx) {
		if err != nil {
			return false, err
		}
		if item.Need != runtime.NeedAnswer {
			continue
		}
		said, err := l.answers(ctx)
		if err != nil {
			return false, err
		}
		a, ok := world.Nth(l.Approvals, said)
		if !ok {
			break
		}
		answer := runtime.Answer{Yes: a.Yes, By: a.Who(), Note: a.Note}
		if item.Again {
			answer.Shown = item.Shown.String()
		}
		if err := l.Engine.Answer(ctx, Run, item.Step, answer); err != nil {
			return false, err
		}
		on = true
	}
	switch {
	case on:
		return true, nil
	case w.Due.IsZero():
		return false, w
	}
	l.Clock.Jump(w.Due.Add(time.Millisecond)) // what expires lasts to the end of its last moment
	return true, nil
}

// answers counts the questions that have been answered.
func (l *Life) answers(ctx context.Context) (n int, err error) {
	for e, err := range l.Store.Read(ctx, Run, 0) {
		if err != nil {
			return 0, err
		}
		if e.Kind == journal.Result && toolabi.Class(e.Class) == toolabi.Wait && e.By != "" {
			n++
		}
	}
	return n, nil
}

// by is who says what the world knows.
const by = "crashtest"

// settle says what became of an effect, as far as the world knows.
func (l *Life) settle(ctx context.Context, u *runtime.UncertainError, end *End) (on bool, err error) {
	v, err := l.Ask(Doubt{Step: u.Step, Name: u.Intent.Name, Key: u.Intent.Key})
	if err != nil {
		return false, err
	}
	if v.Unknown {
		return false, u
	}
	res := runtime.Resolution{Happened: v.Happened, By: by, Note: "the world knows"}
	if v.Happened {
		if res.Reply, err = l.Engine.ParseReply(u.Intent.Name, v.Reply); err != nil {
			return false, err
		}
	}
	err = l.Engine.Resolve(ctx, Run, u.Step, res)
	var early *runtime.TooSoonError
	if errors.As(err, &early) { // nothing is on its way any more: the world has said so
		l.Clock.Jump(early.Until)
		err = l.Engine.Resolve(ctx, Run, u.Step, res)
	}
	if err != nil {
		return false, err
	}
	end.Told++
	return true, nil
}

// log reads the run's log, nothing where there is none.
func (l *Life) log(ctx context.Context) (lines []Line, err error) {
	for e, err := range l.Store.Read(ctx, Run, 0) {
		switch {
		case errors.Is(err, journal.ErrNotFound):
			return nil, nil
		case err != nil:
			return nil, err
		}
		lines = append(lines, Line{
			Kind: e.Kind.String(), Step: e.Step, Name: e.Name, Outcome: e.Outcome.String(), Doubt: e.OnCut == journal.Doubt, By: e.By, Key: e.Key,
			Hash: e.Hash.String(),
		})
	}
	return slices.Clip(lines), nil
}
