package sandbox_test

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// TestIdleInstancesGiveWayToTheSystemsLimit: under a limit of addresses that holds two memories of 256 MiB, ten modules are called
// one after the other, and the instances that are kept have their addresses taken again.
func TestIdleInstancesGiveWayToTheSystemsLimit(t *testing.T) {
	if raced {
		t.Skip("the race detector wants more addresses than any limit here")
	}
	if !isolated(t) {
		return
	}
	box, s := open(t, sandbox.Config{})
	limit := uint64(status("VmSize:")) + 700<<20
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		g := newGuest()
		g.manifest.Version = fmt.Sprintf("%d.0.0", n)
		inv := toolabi.Invocation{Module: s.add(g.invoke(0, g.ok(t)).build(t)), Tool: "echo"}
		if out, err := box.Invoke(t.Context(), inv, nil); err != nil || out.Err != nil {
			t.Fatalf("module %d: %v, %v", n, out.Err, err)
		}
	}
	if i, _, _ := box.InPool(); i > 2 {
		t.Errorf("%d instances are kept", i)
	}
}
