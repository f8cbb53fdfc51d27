package journal

import (
	"errors"
	"fmt"
)

// Longest names of tool state, in bytes.
const (
	MaxSpace = 256
	MaxKey   = 1024
)

// Extension is what an Append would make of a log.
type Extension struct {
	// State is the log folded with the new entries.
	State *State
	// Entries are the new entries with Schema, Seq and Hash set, Records their encodings.
	Entries []Entry
	Records [][]byte
}

// Extend judges an Append of entries at position at to the log that s folds, and changes nothing. Stores call it inside
// their Append, under whatever keeps the log from moving meanwhile; the versions of Writes are theirs to check. has
// says whether the log holds an entry of that step and phase already.
//
// Errors: ErrConflict, those of State.Apply, ErrExists, and what has returns.
func Extend(s *State, at uint64, entries []Entry, has func(Step, uint8) (bool, error)) (*Extension, error) {
	if at != s.Len {
		return nil, fmt.Errorf("%w: run %.140q has %d entries, not %d", ErrConflict, s.Run, s.Len, at)
	}
	if len(entries) == 0 || len(entries) > MaxAppend {
		return nil, fmt.Errorf("%w: an append of %d entries, want 1 to %d", ErrInvalid, len(entries), MaxAppend)
	}
	if after := entries[0].After; !after.IsZero() && after != s.Head {
		return nil, fmt.Errorf("%w: run %.140q ends with %s, not %s", ErrConflict, s.Run, s.Head.Short(), after.Short())
	}
	x := &Extension{State: s.Clone(), Entries: make([]Entry, len(entries)), Records: make([][]byte, len(entries))}
	seen := map[stepPhase]bool{}
	before := s.Head
	if s.Len == 0 {
		before = ChainStart(s.Run)
	}
	for i, e := range entries {
		if i > 0 && !e.After.IsZero() {
			return nil, invalid(e, "only the first entry of an append can say what it follows")
		}
		e.Seq = at + uint64(i)
		if err := judgeShape(e); err != nil {
			return nil, err
		}
		record, err := e.Marshal(before)
		if err != nil {
			return nil, err
		}
		if err := x.apply(e, seen, has); err != nil {
			return nil, err
		}
		x.Entries[i], x.Records[i], before = e, record, e.Hash
	}
	return x, nil
}

type stepPhase struct {
	step  Step
	phase uint8
}

// apply folds e. That the very entry is there already says more than that it breaks a rule.
func (x *Extension) apply(e Entry, seen map[stepPhase]bool, has func(Step, uint8) (bool, error)) error {
	_, open := x.State.Open[e.Step]
	err := x.State.Apply(e)
	if err != nil && !errors.Is(err, ErrInvalid) || e.Phase() == 0 || e.Step.Validate() != nil {
		return err
	}
	k := stepPhase{e.Step, e.Phase()}
	phases := []uint8{e.Phase()}
	if err == nil {
		phases = excludes(e, open)
	}
	for _, phase := range phases {
		there := seen[stepPhase{e.Step, phase}]
		if !there {
			var herr error
			if there, herr = has(k.step, phase); herr != nil {
				return herr
			}
		}
		if there {
			return fmt.Errorf("%w: the %s of %s", ErrExists, Kind(phase), e.Step)
		}
	}
	seen[k] = true
	return err
}

// excludes are the phases of which the step of e has no entry yet, if e is right; open says whether the step is.
func excludes(e Entry, open bool) []uint8 {
	if e.Kind == Intent || e.Kind == Result && !open {
		// The first entry of a step: one that has ended does not begin again.
		return []uint8{uint8(Intent), uint8(Result), uint8(Void)}
	}
	return []uint8{e.Phase()}
}

// judgeShape refuses what no log may hold, whatever is in it already.
func judgeShape(e Entry) error {
	switch {
	case len(e.Body) > MaxInline:
		return invalid(e, "a body of %d bytes, at most %d are kept in the log", len(e.Body), MaxInline)
	case !e.Blob.IsZero() && len(e.Body) > 0:
		return invalid(e, "it has a body and a blob")
	case e.Blob.IsZero() != (e.Size == 0) || e.Size < 0:
		return invalid(e, "a blob and its size belong together")
	}
	for _, w := range e.Writes {
		switch {
		case w.Space == "" || len(w.Space) > MaxSpace:
			return invalid(e, "a name of a space has %d bytes, want 1 to %d", len(w.Space), MaxSpace)
		case w.Key == "" || len(w.Key) > MaxKey:
			return invalid(e, "a key has %d bytes, want 1 to %d", len(w.Key), MaxKey)
		case w.Delete && len(w.Value) > 0:
			return invalid(e, "it deletes key %.80q and gives it a value", w.Key)
		}
	}
	return nil
}

// Next returns the version that a write makes of a key, which is there with a version, or not there after having had
// it. Errors: ErrStale.
func (w Write) Next(version uint64, there bool) (uint64, error) {
	found := version
	if !there {
		found = 0
	}
	if w.Expect != found {
		return 0, fmt.Errorf("%w: key %.80q of %.80q has version %d, not %d", ErrStale, w.Key, w.Space, found, w.Expect)
	}
	return version + 1, nil
}
