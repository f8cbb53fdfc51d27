package journal

import (
	"context"
	"io"
	"iter"
)

// Journal stores logs. All methods may be called concurrently, and by several processes at once where the store allows
// several. Package journaltest holds every implementation to what is said here.
type Journal interface {
	// Append adds entries to a run's log, all or none, if the log is exactly at entries long; a log of length 0 does
	// not exist yet. nil means that they survive a crash of the process and of the machine. The store sets Schema, Seq
	// and Hash of the entries it is given; it does not keep them.
	//
	// Errors: ErrConflict, ErrInvalid, ErrFenced, ErrCancelled, ErrClosed, ErrUnconfirmed, ErrLate, ErrStale, ErrExists,
	// ErrImported, ErrRemoved for the id of a run that was removed, ErrNoSpace, ErrBusy, ErrDamaged for a run whose log is
	// and for entries that name a blob which is not there, and ctx.Err() when ctx ended before the store began: nothing
	// was written. Any other error: it is not known
	// whether they were, and every later call answers ErrUnusable.
	Append(ctx context.Context, run string, at uint64, entries ...Entry) error

	// Read yields a run's entries in order, beginning with the one at position from. It ends with an error, or with
	// the log as it was when the end was reached. A run that does not exist yields ErrNotFound. The caller may append,
	// or take its time, between two entries.
	Read(ctx context.Context, run string, from uint64) iter.Seq2[Entry, error]

	// List yields the folded logs that match q, by run id. With Run, Unfinished or Unsettled a store does not look through the
	// rest.
	List(ctx context.Context, q Query) iter.Seq2[State, error]

	// Close ends the use of the journal. Appends that were not acknowledged may or may not be there.
	Close() error
}

// Query selects runs. The zero value selects all.
type Query struct {
	// Run selects the run with this very id.
	Run string
	// After begins behind this run id.
	After string
	// Unfinished leaves out the runs that are finished.
	Unfinished bool
	// Unsettled leaves out the runs of which nothing is left to do or to say; see State.Unsettled.
	Unsettled bool
}

// Match says whether s is selected.
func (q Query) Match(s *State) bool {
	return (q.Run == "" || s.Run == q.Run) && s.Run > q.After && !(q.Unfinished && s.Finished) && !(q.Unsettled && !s.Unsettled())
}

// KV is the state of tools, as the Writes of entries made it. Journals offer it beside their log.
type KV interface {
	// Get returns a key's value and version. Errors: ErrNotFound; the version is then that of the deletion, 0 when the
	// key was never written, so that a caller knows which version its next write makes.
	Get(ctx context.Context, space, key string) (value []byte, version uint64, err error)
	// Scan yields the keys of a space that begin with prefix and come behind after, in order of their bytes. "" is in front of
	// every key.
	Scan(ctx context.Context, space, prefix, after string) iter.Seq2[Item, error]
}

// Item is one key of a tool's state. Versions begin at 1 and grow with every write of the key, also across a deletion.
type Item struct {
	Key     string
	Value   []byte
	Version uint64
}

// Blobs holds bytes by their digest. Journals offer it beside their log.
type Blobs interface {
	// Put stores everything that r yields and returns its digest and length. When it returns, the blob survives a
	// crash. Storing what is already there is fine; what is there is read and checked first. Errors: ErrNoSpace.
	Put(ctx context.Context, r io.Reader) (Digest, int64, error)
	// Open returns a blob's bytes; the reader reports ErrDamaged at its end when they do not match the digest. The
	// caller closes it. Errors: ErrNotFound.
	Open(ctx context.Context, d Digest) (io.ReadCloser, error)
	// Stat returns a blob's length. Errors: ErrNotFound.
	Stat(ctx context.Context, d Digest) (int64, error)
}

// Room is space that is held for what is still to be written. Journals that can run out of space offer it, because an effect
// must not be begun whose outcome could then not be recorded.
type Room interface {
	// Reserve holds n bytes, for a body and the entry that it belongs to, until use or drop is called; one of them must be. use
	// makes the bytes free for the Put and the Append that follow at once, drop when they are not needed any more. Both return
	// at once, may be called again, and then do nothing. What is held is given back when the process ends, however it does.
	// It is as good as the file system lets it be: where that cannot hold space, it is looked at and not held.
	//
	// Errors: ErrNoSpace, ErrBusy when somebody does not let go of what it takes, ErrUnusable.
	Reserve(ctx context.Context, n int64) (use, drop func(), err error)
}

// Sizer tells how large a journal is. Journals offer it where somebody may want to bound them.
type Sizer interface {
	// Size returns about how many bytes the journal takes, with its blobs. It is cheap enough to be asked before every step, and
	// may leave out what other processes have added in the last minute.
	Size(ctx context.Context) (int64, error)
}

// Liveness is what is known of an owner's process.
type Liveness uint8

// What can be known.
const (
	// Unknown: there is no trace of it here. It may live elsewhere.
	Unknown Liveness = iota
	// Alive: its process runs.
	Alive
	// Dead: its process has ended.
	Dead
)

// Owners tells which processes live. Journals whose users share a machine offer it; with it a run is claimed at once
// when its owner has died.
type Owners interface {
	// Owner returns this handle's id, random, the same for its lifetime. It counts as alive from before Owner returns
	// until Close or the end of the process, and as dead from then on while a run names it; an owner that no run names
	// may be forgotten.
	Owner() (string, error)
	// Liveness tells what is known of another owner.
	Liveness(owner string) (Liveness, error)
	// Describe says who an owner is, for people: a process id and a start time, or "" when that is not known.
	Describe(owner string) string
}

// Identity is the journal's own random id, drawn when it was made. Idempotency keys are derived from it, so that two
// journals never send the same one by chance.
type Identity interface {
	ID() (Digest, error)
}
