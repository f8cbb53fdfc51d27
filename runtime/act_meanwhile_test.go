package runtime_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// meanwhile is a run whose model is slow enough for something else to happen.
func meanwhile(t *testing.T, happens func(m *machine)) (*machine, *model, error) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	asked := &model{answers: []answer{{during: func(context.Context, runtime.Attempt) { happens(m) }}}}
	_, err := m.drive(m.start(nil), asking(asked, runtime.Act{}, "x"))
	return m, asked, err
}

func TestACancellationWhileAModelIsAskedKeepsTheReply(t *testing.T) {
	m, asked, err := meanwhile(t, func(m *machine) {
		if err := m.start(nil).Cancel(context.Background(), "r", "ann", "enough"); err != nil {
			t.Error(err)
		}
	})
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled || m.world.total() != 0 || asked.asked() != 1 {
		t.Errorf("ended with %v after %d effects", err, m.world.total())
	}
	want := []string{"created", "claimed", "intent model[0]", "cancel", "result model[0]", "finished"}
	if got := m.log(); !slices.Equal(got, want) || m.results()["model[0]"] != `"answer"` {
		t.Errorf("log %v with %v, want %v", got, m.results(), want)
	}
}

// A model that fails after the run was cancelled is not asked again, nor is its pause waited for.
func TestACancelledRunDoesNotAskAgain(t *testing.T) {
	m := newMachine(t, nil)
	asked := &model{answers: []answer{{err: busyModel(toolabi.RetrySafe, 0), during: func(context.Context, runtime.Attempt) {
		m.say(journal.Entry{Kind: journal.Cancel, By: "ann"})
	}}}}
	_, err := m.drive(m.start(nil), asking(asked, runtime.Act{Retry: patient}))
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled || asked.asked() != 1 {
		t.Errorf("ended with %v, asked %d times", err, asked.asked())
	}
}

func TestATakeOverWhileAModelIsAskedMakesTheReplyLate(t *testing.T) {
	m, _, err := meanwhile(t, (*machine).steal)
	var busy *runtime.BusyError
	if !errors.As(err, &busy) || !slices.Equal(busy.Late, []journal.Step{"model[0]"}) || m.world.total() != 0 {
		t.Errorf("ended with %v after %d effects", err, m.world.total())
	}
	want := []string{"created", "claimed", "intent model[0]", "claimed", "late model[0]"}
	if got := m.log(); !slices.Equal(got, want) {
		t.Errorf("log %v, want %v", got, want)
	}
}

func TestARecordWhileAModelIsAskedStandsBeforeTheReply(t *testing.T) {
	m, asked, err := meanwhile(t, func(m *machine) { m.say(journal.Entry{Kind: journal.Record, Name: "note", By: "ann"}) })
	if err != nil || m.world.total() != 1 || asked.asked() != 1 {
		t.Errorf("ended with %v after %d effects", err, m.world.total())
	}
	want := []string{"created", "claimed", "intent model[0]", "record", "result model[0]"}
	if got := m.log(); len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("log %v, want %v at its beginning", got, want)
	}
}

// Nothing of the journal's file is held while a model is asked: another process has it to itself meanwhile.
func TestNothingOfTheJournalIsHeldWhileAModelIsAsked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "journal.db")
	j, err := boltdb.Create(t.Context(), file, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	m := newMachine(t, map[string]tool{"x": one("a")})
	other := func(context.Context, runtime.Attempt) {
		j, err := boltdb.Open(t.Context(), file, boltdb.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		defer j.Close()
		p := m.process(j, nil)
		for s, err := range j.List(t.Context(), journal.Query{}) {
			for e, err := range j.Read(t.Context(), s.Run, 0) {
				if err != nil || e.Kind == journal.Result {
					t.Errorf("read %+v, %v", e, err)
				}
			}
			if err != nil || s.Len != 3 {
				t.Errorf("listed %+v, %v", s, err)
			}
		}
		if err := p.Cancel(t.Context(), "r", "ann", ""); err != nil {
			t.Error(err)
		}
	}
	asked := &model{answers: []answer{{during: other}}}
	_, err = m.drive(m.process(j, nil), asking(asked, runtime.Act{}, "x"))
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || failed.Outcome != journal.Cancelled || m.world.total() != 0 {
		t.Errorf("ended with %v after %d effects", err, m.world.total())
	}
	journaltest.Check(t, j)
}
