package runtime

import (
	"bytes"
	"context"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// judge enters the module and says how it compares.
func (e *replayEntry) judge(ctx context.Context, res *Replayed) {
	res.Module = e.frame.module.Digest
	if why := e.unfit(); why != "" {
		res.Verdict, res.Why = ReplayRefused, why
		return
	}
	out, err := e.enter(ctx)
	switch {
	case e.stop != nil:
		e.tell(ctx, res)
		return
	case err != nil:
		res.cannot(err)
		return
	}
	came := e.frame.ended(out)
	res.Came = &ReplayedResult{Output: came.reply, Err: came.err, Fuel: came.fuel}
	if came.err != nil {
		res.Came.Err = readable(e.p.run.engine.cfg.Secrets.HideError(came.err))
	}
	e.compare(ctx, res)
}

// compare holds how the module ended against the log.
func (e *replayEntry) compare(ctx context.Context, res *Replayed) {
	f := e.frame
	late := res.Came.Err != nil && res.Came.Err.Code == toolabi.LimitTime
	switch n := f.asked(); {
	case late && !e.other: // the machine was slower, or busier, than the one that recorded it
		res.Verdict, res.Why = ReplayCannot, "replaying it took longer than the "+f.limits.timeout().Round(time.Millisecond).String()+" that it may compute"
	case n < f.run.recorded(f.step):
		res.Verdict, res.At = ReplayLess, n+1
		if _, past, _ := f.run.lookup(f.step.Child(n + 1)); past != nil {
			res.Was = e.recorded(ctx, past.Known())
		}
	case res.Result == nil:
		res.Verdict, res.Why = ReplayOpen, "the log holds no end of it"
	case hostEnded(res.Result.Err) != "":
		res.Verdict, res.Why = ReplayOpen, hostEnded(res.Result.Err)
		if heldSecret(res.Result.Err) {
			res.Came = nil
		}
	default:
		res.Verdict = ReplayResult
		if sameResult(res.Result, res.Came) {
			res.Verdict = ReplaySame
		}
		e.judgeOutput(res)
	}
}

// judgeOutput looks whether the manifest of another module refuses an output that the one of the run's own did not.
func (e *replayEntry) judgeOutput(res *Replayed) {
	if !e.other || res.Came.Err != nil {
		return
	}
	f := e.frame
	_, was, _ := f.run.spec.tool(e.past.Intent.Name)
	refused := f.run.engine.judgeOutput(f.module.Name+"."+f.tool.Name, f.tool, res.Came.Output)
	if refused == nil || res.Verdict == ReplaySame && f.run.engine.judgeOutput(e.past.Intent.Name, was, res.Came.Output) != nil {
		return
	}
	res.Verdict, res.Came.Err = ReplayResult, refused
}

func sameResult(was, now *ReplayedResult) bool {
	if was.Err == nil || now.Err == nil {
		return was.Err == nil && now.Err == nil && bytes.Equal(was.Output, now.Output)
	}
	a, errA := toolabi.Encode(was.Err)
	b, errB := toolabi.Encode(now.Err)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// hostEnded says how the host ended a call, "" where that was the module's doing: then replaying it comes to the same.
func hostEnded(err *toolabi.Error) string {
	switch {
	case err == nil:
		return ""
	case err.Code == toolabi.LimitTime:
		return "it was broken off when its time was over, and how far it was is not recorded"
	case heldSecret(err):
		return "its output held the value of a secret and was not recorded"
	}
	return ""
}

// heldSecret says of how something ended that it held the value of a secret. This process may not know the value, and shows none of it.
func heldSecret(err *toolabi.Error) bool {
	return err != nil && err.Code == toolabi.Denied && err.Detail == toolabi.DetailSecret
}

// refusedSecret says whether the log refused a request for the value that it held.
func (e *replayEntry) refusedSecret(ctx context.Context, result *journal.Entry) bool {
	if result == nil {
		return false
	}
	was, err := e.p.result(ctx, result)
	return err == nil && heldSecret(was.Err)
}
