package runtime

import (
	"github.com/wrun-dev/wrun/journal"
)

// Recorded says whether the log holds what came of a step of the driver's, so that asking for it executes nothing. An attempt
// after which another one follows is not what came of it.
func (r *Run) Recorded(step journal.Step) bool {
	_, past, _ := r.lookup(step)
	return past != nil && past.Result != nil && !past.Result.Retry
}

// Unable makes an error of a driver one that ends the driving and leaves the run as it is: what keeps it from going on lies
// outside of the run, and may be gone the next time. nil stays nil, and what ends the driving already stays what it is.
func Unable(err error) error {
	if err == nil || stops(err) {
		return err
	}
	return &hostError{err}
}
