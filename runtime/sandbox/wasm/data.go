package wasm

import (
	"bytes"
	"cmp"
	"slices"
)

// maxGap is how many zeros are written between two pieces of the initial memory to make them one, in bytes.
const maxGap = 256

// dataContent writes segments that lie at a constant.
func dataContent(segments []segment) []byte {
	b := appendU32(nil, uint32(len(segments)))
	for _, s := range segments {
		b = append(append(b, 0), s.offset...)
		b = append(appendU32(b, uint32(len(s.content))), s.content...)
	}
	return b
}

// mergedData returns the segments with neighbours made one. Go's linker leaves the zeros between them out and makes
// thousands, each of which costs time in every instance. It reports false when segments lie over each other or not at a
// constant: then their order matters, and zeros could overwrite something.
func (m *Module) mergedData() ([]segment, bool) {
	placed := make([]placedSegment, len(m.data))
	for i, s := range m.data {
		at, ok := constantOffset(s.offset)
		if !ok {
			return nil, false
		}
		placed[i] = placedSegment{s, at}
	}
	slices.SortStableFunc(placed, func(a, b placedSegment) int { return cmp.Compare(a.at, b.at) })
	var merged []segment
	end := uint64(0)
	for _, s := range placed {
		if s.at < end {
			return nil, false
		}
		if last := len(merged) - 1; last >= 0 && s.at-end <= maxGap {
			merged[last].content = append(append(merged[last].content, make([]byte, s.at-end)...), s.content...)
		} else {
			merged = append(merged, segment{s.offset, bytes.Clone(s.content)})
		}
		end = s.at + uint64(len(s.content))
	}
	return merged, true
}

type placedSegment struct {
	segment
	at uint64
}

// constantOffset returns the address that an i32.const gives.
func constantOffset(expr []byte) (uint64, bool) {
	if len(expr) < 3 || len(expr) > 7 || expr[0] != 0x41 {
		return 0, false
	}
	var v uint64
	for i, c := range expr[1 : len(expr)-1] {
		v |= uint64(c&0x7f) << (7 * i)
		if c >= 0x80 {
			continue
		}
		if i != len(expr)-3 {
			return 0, false // more than one instruction
		}
		if c&0x40 != 0 {
			v |= ^uint64(0) << (7 * (i + 1))
		}
		return uint64(uint32(v)), true
	}
	return 0, false
}
