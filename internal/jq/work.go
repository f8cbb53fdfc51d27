package jq

import (
	"context"
	"fmt"
)

// Work is how many instructions of the interpreter may still be spent. Several expressions that are evaluated one after
// the other may share it.
type Work struct{ limit, left int }

// NewWork returns work of limit instructions.
func NewWork(limit int) *Work { return &Work{limit: limit, left: limit} }

// WorkError is an expression that was stopped because the work was used up.
type WorkError struct {
	// Limit is how many instructions there were.
	Limit int
}

// Error returns "it takes more than 4000000 instructions".
func (e *WorkError) Error() string { return fmt.Sprintf("it takes more than %d instructions", e.Limit) }

// meter is a context that is done after so many looks at it. The interpreter looks before each instruction, so this
// counts work instead of time, and stops an endless expression at the same instruction everywhere.
type meter struct {
	context.Context
	work *Work
}

// spent is what is done from the beginning.
var spent = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

func (m *meter) Done() <-chan struct{} {
	if m.work.left--; m.work.left < 0 {
		return spent
	}
	return m.Context.Done()
}

func (m *meter) Err() error {
	if m.work.left < 0 {
		return &WorkError{Limit: m.work.limit}
	}
	return m.Context.Err()
}
