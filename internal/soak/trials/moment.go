package trials

import "strings"

// Moment is where a kill landed, read from the log that it left.
type Moment string

// The moments, in the order in which they come.
const (
	BeforeCreated Moment = "before the run was created"
	BeforeSteps   Moment = "created, no step begun"
	InCall        Moment = "in a call, nothing announced"
	InEffect      Moment = "between intent and result"
	AfterEffect   Moment = "in a call, after its effect's result"
	BetweenSteps  Moment = "between a result and the next intent"
	AfterFinished Moment = "after the end was recorded"
	// InDoubtAlready: between intent and result too, but an earlier kill left it so.
	InDoubtAlready Moment = "while an earlier effect was in doubt"
	LookingUp      Moment = "in the look-up of an effect in doubt"
	Resolving      Moment = "in wrun resolve"
)

// Moments lists all moments.
var Moments = []Moment{
	BeforeCreated, BeforeSteps, InCall, InEffect, AfterEffect, BetweenSteps, AfterFinished, InDoubtAlready, LookingUp, Resolving,
}

// momentOf says where a kill landed, from the log before the process was started and after it was killed.
func momentOf(before, after []entry) Moment {
	steps, effects := open(after), openEffects(after)
	switch {
	case len(after) == 0:
		return BeforeCreated
	case has(after, "finished"):
		return AfterFinished
	case len(effects) > 0 && openBelow(after, effects[0].Step):
		return LookingUp
	case len(effects) > 0 && effects[0].once() && effects[0].Seq < len(before):
		return InDoubtAlready
	case len(effects) > 0:
		return InEffect
	case len(steps) > 0 && hasResultBelow(after, steps[0].Step):
		return AfterEffect
	case len(steps) > 0:
		return InCall
	case has(after, "intent"):
		return BetweenSteps
	}
	return BeforeSteps
}

func hasResultBelow(log []entry, step string) bool {
	for _, e := range log {
		if e.Kind == "result" && strings.HasPrefix(e.Step, step+"/") {
			return true
		}
	}
	return false
}
