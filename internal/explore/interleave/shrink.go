package interleave

import (
	"slices"
	"testing"
)

// shrink looks for a simpler sequence of draws that breaks the same rule: shorter first, then with more of the calmest
// choice. It looks at so many.
func shrink(t *testing.T, draws []uint16, rule string, tries int) []uint16 {
	fails := func(d []uint16) bool {
		if tries--; tries < 0 {
			return false
		}
		tr := explore(t, repeating(d), nil, false, 0)
		return tr.violation != nil && tr.violation.Rule == rule
	}
	for size := len(draws) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(draws); {
			if d := slices.Delete(slices.Clone(draws), at, at+size); fails(d) {
				draws = d
			} else {
				at += size
			}
		}
	}
	for i := range draws {
		if draws[i] == 0 {
			continue
		}
		d := slices.Clone(draws)
		if d[i] = 0; fails(d) {
			draws = d
		}
	}
	return draws
}
