package wasm

import "unicode/utf8"

// functionNames returns the subsection with the names of functions out of a name section, or nil when it has none that is
// well-formed.
func functionNames(content []byte, limit uint32) []byte {
	r := &reader{b: content}
	for r.more() {
		from := r.pos
		id := r.byte()
		names := r.sub(r.u32())
		if r.err != nil || id != 1 {
			continue
		}
		for range names.count("names", 2, limit) {
			names.u32()
			if !utf8.Valid(names.bytes(names.u32())) {
				return nil
			}
		}
		if names.err != nil || names.left() > 0 {
			return nil
		}
		return content[from:r.pos]
	}
	return nil
}
