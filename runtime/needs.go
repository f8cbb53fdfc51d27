package runtime

import "github.com/wrun-dev/wrun/journal"

// WaitsForPerson says whether a run has something that a person has to say: what Inbox lists of it. What a living process is about is
// not among it, but for questions. Only runs that are journal.State.Unsettled have.
func (e *Engine) WaitsForPerson(s *journal.State) bool {
	if s.Imported { // whoever has something to say of it says it where it is driven
		return false
	}
	return s.Late > 0 || s.Unconfirmed || len(s.InDoubt()) > 0 && !e.ownerLives(s) || asksSomebody(s) || e.standsStill(s) != ""
}
