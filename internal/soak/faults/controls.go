package faults

import "context"

// Control is a build that breaks a rule on purpose.
type Control struct {
	// Tag is its build tag, By the way that noticed it, "" for none.
	Tag, By string
	// Skipped says why nothing was tested.
	Skipped string
}

func (t *tier) controls(context.Context) error { return nil }
