package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// instance is one module in one memory. One call uses it at a time.
type instance struct {
	mod    api.Module
	entry  api.Function
	gauge  api.MutableGlobal
	memory *linear
	stack  [1]uint64     // for the parameter and the result of entry
	native reflect.Value // the native stack that wazero keeps with entry

	snapshot *snapshot           // what it is put back to after a call; nil when it serves one call only
	globals  []api.MutableGlobal // the module's own, in the order of the snapshot's
	bytes    uint64              // what it takes while no call uses it, beside what the pool knows
	turn     uint64              // guarded by budget.mu: when it came into the pool
	age      uint64              // guarded by budget.mu: in which tick it did
}

// instantiate makes a clean instance whose entry is an exported function without or with one parameter. Nothing of the
// module runs yet. After an error the memory is still to be released.
func (e *engine) instantiate(ctx context.Context, compiled wazero.CompiledModule, mem *linear, entry string) (*instance, error) {
	// Nobody draws from this source; the one that wazero would make takes 5 KB.
	cfg := wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(new(bytes.Reader))
	mod, err := e.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, mem), compiled, cfg)
	if err != nil {
		return nil, fmt.Errorf("instantiate: %w", err)
	}
	gauge, ok := mod.ExportedGlobal(wasm.GaugeExport).(api.MutableGlobal)
	if !ok {
		return nil, errors.Join(errors.New("instantiate: the module has no gauge"), mod.Close(ctx))
	}
	i := &instance{mod: mod, gauge: gauge, memory: mem}
	i.enterBy(entry)
	return i, nil
}

// enterBy makes a function of the module's the entry, with a native stack of its own.
func (i *instance) enterBy(name string) {
	i.entry = i.mod.ExportedFunction(name)
	i.native = reflect.Value{}
	if f := reflect.ValueOf(i.entry); f.Kind() == reflect.Pointer && f.Elem().Kind() == reflect.Struct {
		i.native = f.Elem().FieldByName("stack")
	}
}

// stackHeld returns how many bytes wazero keeps for the native stack of the entry. It grows as calls nest and never becomes
// smaller, and the host, who sees the depth of it at its turns only, does not know how deep it was between them. There is no
// other way to learn it than to look; should wazero name it otherwise, it counts as much, and each call has a new function.
func (i *instance) stackHeld() uint64 {
	if i.native.Kind() != reflect.Slice {
		return math.MaxUint64
	}
	return uint64(i.native.Len()) * uint64(i.native.Type().Elem().Size())
}

// initialize runs the module's _initialize, if it has one.
func (i *instance) initialize(ctx context.Context) error {
	f := i.mod.ExportedFunction(toolabi.ExportInitialize)
	if f == nil {
		return nil
	}
	_, err := f.Call(ctx)
	return err
}

// close frees the instance, after its last call returned.
func (i *instance) close() {
	_ = i.mod.Close(context.Background()) // it waits for nothing
	i.memory.release()
}
