package runtime

import (
	"context"

	"github.com/wrun-dev/wrun/toolabi"
)

// Space for what will come of an effect is held before the effect is announced: of what must not be repeated, of a driver's own,
// and of a program that can write. Where there is none nothing is begun, and the run can be resumed once there is.

// held is space that is held for the outcome of a step. nil and the zero value hold none.
type held struct{ use func() }

// free lets what follows at once be written there.
func (h *held) free() {
	if h != nil && h.use != nil {
		h.use()
	}
}

// minHeld is what is held at least, in bytes: an error, or the evidence of one.
const minHeld = 2 * toolabi.MaxText

// hold holds space for the outcome of a step, where it has one that must not be lost, until done is called.
func (r *Run) hold(ctx context.Context, o *op) (done func(), err error) {
	if r.engine.room == nil || brokenNoRoom || !o.mustBeKept() {
		return func() {}, nil
	}
	most := int64(toolabi.MaxOutput)
	switch {
	case o.reply != nil:
		most = o.reply()
	case o.enters():
		if n := r.spec.limits(o.callee, o.tool).OutputBytes; n != 0 {
			most = min(most, int64(n))
		}
	}
	var use, drop func()
	err = patiently(func() (err error) {
		use, drop, err = r.engine.room.Reserve(ctx, max(most, minHeld))
		return err
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, r.ended(ctx)
	case err != nil:
		return nil, r.journalError(err)
	}
	if o.room == nil {
		o.room = &held{}
	}
	o.room.use = use
	return drop, nil
}

// mustBeKept says whether what comes of a step can be had once only, or has its price.
func (o *op) mustBeKept() bool {
	switch {
	case o.refused != nil:
		return false
	case o.class == toolabi.Once:
		return true
	}
	return o.class == toolabi.Effect && (o.own || o.enters())
}
