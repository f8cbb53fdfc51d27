package journal

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Removed is what a journal keeps of a run whose log it has no more. Its id stays taken.
type Removed struct {
	// Run is the run's id.
	Run string `cbor:"-"`
	// Format is 1. No State has a field of this number, so that one is never read as the other.
	Format uint8 `cbor:"0,keyasint"`
	// At is when it was removed, Ended the time of its last entry, in nanoseconds since 1970-01-01 UTC.
	At    int64 `cbor:"1,keyasint"`
	Ended int64 `cbor:"2,keyasint,omitempty"`
	// Outcome says how it ended, Len and Head how long its log was and the hash of the last entry.
	Outcome Outcome `cbor:"3,keyasint,omitempty"`
	Len     uint64  `cbor:"4,keyasint,omitempty"`
	Head    Digest  `cbor:"5,keyasint,omitzero"`
	// Lost says that it was not removed but could not be repaired: what is said of its end is what was still known, and it may have
	// been unfinished.
	Lost bool `cbor:"6,keyasint,omitempty"`
	// Rest says that the store still has parts of the log, which are of no use any more and have still to go.
	Rest bool `cbor:"7,keyasint,omitempty"`
}

// Remover is a journal from which runs can be removed.
type Remover interface {
	// Removed yields what is kept of removed runs that come behind after, by run id.
	Removed(ctx context.Context, after string) iter.Seq2[Removed, error]
}

// Error says which run it was, and when it ended and went. It is an ErrRemoved.
func (r *Removed) Error() string {
	at := time.Unix(0, r.At).UTC().Format("2006-01-02 15:04:05 UTC")
	if r.Lost {
		return fmt.Sprintf("run %s: %v: it was lost to damage and could not be repaired, which was found %s", r.Run, ErrRemoved, at)
	}
	return fmt.Sprintf("run %s: %v: it ended %s (%s, %d entries) and was removed %s", r.Run, ErrRemoved,
		time.Unix(0, r.Ended).UTC().Format("2006-01-02 15:04:05 UTC"), r.Outcome, r.Len, at)
}

// Unwrap returns ErrRemoved.
func (r *Removed) Unwrap() error { return ErrRemoved }

// MarshalRemoved returns the encoding of r, for stores.
func MarshalRemoved(r *Removed) ([]byte, error) {
	c := *r
	c.Format = 1
	return encMode.Marshal(&c)
}

// UnmarshalRemoved reads what MarshalRemoved wrote of a run. Errors: ErrDamaged, ErrNewer.
func UnmarshalRemoved(run string, b []byte) (*Removed, error) {
	var head struct {
		Format uint8 `cbor:"0,keyasint"`
	}
	if err := lenient.Unmarshal(b, &head); err == nil && head.Format > 1 {
		return nil, fmt.Errorf("%w: what is kept of the removed run %.140q has format %d", ErrNewer, run, head.Format)
	}
	r := &Removed{}
	if err := decMode.Unmarshal(b, r); err != nil || r.Format != 1 {
		return nil, fmt.Errorf("%w: what is kept of the removed run %.140q cannot be decoded", ErrDamaged, run)
	}
	r.Run = run
	return r, nil
}
