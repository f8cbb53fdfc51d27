package crashtest_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/internal/crashtest"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/toolabi"
)

func places(t crashtest.Trace) (names []string) {
	for _, p := range t.Places() {
		names = append(names, p.String())
	}
	return names
}

// The order of places, and so the number of a trial, does not depend on which of two branches came first.
func TestBranchesThatRunAtOnceAreVisitedInTheOrderOfTheirNames(t *testing.T) {
	mark := func(kind string, step journal.Step) []crashtest.Mark {
		return []crashtest.Mark{{Kind: kind, Step: step, Nth: 1}}
	}
	begin, end := mark("claimed", ""), mark("finished", "")
	a, b := mark("intent", "item[2]/1"), mark("intent", "item[10]/1")
	aEnds, bEnds := mark("result", "item[2]/1"), mark("result", "item[10]/1")
	one := places(crashtest.Trace{begin, a, b, aEnds, bEnds, end})
	other := places(crashtest.Trace{begin, b, a, bEnds, aEnds, end})
	if !slices.Equal(one, other) || len(one) != 12 || one[2] != "before the intent of item[2]/1" {
		t.Errorf("got\n%q and\n%q", one, other)
	}
	sequence := places(crashtest.Trace{begin, b, bEnds, a, aEnds, end})
	if sequence[2] != "before the intent of item[10]/1" {
		t.Errorf("what came one after the other was put into another order: %q", sequence)
	}
}

// An entry that would not have been appended by itself is no place, unless nothing else was appended with it.
func TestWhatRidesAlongIsNoPlaceOfItsOwn(t *testing.T) {
	rides := crashtest.Mark{Kind: "intent", Step: "a", Nth: 1, Rides: true}
	got := places(crashtest.Trace{{rides, {Kind: "intent", Step: "a/1", Nth: 1}}, {{Step: "a/1", Nth: 1}}, {rides}})
	want := []string{
		"before the intent of a/1", "after the intent of a/1", "while a/1 is in flight", "before the intent of a", "after the intent of a",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAProcessDiesWhereItIsToDie(t *testing.T) {
	dead := errors.New("dead")
	claim := journal.Entry{Kind: journal.Claimed, Owner: "o"}
	for _, c := range []struct {
		place crashtest.Place
		want  uint64 // how long the log is then
	}{
		{crashtest.Place{When: crashtest.Before, Kind: "created", Nth: 1}, 0},
		{crashtest.Place{When: crashtest.After, Kind: "created", Nth: 1}, 1},
		{crashtest.Place{When: crashtest.Before, Kind: "intent", Step: "a", Nth: 1}, 2},
		{crashtest.Place{When: crashtest.After, Kind: "intent", Step: "a", Nth: 1}, 3},
	} {
		j := journaltest.NewMem()
		var died []crashtest.Place
		w := crashtest.Watch(j.Handle(), &c.place, func(at crashtest.Place) error { died = append(died, at); return dead })
		var err error
		for i, e := range []journal.Entry{
			{Kind: journal.Created, Name: "d", Body: []byte("spec")}, claim,
			{Kind: journal.Intent, Step: "a", Name: "tool", Class: uint8(toolabi.Call), OnCut: journal.Redo, Owner: "o", Request: journal.Digest{1}},
		} {
			if err = w.Append(context.Background(), "r", uint64(i), e); err != nil {
				break
			}
		}
		var n uint64
		for range j.Handle().Read(t.Context(), "r", 0) {
			n++
		}
		if n > 0 && c.want == 0 {
			n-- // the error that there is no such run
		}
		if !errors.Is(err, dead) || n != c.want || len(died) != 1 || died[0] != c.place {
			t.Errorf("%s: %v, the log has %d entries, want %d", c.place, err, n, c.want)
		}
	}
}
