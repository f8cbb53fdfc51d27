package runtime_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// labelsOf are the labels of a run as the journal lists it.
func labelsOf(t *testing.T, p *process, run string) map[string]string {
	t.Helper()
	for s, err := range p.store.List(t.Context(), journal.Query{Run: run}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Crashes != 0 || s.Woken {
			t.Errorf("%s: labels count as crashes or as answers: %+v", run, s)
		}
		return s.Labels
	}
	t.Fatalf("there is no run %s", run)
	return nil
}

// A run begins with its labels in the append that makes it, is labelled by another process while it is driven and after its end, and
// does what it would have done without; its copy has the labels too.
func TestLabelsChangeNothingOfARun(t *testing.T) {
	m, driver := three(t)
	other := m.start(nil)
	label := func(set map[string]string, remove ...string) {
		if err := other.Label(context.Background(), "r", "ann", set, remove...); err != nil {
			t.Error(err)
		}
	}
	m.world.during = func(request string) { label(map[string]string{"at": request}) }
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	spec.Labels = map[string]string{"env": "test", "team": "a"}
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	if got := m.log(); !slices.Equal(got, []string{"created", "record", "record", "claimed"}) {
		t.Errorf("it begins with %v", got)
	}
	res, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}})
	if err != nil || res.Counts.Executed != 6 || m.world.total() != 3 {
		t.Fatalf("%+v, %v, %d effects", res, err, m.world.total())
	}
	if n := strings.Count(strings.Join(m.log(), " "), "claimed"); n != 1 {
		t.Errorf("it was claimed %d times, want once: %v", n, m.log())
	}
	label(map[string]string{"env": "live", "seen": "yes"}, "team", "nosuch")
	want := map[string]string{"env": "live", "seen": "yes", "at": "c"}
	if got := labelsOf(t, p, "r"); !maps.Equal(got, want) {
		t.Errorf("it has the labels %v, want %v", got, want)
	}
	n := len(m.log())
	label(map[string]string{"env": "live"}, "team")
	if got := len(m.log()); got != n {
		t.Errorf("%d entries were written of what was so already", got-n)
	}
	if again, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}}); err != nil || !again.Replayed {
		t.Errorf("after its end: %+v, %v", again, err)
	}
	if _, err := p.Fork(t.Context(), "r", "b", "r2", "ann", ""); err != nil {
		t.Fatal(err)
	}
	if got := labelsOf(t, p, "r2"); !maps.Equal(got, want) {
		t.Errorf("the copy has the labels %v, want %v", got, want)
	}
}

func TestWhatIsNoLabelIsNotWritten(t *testing.T) {
	m := newMachine(t, map[string]tool{"free": func(*guest, string) string { return `1` }})
	p := m.start(nil)
	spec, modules := m.spec(`{}`)
	many := map[string]string{}
	for len(many) < journal.MaxLabels {
		many["k"+strings.Repeat("x", len(many))] = "v"
	}
	spec.Labels = map[string]string{"Env": "test"}
	var wrong *runtime.LabelError
	if _, err := p.Start(t.Context(), "r", spec, modules, true); !errors.As(err, &wrong) {
		t.Errorf("a run with a bad label: %v", err)
	}
	if err := p.Label(t.Context(), "r", "ann", map[string]string{"env": "test"}); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
	spec.Labels = many
	if _, err := p.Start(t.Context(), "r", spec, modules, false); err != nil {
		t.Fatal(err)
	}
	for name, set := range map[string]map[string]string{
		"one too many": {"env": "test"}, "without a value": {"k": ""}, "two lines": {"k": "a\nb"}, "not UTF-8": {"k": "\xff"},
	} {
		if err := p.Label(t.Context(), "r", "ann", set); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.Label(t.Context(), "r", "ann", map[string]string{"env": "test"}, "k"); err != nil {
		t.Errorf("one in the place of another: %v", err)
	}
	if got := labelsOf(t, p, "r"); len(got) != journal.MaxLabels || got["env"] != "test" {
		t.Errorf("it has %d labels: %v", len(got), got)
	}
}
