package runtime_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// Who observes is told when a run is claimed and let go of, and sees a step that a crash has cut off begin when it was announced.
func TestARunIsObservedFromItsClaimToItsEnd(t *testing.T) {
	m := newMachine(t, map[string]tool{"charge": func(g *guest, _ string) string {
		g.must(toolabi.FuncHTTPSend, "a")
		return `1`
	}})
	var seen []string
	var announced, created int64
	observing := func(c *runtime.Config) {
		c.Observe = func(ev runtime.Event) {
			switch ev.Phase {
			case runtime.Driven:
				created = ev.Began.UnixNano()
			case runtime.LetGo:
				if ev.Began.UnixNano() != created || ev.Driver == "" {
					t.Errorf("let go of %+v", ev)
				}
			case runtime.Ended:
				if ev.Step == "s1" {
					announced = ev.Began.UnixNano()
				}
				if len(ev.Request) == 0 || len(ev.Reply) == 0 {
					t.Errorf("%s has asked %q and was answered %q", ev.Step, ev.Request, ev.Reply)
				}
			}
			seen = append(seen, fmt.Sprintln(ev.Phase, ev.Step, ev.Outcome, ev.Finished))
		}
	}
	if _, err := m.drive(m.process(journaltest.CrashBefore(m.mem.Handle(), 4), observing), steps("charge")); err == nil {
		t.Fatal("the crash went by unseen")
	}
	seen = nil
	if _, err := m.drive(m.process(m.mem.Handle(), observing), steps("charge")); err != nil {
		t.Fatal(err)
	}
	said := func(p runtime.Phase, step, outcome string, finished bool) string {
		return fmt.Sprintln(p, step, outcome, finished)
	}
	want := []string{
		said(runtime.Driven, "", "", false), said(runtime.Begun, "s1", "", false), said(runtime.Served, "s1/1", "", false),
		said(runtime.Ended, "s1", "", false), said(runtime.LetGo, "", "ok", true),
	}
	if !slices.Equal(seen, want) {
		t.Errorf("observed %q, want %q", seen, want)
	}
	if in := m.intents()["s1"]; in.Time != announced {
		t.Errorf("s1 was announced at %d, and observed to begin at %d", in.Time, announced)
	}
}
