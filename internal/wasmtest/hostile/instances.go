package hostile

import (
	"fmt"
	"slices"
)

// instances are modules whose every instance is much work.
func instances() []Case {
	return []Case{
		harmless("instances", "data-segments-90000-over-each-other", func(t *tool) {
			for i := range int32(90_000) {
				t.Data(i%2, []byte("ab"))
			}
		}),
		harmless("instances", "elements-250000", func(t *tool) {
			t.Table(0, 1<<18)
			t.Elements(0, slices.Repeat([]uint32{t.Func(nil, nil, 0)}, 250_000)...)
		}),
		harmless("instances", "element-segments-90000", func(t *tool) {
			t.Table(0, 8)
			f := t.Func(nil, nil, 0)
			for range 90_000 {
				t.Elements(0, f)
			}
		}),
		harmless("instances", "globals-9000", func(t *tool) {
			for i := range 9000 {
				t.ExportRaw(fmt.Sprintf("g%d", i), 3, t.Global(int32(i)))
			}
		}),
		harmless("instances", "memory-of-all-that-is-allowed", func(t *tool) { t.pages = Memory >> 16 }),
	}
}
