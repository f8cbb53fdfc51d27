package tooltest

import "github.com/wrun-dev/wrun/internal/world"

// undone holds what is left of a call that was undone against what routes of the world take back.
func (j *jury) undone(t *trial) *Lie {
	if t.stuck != nil {
		return j.lie(t, LieUndo, "compensate", "", "%s does not come to an end: %v", j.tool.Compensate, t.stuck)
	}
	acted := map[string]int{}
	for _, e := range t.acted() {
		acted[e.Route]++
	}
	for _, r := range j.world.HTTP {
		back := 0
		for _, u := range j.undoers(r.Name) {
			back += acted[u.Name]
		}
		if left := acted[r.Name] - back; left != 0 && len(j.undoers(r.Name)) > 0 {
			return j.lie(t, LieUndo, "compensate", "", "the call was undone by %s, and %q acted %d times and was taken back %d times",
				j.tool.Compensate, r.Name, acted[r.Name], back)
		}
	}
	return nil
}

// undoers are the routes that take back what a route does.
func (j *jury) undoers(route string) (all []*world.Route) {
	for _, r := range j.world.HTTP {
		if r.Undoes == route {
			all = append(all, r)
		}
	}
	return all
}
