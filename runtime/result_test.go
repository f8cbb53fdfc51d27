package runtime_test

import (
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/runtime"
)

// Whoever drives a run by its id alone is told what drove it, however it ends.
func TestAResultNamesTheDriver(t *testing.T) {
	m := agreeing(t)
	p := m.start(nil)
	res, err := m.drive(p, pays(`1`))
	var w *runtime.WaitingError
	if !errors.As(err, &w) || res.Driver != "test" {
		t.Errorf("waiting: %+v, %v", res, err)
	}
	if err := p.Answer(t.Context(), "r", "a", runtime.Answer{Yes: true}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if res, err := m.drive(p, pays(`1`)); err != nil || res.Driver != "test" {
			t.Errorf("%+v, %v", res, err)
		}
	}
}
