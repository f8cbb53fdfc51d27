package runtime

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

const (
	// defaultMaxBackoff bounds a pause between two attempts where the policy does not.
	defaultMaxBackoff = 5 * time.Minute
	// maxRetryAfter is the longest pause that the other side may ask for. Whoever wants more is not asked again.
	maxRetryAfter = 24 * time.Hour
	// backoffPatience is the longest pause that a process waits for itself instead of suspending the run.
	backoffPatience = 10 * time.Second
)

// retries says whether a failed call, or a step of the driver's own, is tried again, and when. An attempt that would repeat an
// effect is none, whatever a policy says: every effect that must not be repeated, in the call and below it, is known not to
// have taken place.
func (r *Run) retries(o op, step journal.Step, failure *toolabi.Error) (due int64, again bool) {
	n := step.Attempt()
	if !o.enters() && !o.own || failure == nil || failure == o.refused || uint32(n) >= o.retry.Attempts || !o.permits(failure) {
		return 0, false
	}
	touched := o.class == toolabi.Once && failure.Effect > toolabi.EffectNone // the step is the effect itself
	r.log.view(func(_ *journal.History, s *journal.State) { touched = touched || s.Open[step].Touched })
	if touched && !brokenAttempts {
		return 0, false
	}
	pause := backoff(o.retry, n, requestDigest(r.id, []byte(step)))
	if failure.Retry == toolabi.RetryAfter {
		asked := time.Duration(min(failure.RetryAfterMS, uint64(maxRetryAfter.Milliseconds())+1)) * time.Millisecond
		if asked > maxRetryAfter {
			return 0, false
		}
		pause = max(pause, asked)
	}
	return r.engine.cfg.Now().Add(pause).UnixNano(), true
}

// permits says whether a failure permits another attempt. A tool's own policy holds for what the tool says may be tried
// again; that of a driver, which its author wrote for this very step, for whatever is not a refusal.
func (o op) permits(failure *toolabi.Error) bool {
	if !o.anyFailure {
		return failure.Retry == toolabi.RetrySafe || failure.Retry == toolabi.RetryAfter
	}
	switch failure.Code {
	case toolabi.Denied, toolabi.Invalid, toolabi.Unsupported, toolabi.BadInput, toolabi.BadOutput, toolabi.Protocol:
		return false
	}
	return true
}

// backoff is the pause behind the n-th attempt: doubling from the policy's first pause, at most its longest, and a part
// between half and all of that, so that calls which failed together do not come again together.
func backoff(p toolabi.RetryPolicy, n int, salt journal.Digest) time.Duration {
	most := defaultMaxBackoff
	if p.MaxBackoffMS != 0 {
		most = time.Duration(p.MaxBackoffMS) * time.Millisecond
	}
	pause := min(time.Duration(p.BackoffMS)*time.Millisecond, most)
	for ; n > 1 && pause < most; n-- {
		pause = min(2*pause, most)
	}
	if half := uint64(pause / 2); half > 0 {
		pause -= time.Duration(binary.BigEndian.Uint64(salt[:8]) % half)
	}
	return pause
}

// nextAttempt goes on with a step whose last attempt failed in a way that permits another one, once its pause is over.
func (r *Run) nextAttempt(ctx context.Context, o op, step journal.Step, past *journal.Past) (outcome, error) {
	if err := r.mayBegin(ctx, o, step.At(step.Attempt()+1)); err != nil { // it is not waited for what does not begin
		return outcome{}, err
	}
	if err := r.until(ctx, o, step, "the next attempt of "+o.name, past.Result.Due, max(backoffPatience, r.engine.cfg.Patience)); err != nil {
		return outcome{}, err
	}
	return r.attempt(ctx, o, step.At(step.Attempt()+1), past)
}

// mayHaveHappened says whether an attempt before this one may have taken place, as its result says.
func (r *Run) mayHaveHappened(ctx context.Context, step journal.Step) (bool, error) {
	for n := step.Attempt() - 1; n >= 1; n-- {
		var result *journal.Entry
		r.log.view(func(h *journal.History, _ *journal.State) {
			if p := h.Find(step.At(n)); p != nil {
				result = p.Result
			}
		})
		if result == nil { // somebody has said that it did not happen
			continue
		}
		body, err := journal.Body(ctx, r.engine.blobs, *result)
		if err != nil {
			return false, err
		}
		var failure toolabi.Error
		if err := toolabi.Decode(body, &failure); err != nil {
			return false, damaged(r.id, fmt.Errorf("result of %s: %w", result.Step, err))
		}
		if failure.Effect > toolabi.EffectNone {
			return true, nil
		}
	}
	return false, nil
}
