package runtime_test

import (
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
)

// What the explorer (internal/explore) has found, each with the fewest steps that show it.

// A lease can end between the claim and the first look at the log behind it. Who was taken over in that moment does not
// act under the name of the one that took over.
func TestAClaimThatWasTakenOverAtOnceIsNotActedUpon(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	taken := false
	store := journaltest.HookAppends(m.mem.Handle(), func(n int, committed bool) {
		if n == 2 && committed { // 1 is created, 2 the claim
			taken = true
			m.steal()
		}
	})
	p := m.process(store, func(c *runtime.Config) { c.Journal = noOwners{store} })
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(t.Context(), "r", spec, modules, false); err != nil {
		t.Fatal(err)
	}
	_, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("x")}})
	var busy *runtime.BusyError
	if !taken || !errors.As(err, &busy) || m.world.total() != 0 {
		t.Errorf("ended with %v after %d effects; log %v", err, m.world.total(), m.log())
	}
}
