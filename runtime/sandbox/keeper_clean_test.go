package sandbox_test

import (
	"context"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// keeperBox opens a sandbox for keepers, until the test is over.
func keeperBox(t testing.TB, keepers ...keeper) *sandbox.Sandbox {
	t.Helper()
	box := newKeeperBox(t, sandbox.Pooled, keepers...)
	t.Cleanup(func() { closeBox(t, box) })
	return box
}

func closeBox(t testing.TB, box *sandbox.Sandbox) {
	if err := box.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// keeperLimits bound guests that want all there is, and those whose memory is not what they take it for.
var keeperLimits = toolabi.Limits{MemoryBytes: 64 << 20, Fuel: 2 << 30}

// newKeeperBox opens a sandbox.
func newKeeperBox(t testing.TB, how sandbox.Instances, keepers ...keeper) *sandbox.Sandbox {
	t.Helper()
	s, cfg := shelf{}, sandbox.Config{Limits: keeperLimits, Instances: how}
	cfg.Source = s.source
	for _, k := range keepers {
		s.add(k.wasm)
		if len(k.wasm) > 10_000 { // what is smaller is compiled sooner than found
			cfg.CacheDir = keeperCode(t)
		}
	}
	box, err := sandbox.New(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

var keeperCodeDir struct {
	sync.Once
	dir string
}

func keeperCode(t testing.TB) string {
	keeperCodeDir.Do(func() { keeperCodeDir.dir = wasmtest.CodeCache(t) })
	return keeperCodeDir.dir
}

// cleanTraces has a func() trace for each cleanCall that was needed.
var cleanTraces sync.Map

type cleanCall struct {
	module toolabi.Digest
	order  order
	moment moment
}

// clean returns what a call comes to in a sandbox of its own, in which nothing was called before and no instance is used again: what
// it has to come to everywhere.
func (k keeper) clean(t testing.TB, o order, m moment) trace {
	t.Helper()
	get, _ := cleanTraces.LoadOrStore(cleanCall{k.digest, o, m}, sync.OnceValue(func() trace {
		box := newKeeperBox(t, sandbox.Fresh, k)
		defer closeBox(t, box)
		return k.do(context.Background(), box, o, m)
	}))
	return get.(func() trace)()
}

// same makes a call and holds that it comes to what it comes to in a sandbox of its own.
func (k keeper) same(t testing.TB, box *sandbox.Sandbox, o order, m moment, meanwhile ...func()) {
	t.Helper()
	want := k.clean(t, o, m)
	if d := k.do(context.Background(), box, o, m, meanwhile...).difference(want); d != "" {
		t.Errorf("%s, %q: %s", k.name, o, d)
	}
}

// oneByOne ends a test that makes one call after the other where races are looked for: it has none, and would take minutes.
func oneByOne(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("one call after the other: no races")
	}
}
