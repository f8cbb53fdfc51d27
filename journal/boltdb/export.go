package boltdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/bundle"
)

// Export writes one run to w as a bundle, with all blobs that its log names, the modules included. It may be driven meanwhile: the log
// is then a beginning of what it becomes. Memory grows by some bytes for each blob, not with the log.
// The bundle is worth nothing unless the error is nil; the caller syncs it.
//
// Errors: ErrNotFound, ErrRemoved, ErrDamaged, ErrBusy, ErrUnusable, ctx.Err(), those of w.
func (j *Journal) Export(ctx context.Context, run string, w io.Writer, opts CopyOptions) (bundle.Counts, error) {
	counts, err := j.export(ctx, run, w, opts)
	if err != nil {
		err = fmt.Errorf("export run %.140q: %w", run, noSpace(err))
	}
	return counts, err
}

func (j *Journal) export(ctx context.Context, run string, w io.Writer, opts CopyOptions) (counts bundle.Counts, err error) {
	var s *journal.State
	if err := j.view(ctx, func(tx *bbolt.Tx) error {
		if s, err = readState(tx, run); err == nil && s.Len == 0 {
			err = removed(tx, run)
		}
		return err
	}); err != nil {
		return counts, err
	}
	if s.Len == 0 {
		return counts, journal.ErrNotFound
	}
	h := j.gate.known()
	b, err := bundle.NewWriter(w, bundle.Header{
		Of: bundle.Run, Run: run, Journal: h.id, Created: h.created.UnixNano(), Schema: h.schema, Made: j.now().UnixNano(),
	})
	if err != nil {
		return counts, err
	}
	e := exported{bundled: bundled{b}, before: journal.ChainStart(run), named: map[journal.Digest]int64{}}
	c := &copier{j: j, to: &e, progress: opts.Progress}
	if err := c.follow(ctx, note{kind: 'r', name: []byte(run)}); err != nil {
		return counts, err
	}
	if c.told.Entries < s.Len {
		return counts, fmt.Errorf("it was removed meanwhile: %w", journal.ErrNotFound)
	}
	for _, d := range slices.SortedFunc(maps.Keys(e.named), func(a, b journal.Digest) int { return bytes.Compare(a[:], b[:]) }) {
		n, err := j.blobs.into(ctx, b, d)
		if errors.Is(err, journal.ErrNotFound) { // an entry names it, so it was there
			err = j.missing(ctx, run, err)
		}
		if err != nil {
			return counts, err
		}
		c.told.Blobs, c.told.Bytes = c.told.Blobs+1, c.told.Bytes+n
		if opts.Progress != nil {
			opts.Progress(c.told)
		}
	}
	return b.End()
}

// missing says why a blob of a run is not there.
func (j *Journal) missing(ctx context.Context, run string, blob error) error {
	for _, err := range j.List(ctx, journal.Query{Run: run}) {
		if err != nil {
			return err
		}
		return fmt.Errorf("%w: %w", journal.ErrDamaged, blob)
	}
	return fmt.Errorf("it was removed meanwhile: %w", journal.ErrNotFound)
}

// exported is a bundle as a sink, of one log, that collects the blobs which entries name.
type exported struct {
	bundled
	before journal.Digest
	named  named
}

func (e *exported) log(run string, from uint64, records [][]byte) error {
	for _, r := range records {
		entry, err := journal.Unmarshal(r, e.before)
		if err != nil {
			return err
		}
		e.before = entry.Hash
		e.named.add(entry)
	}
	return e.bundled.log(run, from, records)
}

// named are the blobs that entries name, with the length that they say, -1 where they say none.
type named map[journal.Digest]int64

func (n named) add(e journal.Entry) {
	for _, d := range e.Refs {
		if _, ok := n[d]; !ok {
			n[d] = -1
		}
	}
	if !e.Blob.IsZero() {
		n[e.Blob] = e.Size
	}
}
