package journaltest_test

import (
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

func TestMem(t *testing.T) {
	journals := map[string]*journaltest.Mem{}
	journaltest.Run(t, journaltest.Maker{Open: func(t *testing.T, dir string) journaltest.Store {
		if journals[dir] == nil {
			journals[dir] = journaltest.NewMem()
			return journals[dir]
		}
		return journals[dir].Handle()
	}})
}

func TestAKilledHandleIsADeadOwner(t *testing.T) {
	m := journaltest.NewMem()
	other := m.Handle()
	owner, err := m.Owner()
	if err != nil {
		t.Fatal(err)
	}
	m.Kill()
	if got, err := other.Liveness(owner); got != journal.Dead || err != nil {
		t.Errorf("liveness: got %d, %v, want dead", got, err)
	}
	if err := m.Append(t.Context(), "r", 0, journal.Entry{Kind: journal.Created, Name: "test"}); err == nil {
		t.Error("a killed handle appends")
	}
	if got := m.Commits(); got != 0 {
		t.Errorf("%d commits, want none", got)
	}
}
