package wasm

// What the host keeps for each instance, in bytes: for an element of a table, for a reference in a segment of elements and the
// function that it is to, for a segment, and for a global.
const (
	tableElementBytes = 8
	referenceBytes    = 8 + 48
	segmentBytes      = 24
	globalBytes       = 64
)

// InstanceBytes returns about how many bytes an instance of the rewritten module takes at most beside its memory. A table
// counts as it may become where code grows tables, and else as it begins.
func (m *Module) InstanceBytes() uint64 {
	n := referenceBytes*uint64(m.elements) + segmentBytes*uint64(len(m.data)+m.elementSegments) + globalBytes*uint64(len(m.globals))
	for _, t := range m.Tables {
		most := t.Min
		if m.growsTables {
			most = m.tableMax(t)
		}
		n += tableElementBytes * uint64(most)
	}
	return n
}

// tableMax is how many elements a table may have once it is rewritten.
func (m *Module) tableMax(t Limits) uint32 {
	if t.HasMax {
		return min(m.caps.TableElements, t.Max)
	}
	return m.caps.TableElements
}
