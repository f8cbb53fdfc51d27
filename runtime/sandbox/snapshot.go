package sandbox

import (
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/wrun-dev/wrun/runtime/sandbox/memory"
	"github.com/wrun-dev/wrun/toolabi"
)

// snapshot is a module as its _initialize leaves it, which is the same for every call that has the memory and the fuel for
// it: the seed of the randomness and the time that it sees are the module's. It never changes.
type snapshot struct {
	image   *memory.Image
	globals []uint64 // of the module's own mutable ones
	gauge   uint64
	seen    seen
	fuel    uint64 // that _initialize used
}

// take takes down an instance after its _initialize, under the call that it is for.
func (i *instance) take(c *call, kind memory.Kind, globals []string) (*snapshot, error) {
	own, err := i.findGlobals(globals)
	if err != nil {
		return nil, err
	}
	size := i.mod.Memory().Size()
	content, ok := guestBytes(i.mod, 0, size)
	if !ok {
		return nil, fmt.Errorf("it has no memory of %d bytes", size)
	}
	s := &snapshot{image: kind.NewImage(content), gauge: i.gauge.Get(), seen: c.seen.clone(), fuel: c.fuel.used}
	for _, g := range own {
		s.globals = append(s.globals, g.Get())
	}
	return s, nil
}

// findGlobals looks up what a snapshot holds of an instance beside its memory.
func (i *instance) findGlobals(names []string) ([]api.MutableGlobal, error) {
	found := make([]api.MutableGlobal, len(names))
	for n, name := range names {
		g, ok := i.mod.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return nil, fmt.Errorf("it has no mutable global %s", name)
		}
		found[n] = g
	}
	return found, nil
}

// serves says whether a call with these limits would come to the same snapshot.
func (s *snapshot) serves(memory, fuel uint64) bool {
	return s.image.Size() <= memory && (fuel == 0 || s.fuel <= fuel)
}

// adopt makes the instance, whatever it is, the module as the snapshot has it, and lets it be put back to that.
func (i *instance) adopt(s *snapshot, globals []string) (err error) {
	if i.globals, err = i.findGlobals(globals); err != nil {
		return err
	}
	i.memory.adopt(i.mod.Memory(), s.image)
	i.snapshot = s
	i.restoreGlobals()
	return nil
}

// reset puts the instance back to its snapshot, after a call that returned, or reports false: then it is of no more use.
func (i *instance) reset() bool {
	if i.stackHeld() > 2*shallowStack {
		i.enterBy(toolabi.ExportInvoke)
	}
	if !brokenNoReset {
		i.memory.region.Reset()
	}
	i.restoreGlobals()
	return i.memory.resize(i.mod.Memory(), i.snapshot.image.Size())
}

func (i *instance) restoreGlobals() {
	i.gauge.Set(i.snapshot.gauge)
	for n, g := range i.globals {
		g.Set(i.snapshot.globals[n])
	}
}
