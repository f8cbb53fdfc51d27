package sandbox_test

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// TestIdleInstancesGiveWayToTheSystemsLimit: under a limit of addresses that holds two memories of 256 MiB, ten modules are called
// one after the other, and the instances that are kept have their addresses taken again.
func TestIdleInstancesGiveWayToTheSystemsLimit(t *testing.T) {
	if raced || sandbox.InHeapByDefault {
		t.Skip("the race detector, and Go's heap, want more addresses than any limit here")
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

// TestIdleInstancesGiveWayToAnInstanceMadeOfAnImage: under a limit of memory that holds three instances of 100 MiB, a fourth is made
// while one is in use and two are idle.
func TestIdleInstancesGiveWayToAnInstanceMadeOfAnImage(t *testing.T) {
	if raced || sandbox.InHeapByDefault {
		t.Skip("the race detector, and Go's heap, want more memory than any limit here")
	}
	if !isolated(t) {
		return
	}
	box, s := open(t, sandbox.Config{MemoryBudget: 1 << 30})
	module := func(n int) toolabi.Invocation {
		g := newGuest(toolabi.FuncLog)
		g.manifest.Version = fmt.Sprintf("%d.0.0", n)
		g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, grow(1600), Drop))
		return toolabi.Invocation{Module: s.add(g.invoke(0, g.tell(I32Const(1)), g.ok(t)).build(t)), Tool: "echo"}
	}
	answer := func(context.Context, string, []byte) (toolabi.Answer, error) { return toolabi.Answer{}, nil }
	call := func(n int, host toolabi.HostFunc) {
		t.Helper()
		if out, err := box.Invoke(t.Context(), module(n), host); err != nil || out.Err != nil {
			t.Fatal(out.Err, err)
		}
	}
	limit := uint64(status("VmData:")) + 350<<20
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	call(0, func(context.Context, string, []byte) (toolabi.Answer, error) {
		call(1, answer)
		call(2, answer)
		wantPool(t, box, 2, 3)
		call(0, answer)
		return toolabi.Answer{}, nil
	})
}
