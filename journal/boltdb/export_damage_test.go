package boltdb

import "io"

// WalkPages reads all keys of a file of bbolt, a bucket in another one included, and accounts for its pages.
func WalkPages(r io.ReaderAt, size int64) (keys int, faults []error) {
	m, wrong, err := bestMeta(r, size)
	if err != nil {
		return 0, []error{err}
	}
	if wrong != nil {
		faults = append(faults, wrong)
	}
	p := newPages(r, size, m)
	var walk func(t tree, depth int)
	walk = func(t tree, depth int) {
		for e, err := range t.from(nil) {
			if keys++; err != nil {
				faults = append(faults, err)
				continue
			}
			if e.bucket && depth < 3 {
				if inner, err := p.open(e); err != nil {
					faults = append(faults, err)
				} else {
					walk(inner, depth+1)
				}
			}
		}
	}
	walk(p.top(), 0)
	p.account(m.freelist, func(err error) { faults = append(faults, err) })
	return keys, faults
}
