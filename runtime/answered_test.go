package runtime_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// An answer that comes while another branch is still under way finds a run that is about to be released as waiting.
func TestAnAnswerThatComesWhileTheRunIsDrivenIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := agreeing(t)
		m.tools["work"] = func(g *guest, _ string) string { return `"` + g.must(toolabi.FuncHTTPSend, "work") + `"` }
		other := m.start(nil)
		m.world.during = func(string) {
			m.world.during = nil
			if err := other.Answer(t.Context(), "r", "a", runtime.Answer{Yes: true, By: "ann"}); err != nil {
				t.Error(err)
			}
		}
		driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			_, first := r.Call(ctx, "a", "m.pay", []byte(`1`))
			_, second := r.Call(ctx, "b", "m.work", []byte(`1`))
			return []byte(`1`), errors.Join(first, second)
		}
		var w *runtime.WaitingError
		if _, err := m.drive(m.start(nil), driver); !errors.As(err, &w) {
			t.Fatalf("ended with %v", err)
		}
		p := m.process(m.mem.Handle(), func(c *runtime.Config) {
			c.Drivers = map[string]runtime.DriverInfo{"test": {Drive: driver}}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of the bubble's time
		defer cancel()
		if err := p.Await(ctx, "r"); err != nil {
			t.Errorf("waiting for it ended with %v", err)
		}
		if got := work(t, p); !slices.Equal(got, []string{"r"}) || m.status() != journal.Done || m.world.count("pay 1") != 1 {
			t.Errorf("drove %v, status %s, effects %v", got, m.status(), m.world.effects)
		}
		if got := work(t, p); len(got) != 0 {
			t.Errorf("drove %v once more", got)
		}
	})
}
