package journaltest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

// write makes a log of three entries in three appends, and stops at the first error.
func write(t *testing.T, j journal.Journal) error {
	for at, e := range []journal.Entry{
		{Kind: journal.Created, Time: 1, Name: "test"},
		{Kind: journal.Claimed, Time: 2, Owner: "o"},
		{Kind: journal.Finished, Time: 3, Owner: "o", Outcome: journal.OK},
	} {
		if err := j.Append(t.Context(), "r", uint64(at), e); err != nil {
			return err
		}
	}
	return nil
}

func length(t *testing.T, j journal.Journal) int {
	t.Helper()
	n := 0
	for _, err := range j.Read(t.Context(), "r", 0) {
		if errors.Is(err, journal.ErrNotFound) {
			return 0
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

func TestCrasherDiesAtEveryAppend(t *testing.T) {
	for n := range 5 {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(n, after), func(t *testing.T) {
				m := journaltest.NewMem()
				witness := m.Handle()
				journaltest.CheckOnCleanup(t, witness)
				c := journaltest.CrashBefore(m, n)
				if after {
					c = journaltest.CrashAfter(m, n)
				}
				err := write(t, c)
				dies := n >= 1 && n <= 3
				if dies != errors.Is(err, journal.ErrUnusable) || dies != c.Crashed() || !dies && err != nil {
					t.Fatalf("got %v, crashed %v", err, c.Crashed())
				}
				want, appends := 3, 3
				if dies {
					want, appends = n-1, n
					if after {
						want = n
					}
					expectDead(t, c)
				}
				if got := length(t, witness); got != want || c.Appends() != appends {
					t.Errorf("%d entries after %d appends, want %d after %d", got, c.Appends(), want, appends)
				}
			})
		}
	}
}

// expectDead asserts that every call on a dead handle says so.
func expectDead(t *testing.T, c *journaltest.Crasher) {
	t.Helper()
	ctx := t.Context()
	errs := map[string]error{"append": c.Append(ctx, "other", 0, journal.Entry{Kind: journal.Created, Name: "test"})}
	for _, err := range c.Read(ctx, "r", 0) {
		errs["read"] = err
	}
	for _, err := range c.List(ctx, journal.Query{}) {
		errs["list"] = err
	}
	for _, err := range c.Scan(ctx, "s", "", "") {
		errs["scan"] = err
	}
	_, _, errs["get"] = c.Get(ctx, "s", "k")
	_, _, errs["put"] = c.Put(ctx, nil)
	_, errs["open"] = c.Open(ctx, journal.Digest{})
	_, errs["stat"] = c.Stat(ctx, journal.Digest{})
	_, errs["owner"] = c.Owner()
	_, errs["liveness"] = c.Liveness("o")
	_, errs["id"] = c.ID()
	if len(errs) != 11 {
		t.Errorf("%d calls answered, want 11", len(errs))
	}
	for call, err := range errs {
		if !errors.Is(err, journal.ErrUnusable) {
			t.Errorf("%s on a dead handle: got %v, want %v", call, err, journal.ErrUnusable)
		}
	}
}

func TestCrasherPassesTheSuite(t *testing.T) {
	journals := map[string]*journaltest.Mem{}
	journaltest.Run(t, journaltest.Maker{Open: func(t *testing.T, dir string) journaltest.Store {
		if journals[dir] == nil {
			journals[dir] = journaltest.NewMem()
		}
		return journaltest.CrashBefore(journals[dir].Handle(), 0)
	}})
}

func TestHookIsCalledAroundEveryAppend(t *testing.T) {
	m := journaltest.NewMem()
	var got []string
	j := journaltest.HookAppends(m, func(n int, committed bool) {
		got = append(got, fmt.Sprint(n, committed, length(t, m)))
	})
	if err := write(t, j); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(t.Context(), "r", 0, journal.Entry{Kind: journal.Created}); !errors.Is(err, journal.ErrConflict) {
		t.Fatal(err)
	}
	want := []string{"1 false 0", "1 true 1", "2 false 1", "2 true 2", "3 false 2", "3 true 3", "4 false 3"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
