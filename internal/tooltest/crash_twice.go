package tooltest

import (
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// twice holds two calls against each other that differ in their seed, their clock and their run, and in nothing else.
func (j *jury) twice(t *trial) *Lie {
	switch j.tool.Declared() {
	case toolabi.Pure:
		if j.base.ending() != t.ending() {
			return j.lie(t, LieImpure, j.promised(), "", "two calls with the same input end with %s and with %s: what is pure depends on neither clock nor randomness",
				j.base.ending(), t.ending())
		}
	case toolabi.Idempotent:
		if what := differs(j.base, t); what != "" {
			return j.lie(t, LieVaries, j.promised(), "", "two calls with the same input ask for different things, which are then not the same done again: %s", what)
		}
	}
	return nil
}

// differs says in what the requests that acted in two calls differ; "" for nothing.
func differs(a, b *trial) string {
	first, second := a.acted(), b.acted()
	for i := range min(len(first), len(second)) {
		x, y := first[i], second[i]
		switch {
		case x.Method+x.URL != y.Method+y.URL:
			return fmt.Sprintf("%s and %s", whatWas(x), whatWas(y))
		case !common(bodyOf(x), bodyOf(y)).exact():
			return fmt.Sprintf("%s has the body %s and then %s", whatWas(x), toolabi.CleanLine(bodyOf(x), maxLine), toolabi.CleanLine(bodyOf(y), maxLine))
		}
	}
	if len(first) != len(second) {
		return fmt.Sprintf("%d requests act, and then %d", len(first), len(second))
	}
	return ""
}

// sameNames finds what is the same in every call of a module that is loaded once, and another one where it is loaded anew: made of
// randomness that it drew while it was loaded.
func (j *jury) sameNames(again, anew *trial) *Lie {
	names := j.base.marks.fromStart(again.marks, anew.marks)
	if len(names) == 0 {
		return nil
	}
	return j.lie(anew, LieName, "names", "", "%s: made of randomness that the module drew while it was loaded, and so the same in every call; sdk.Random and crypto/rand "+
		"are the call's own, and the order of a map is not", strings.Join(names, ", "))
}
