package plan

import "github.com/wrun-dev/wrun/internal/jq"

// needs says which steps' outputs some expression looks at. The others are not decoded and not kept: a long plan does
// not hold what nobody asks for.
type needs struct {
	whole bool
	names map[string]bool
}

func (n *needs) add(r jq.Refs) {
	n.whole = n.whole || r.Whole
	for _, name := range r.Names {
		if n.names == nil {
			n.names = make(map[string]bool)
		}
		n.names[name] = true
	}
}

func (n *needs) of(step string) bool { return n.whole || n.names[step] }
