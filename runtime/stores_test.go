package runtime_test

import (
	"context"
	"io"
	"iter"
	"strings"

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

// locked is a journal whose blobs somebody else keeps locked, for so many attempts to store one.
type locked struct {
	journaltest.Store
	busy int
}

func (l *locked) Reserve(ctx context.Context, n int64) (use, drop func(), err error) {
	if l.busy > 0 {
		l.busy--
		return nil, nil, journal.ErrBusy
	}
	return l.Store.(journal.Room).Reserve(ctx, n)
}

func (l *locked) Put(ctx context.Context, r io.Reader) (journal.Digest, int64, error) {
	if l.busy > 0 {
		l.busy--
		return journal.Digest{}, 0, journal.ErrBusy
	}
	return l.Store.Put(ctx, r)
}

// noOwners is a journal that cannot tell who lives.
type noOwners struct{ journal.Journal }

// lossy is a journal that has lost a blob, or has other bytes under its digest.
type lossy struct {
	journaltest.Store
	lost journal.Digest
	how  string // "gone" or "changed"
}

func (l lossy) Open(ctx context.Context, d journal.Digest) (io.ReadCloser, error) {
	switch {
	case d != l.lost:
		return l.Store.Open(ctx, d)
	case l.how == "gone":
		return nil, journal.ErrNotFound
	}
	return io.NopCloser(io.MultiReader(strings.NewReader("sec"), brokenReader{})), nil
}

func (l lossy) Stat(ctx context.Context, d journal.Digest) (int64, error) {
	if d == l.lost && l.how == "gone" {
		return 0, journal.ErrNotFound
	}
	return l.Store.Stat(ctx, d)
}

// brokenReader ends as a blob does that has changed.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, journal.ErrDamaged }
