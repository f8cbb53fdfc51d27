package runtime

import (
	"strings"

	"github.com/wrun-dev/wrun/journal"
)

// What the entries say that let go of a run which nobody drove.
const (
	noteForked  = "forked"
	noteSettled = "settled "
)

// EndsCopy says whether everything before an entry was copied from another run. What was paid for it was paid there.
func EndsCopy(e journal.Entry) bool {
	return e.Kind == journal.Released && e.Name == journal.StopInterrupted && e.Note == noteForked
}

// EndsSettling says whether an entry lets go of a run that was claimed only to say what became of a step. Nothing was served and
// nothing was sent meanwhile.
func EndsSettling(e journal.Entry) bool {
	return e.Kind == journal.Released && e.Name == journal.StopInterrupted && strings.HasPrefix(e.Note, noteSettled)
}
