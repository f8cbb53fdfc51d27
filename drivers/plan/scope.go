package plan

import (
	"maps"

	"github.com/wrun-dev/wrun/internal/jq"
	"github.com/wrun-dev/wrun/journal"
)

// scope is what the expressions of some steps see: the values of these steps so far, and what is outside. The plan has
// one, and so has each branch of a parallel block and each round of a loop. A scope is changed only by the goroutine that
// runs its steps, and not while scopes inside it are in use; so those read it without a lock.
type scope struct {
	run    *run
	outer  *scope // nil: this is the plan's
	values map[string]any
	suffix string // what the rounds of the loops around it put behind a step's name, "[3][0]"
	rounds int    // how many rounds the loops around it can make together, 1 outside of loops
}

// inside returns a new scope in this one.
func (s *scope) inside() *scope {
	return &scope{run: s.run, outer: s, values: make(map[string]any), suffix: s.suffix, rounds: s.rounds}
}

// at returns the name of a step in this scope, "" for a block without an id.
func (s *scope) at(id journal.Step) journal.Step {
	if id == "" {
		return ""
	}
	return id + journal.Step(s.suffix)
}

// lookup returns a field of the context. Names that an expression may use are nowhere twice but "error", and of that the
// innermost counts.
func (s *scope) lookup(name string) (any, bool) {
	for ; s != nil; s = s.outer {
		if v, ok := s.values[name]; ok {
			return v, true
		}
	}
	return nil, false
}

// view returns the context as the object that an expression sees: no more of it than the expression looks at, where that
// is known.
func (s *scope) view(seen jq.Refs) map[string]any {
	switch {
	case s.outer == nil:
		return s.values
	case seen.Whole:
		all := maps.Clone(s.outer.view(seen))
		maps.Copy(all, s.values)
		return all
	}
	some := make(map[string]any, len(seen.Names))
	for _, name := range seen.Names {
		if v, ok := s.lookup(name); ok {
			some[name] = v
		}
	}
	return some
}

// needs says whether some expression looks at the output of a step.
func (s *scope) needs(id journal.Step) bool { return id != "" && s.run.plan.needs.of(string(id)) }

// settle makes the steps that were not executed null.
func (s *scope) settle(ids []journal.Step) {
	for _, id := range ids {
		if _, ok := s.values[string(id)]; !ok && s.needs(id) {
			s.values[string(id)] = nil
		}
	}
}

// adopt takes what came of steps in a scope inside over into this one.
func (s *scope) adopt(in *scope, ids []journal.Step) {
	for _, id := range ids {
		if v, ok := in.values[string(id)]; ok {
			s.values[string(id)] = v
		}
	}
}
