package journaltest

import (
	"maps"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

// testLabels holds that listings have the labels of runs, whoever drives them, finished or not, also after the journal was closed.
func (m Maker) testLabels(t *testing.T) {
	dir := t.TempDir()
	j := m.Open(t, dir)
	label := func(now int64, key, value string) journal.Entry {
		e := journal.Label(key, value)
		e.Time = now
		return e
	}
	mustAppend(t, j, "r", 0, created(1), label(1, "env", "test"), label(1, "team", "a"), claimed(2))
	refuse(t, j, journal.ErrInvalid, "r", 4, label(3, "Env", "test"))
	mustAppend(t, j, "r", 4, label(3, "env", "live"), label(3, "team", ""))
	mustAppend(t, j, "r", 6, journal.Entry{Kind: journal.Finished, Time: 4, Owner: owner, Outcome: journal.OK})
	mustAppend(t, j, "r", 7, label(5, "seen", "yes"))
	begin(t, j, "plain")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = m.openDir(t, dir)
	want := map[string]string{"env": "live", "seen": "yes"}
	if s := state(t, j, "r"); !maps.Equal(s.Labels, want) || !s.Finished || s.Unsettled() {
		t.Errorf("the run is listed as %+v, want labels %v", s, want)
	}
	if s := state(t, j, "plain"); len(s.Labels) != 0 {
		t.Errorf("a run without labels has %v", s.Labels)
	}
}
