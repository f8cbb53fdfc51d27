package runtime_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// All that a driver has in its hands. None of these says yes to what the run asks: what is asked is answered by Engine.Answer,
// which a driver does not have, and the log refuses a yes in the name of whoever drives (package journal). A method that is added
// here has to be looked at in that light.
var inADriversHands = []string{
	"Approve", "Budget", "Call", "CallAll", "Do", "Flush", "ID", "Input", "Invoke", "Modules", "Plan", "Recorded", "Sleep", "SleepUntil", "Spent",
}

func TestADriverHasNoWayToAnswerItsOwnQuestions(t *testing.T) {
	var has []string
	run := reflect.TypeFor[*runtime.Run]()
	for m := range run.NumMethod() {
		has = append(has, run.Method(m).Name)
	}
	if !slices.Equal(has, inADriversHands) {
		t.Errorf("a driver has %v, want %v", has, inADriversHands)
	}
	for i := range run.Elem().NumField() {
		if f := run.Elem().Field(i); f.IsExported() {
			t.Errorf("a driver has the field %s", f.Name)
		}
	}
}

// Steps with the names of questions are not the driver's, and asking for what a question is about answers nothing.
func TestADriverDoesNotReachItsQuestions(t *testing.T) {
	m := agreeing(t)
	own := &model{answers: []answer{{}}}
	_, err := m.drive(m.start(nil), func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		_, err := pays(`1`)(ctx, r)
		_, again := r.Do(ctx, "a?", runtime.Act{Name: "approve", Class: toolabi.Effect, Do: own.do})
		if again == nil || own.asked() != 0 {
			t.Error("a driver does a step that is a question")
		}
		return nil, errors.Join(err, again)
	})
	if err == nil || m.world.total() != 0 || slices.Contains(m.log(), "result a?") {
		t.Errorf("ended with %v, log %v", err, m.log())
	}
	if s := m.status(); s == journal.Done {
		t.Errorf("the status is %s", s)
	}
}
