package journal

import "errors"

// Errors of Append that say nothing is wrong with the journal. Nothing was written.
var (
	// ErrConflict: the log has another length, or another end, than the caller thought.
	ErrConflict = errors.New("the log has moved")
	// ErrInvalid: the entries break a rule; the message says which.
	ErrInvalid = errors.New("not allowed by the rules of the log")
	// ErrFenced: another owner has claimed the run since.
	ErrFenced = errors.New("another process drives the run")
	// ErrCancelled: the run was cancelled and starts no further step.
	ErrCancelled = errors.New("the run was cancelled")
	// ErrClosed: the run is finished.
	ErrClosed = errors.New("the run is finished")
	// ErrUnconfirmed: the log was restored from a backup and a person has not confirmed it.
	ErrUnconfirmed = errors.New("the run was restored from a backup and is not confirmed")
	// ErrLate: an outcome arrived too late to count, and nobody has acknowledged it.
	ErrLate = errors.New("an outcome arrived too late to count")
	// ErrExpired: the yes came too late, or was not used in time.
	ErrExpired = errors.New("the approval has expired")
	// ErrStale: a Write expected another version of its key.
	ErrStale = errors.New("the stored value has changed")
	// ErrImported: the run is driven where it was exported from; here it can be read.
	ErrImported = errors.New("the run was imported: it can be read here, not driven")
	// ErrRemoved: the run was removed from the journal. Its id stays taken, because idempotency keys are made of it.
	ErrRemoved = errors.New("a run of this id was removed from the journal")
	// ErrExists: an entry with this run, step and phase is already there.
	ErrExists = errors.New("already in the log")
)

// Errors of a journal as a whole.
var (
	// ErrNotFound: there is no such run, blob or key.
	ErrNotFound = errors.New("not found")
	// ErrNoJournal: there is no journal at that place.
	ErrNoJournal = errors.New("no journal there")
	// ErrForeign: what is there is not a journal.
	ErrForeign = errors.New("not a journal")
	// ErrBusy: another process holds the journal and does not let go.
	ErrBusy = errors.New("journal is busy")
	// ErrDamaged: what is there was written by wrun and has changed since.
	ErrDamaged = errors.New("journal is damaged")
	// ErrNewer: it was written by a newer version of wrun.
	ErrNewer = errors.New("journal needs a newer wrun")
	// ErrOlder: it has an older schema, and the caller did not want it migrated.
	ErrOlder = errors.New("journal has an older schema")
	// ErrNoSpace: there is no room. Nothing was written.
	ErrNoSpace = errors.New("no space left for the journal")
	// ErrUnusable: an earlier operation failed in a way that leaves open what is on the disk. Nothing more is done
	// through this handle; opening the journal again shows the truth.
	ErrUnusable = errors.New("journal handle is unusable after an error")
)
