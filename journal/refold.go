package journal

import "fmt"

// Refold judges a record, as Entry.Marshal made it, as the next one of the log that s folds, and folds it; after an error s is as it was.
// A State with Run set is the beginning. It is for those who read a log without believing where they have it from. The record stays as
// it is, whichever schema it was written under, and what its Writes would change is not looked at.
//
// has says whether the log holds an entry of that step and phase already. With nil nothing is asked: then it is the caller's to see that
// no phase of a step comes twice, and that an entry which NeedsIntent has one.
//
// Errors: ErrDamaged for what does not fit the chain of hashes or breaks a rule, ErrNewer, and what has returns.
func (s *State) Refold(record []byte, has func(Step, uint8) (bool, error)) (Entry, error) {
	before := s.Head
	if s.Len == 0 {
		before = ChainStart(s.Run)
	}
	if len(record) > len(before)+MaxEntry {
		return Entry{}, fmt.Errorf("%w: a record has %d bytes", ErrDamaged, len(record))
	}
	e, err := Unmarshal(record, before)
	if err == nil && has != nil {
		err = s.refoldStep(e, has)
	}
	if err == nil {
		err = checkRules(s, e)
	}
	return e, err
}

// refoldStep holds an entry against those of its step that the log has.
func (s *State) refoldStep(e Entry, has func(Step, uint8) (bool, error)) error {
	if e.Phase() == 0 || e.Step.Validate() != nil { // which the rules refuse
		return nil
	}
	_, open := s.Open[e.Step]
	for _, phase := range excludes(e, open) {
		there, err := has(e.Step, phase)
		if err != nil {
			return err
		}
		if there {
			return fmt.Errorf("%w: a second %s of %s", ErrDamaged, Kind(phase), e.Step)
		}
	}
	if !e.NeedsIntent() {
		return nil
	}
	there, err := has(e.Step, uint8(Intent))
	if err == nil && !there {
		err = fmt.Errorf("%w: the result of %s has no intent", ErrDamaged, e.Step)
	}
	return err
}
