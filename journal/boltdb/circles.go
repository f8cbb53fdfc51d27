package boltdb

import (
	"fmt"
	"io"

	"github.com/wrun-dev/wrun/journal"
)

// maxSought is how many branch pages are looked at when a handle opens a journal: all of one of 100 MB, and in a fraction of the time
// that a commit takes.
const maxSought = 512

// seekCircles looks for branch pages that lead back to themselves: bbolt would follow them until the process has no memory left, which
// nothing can catch. It looks at the pages of the buckets, and below them, level by level, at most so many. Whatever else is wrong
// with a page is found when it is used. Errors: ErrDamaged.
func seekCircles(r io.ReaderAt, size int64, most int) error {
	m, err := findMeta(r, size)
	if err != nil {
		return err
	}
	p := newPages(r, size, m)
	roots := []uint64{m.root}
	for e, err := range p.top().from(nil) {
		if err != nil {
			return fmt.Errorf("%w: its buckets: %w", journal.ErrDamaged, err)
		}
		if t, err := p.open(e); err == nil && t.inline == nil {
			roots = append(roots, t.root)
		}
	}
	seen := map[uint64]bool{}
	for level := roots; len(level) > 0 && most > 0; {
		var next []uint64
		for _, id := range level {
			if seen[id] {
				return damaged("page %d is used in two places", id)
			}
			if most--; most < 0 {
				return nil
			}
			h, err := p.head(id)
			if err != nil || h.flags != branchPage {
				continue
			}
			seen[id] = true
			pg, err := p.read(id)
			if err != nil || len(pg.elements) == 0 {
				continue
			}
			for _, e := range pg.elements {
				if seen[e.child] {
					return damaged("page %d leads back to page %d", id, e.child)
				}
			}
			// All leaf pages of a tree lie equally deep.
			if first, err := p.head(pg.elements[0].child); err == nil && first.flags == branchPage {
				for _, e := range pg.elements {
					next = append(next, e.child)
				}
			}
		}
		level = next
	}
	return nil
}
