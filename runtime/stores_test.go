package runtime_test

import (
	"context"
	"io"
	"iter"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

// lookedAt is a journal that calls on whenever its folded logs are looked at.
type lookedAt struct {
	journaltest.Store
	on func()
}

func (s lookedAt) List(ctx context.Context, q journal.Query) iter.Seq2[journal.State, error] {
	s.on()
	return s.Store.List(ctx, q)
}

// full is a journal that has no space left, for entries that refuse names or for blobs.
type full struct {
	journaltest.Store
	entry func(journal.Entry) bool
	blobs bool
}

func (f *full) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) error {
	for _, e := range entries {
		if f.entry != nil && f.entry(e) {
			return journal.ErrNoSpace
		}
	}
	return f.Store.Append(ctx, run, at, entries...)
}

func (f *full) Put(ctx context.Context, r io.Reader) (journal.Digest, int64, error) {
	if f.blobs {
		return journal.Digest{}, 0, journal.ErrNoSpace
	}
	return f.Store.Put(ctx, r)
}

// noOwners is a journal that cannot tell who lives.
type noOwners struct{ journal.Journal }
