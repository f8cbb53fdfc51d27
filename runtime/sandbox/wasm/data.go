package wasm

import (
	"cmp"
	"slices"
)

// maxGap is how many zeros are written between two pieces of the initial memory to make them one, in bytes.
const maxGap = 256

// placedBytes is how much of the initial memory is written at once, in bytes: nothing can interrupt that.
const placedBytes = 1 << 20

// initialData is what the data section becomes.
type initialData struct {
	segments []segment
	moved    []uint32 // where the first piece of each segment that code can name stands now; nil when code can name none
}

// initialData makes small segments one and large ones several, unless code can name them: then it only does the latter.
func (m *Module) initialData() (d initialData) {
	from := m.data
	if m.has(secDataCount) {
		d.moved = make([]uint32, 0, len(m.data))
	} else if merged, ok := m.mergedData(); ok {
		from = merged
	}
	for _, s := range from {
		if d.moved != nil {
			d.moved = append(d.moved, uint32(len(d.segments)))
		}
		d.segments = s.appendPieces(d.segments)
	}
	return d
}

// appendPieces appends an active segment in pieces. One that ends behind the last address stays whole, so that nothing of it
// is written.
func (s segment) appendPieces(to []segment) []segment {
	at, ok := constantOffset(s.offset)
	if !ok || at+uint64(len(s.content)) > 1<<32 {
		return append(to, s)
	}
	for len(s.content) > placedBytes {
		to = append(to, segment{s.offset, s.content[:placedBytes]})
		at += placedBytes
		s.offset = append(appendS64([]byte{opI32Const}, int64(int32(uint32(at)))), opEnd)
		s.content = s.content[placedBytes:]
	}
	return append(to, s)
}

// movedData returns the new index of a data segment. One that there is not stays one that there is not.
func (w *rewriter) movedData(i uint32) uint32 {
	if int64(i) < int64(len(w.data.moved)) {
		return w.data.moved[i]
	}
	return uint32(min(uint64(i)+w.dataAdded(), 1<<32-1))
}

func (w *rewriter) dataAdded() uint64 {
	if w.data.moved == nil {
		return 0
	}
	return uint64(len(w.data.segments) - len(w.m.data))
}

// dataContent writes segments.
func dataContent(segments []segment) []byte {
	size := 5
	for _, s := range segments {
		size += 6 + len(s.offset) + len(s.content)
	}
	b := appendU32(make([]byte, 0, size), uint32(len(segments)))
	for _, s := range segments {
		if s.offset == nil {
			b = append(b, 1)
		} else {
			b = append(append(b, 0), s.offset...)
		}
		b = append(appendU32(b, uint32(len(s.content))), s.content...)
	}
	return b
}

// mergedData returns the segments with neighbours made one. Go's linker leaves the zeros between them out and makes
// thousands, each of which costs time in every instance. It reports false when segments lie over each other or not at a
// constant: then their order matters, and zeros could overwrite something.
func (m *Module) mergedData() ([]segment, bool) {
	places := make([]place, len(m.data))
	for i, s := range m.data {
		at, ok := constantOffset(s.offset)
		if !ok {
			return nil, false
		}
		places[i] = place{at, at + uint64(len(s.content)), i}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.segment, b.segment)) })
	var merged []segment
	for len(places) > 0 {
		n, end := neighbours(places)
		if n < len(places) && places[n].at < end {
			return nil, false
		}
		merged = append(merged, m.join(places[:n], end))
		places = places[n:]
	}
	return merged, true
}

// place is where a segment goes in memory, and the segment's index.
type place struct {
	at, end uint64
	segment int
}

// neighbours returns how many segments from the first one on are to become one, and where that ends.
func neighbours(places []place) (n int, end uint64) {
	end = places[0].end
	for n = 1; n < len(places) && places[n].at >= end && places[n].at-end <= maxGap; n++ {
		end = places[n].end
	}
	return n, end
}

// join makes one segment of neighbours.
func (m *Module) join(places []place, end uint64) segment {
	first := places[0]
	s := m.data[first.segment]
	if len(places) == 1 {
		return s
	}
	content := make([]byte, end-first.at)
	for _, p := range places {
		copy(content[p.at-first.at:], m.data[p.segment].content)
	}
	return segment{s.offset, content}
}

// constantOffset returns the address that an i32.const gives.
func constantOffset(expr []byte) (uint64, bool) {
	if len(expr) == 0 || expr[0] != opI32Const {
		return 0, false
	}
	r := reader{b: expr, pos: 1}
	v := r.s32()
	return uint64(v), r.err == nil && r.pos == len(expr)-1 // and nothing behind it but the end
}
