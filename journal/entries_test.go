package journal_test

import (
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

const me = "owner-1"

// The smallest entries that the rules allow; tests change what they are about.

func created() journal.Entry {
	return journal.Entry{Kind: journal.Created, Name: "test"}
}

func claimed(owner string) journal.Entry {
	return journal.Entry{Kind: journal.Claimed, Owner: owner}
}

func intent(step journal.Step, cut journal.OnCut) journal.Entry {
	return journal.Entry{
		Kind: journal.Intent, Step: step, Name: "tool", OnCut: cut, Owner: me, Key: "key", SendBy: 1 << 62, Request: journal.DigestOf([]byte(step)),
	}
}

func result(step journal.Step) journal.Entry {
	return journal.Entry{Kind: journal.Result, Step: step, Owner: me, Outcome: journal.OK, Effect: journal.EffectApplied}
}

func observed(step journal.Step) journal.Entry {
	e := result(step)
	e.OnCut, e.Name, e.Request = journal.Redo, "tool", journal.DigestOf([]byte(step))
	return e
}

func retry(e journal.Entry, effect journal.Effect) journal.Entry {
	e.Outcome, e.Effect, e.Retry = journal.Fail, effect, true
	return e
}

func void(step journal.Step) journal.Entry {
	return journal.Entry{Kind: journal.Void, Step: step, Owner: me}
}

func record(name string) journal.Entry { return journal.Entry{Kind: journal.Record, Name: name} }

func late(step journal.Step) journal.Entry {
	return journal.Entry{Kind: journal.Late, Step: step, Outcome: journal.OK, Owner: "owner-0"}
}

func finished(o journal.Outcome) journal.Entry {
	return journal.Entry{Kind: journal.Finished, Owner: me, Outcome: o}
}

var (
	cancel   = journal.Entry{Kind: journal.Cancel}
	restored = journal.Entry{Kind: journal.Restored}
	released = journal.Entry{Kind: journal.Released, Owner: me, Name: journal.StopWaiting}
)

// fold makes a log of entries, the first two of which are created and claimed by me.
func fold(t *testing.T, entries ...journal.Entry) *journal.State {
	t.Helper()
	s := &journal.State{Run: "r"}
	for i, e := range append([]journal.Entry{created(), claimed(me)}, entries...) {
		e.Seq = s.Len
		if err := s.Apply(e); err != nil {
			t.Fatalf("entry %d, %s of %q: %v", i, e.Kind, e.Step, err)
		}
	}
	return s
}

// refused asserts that the rules forbid an entry with an error, and that the state stays as it was.
func refused(t *testing.T, s *journal.State, e journal.Entry, want error) {
	t.Helper()
	before, _ := journal.MarshalState(s)
	e.Seq = s.Len
	if err := s.Apply(e); !errors.Is(err, want) {
		t.Errorf("%s of %q: got %v, want %v", e.Kind, e.Step, err, want)
	}
	if after, _ := journal.MarshalState(s); string(after) != string(before) {
		t.Errorf("a refused %s of %q changed the state", e.Kind, e.Step)
	}
}
