package sandbox_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
)

// specDir returns where wazero keeps the test suite of WebAssembly 2.0, which it publishes with its sources.
func specDir(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "internal/integration_test/spectest")
}

// TestTheSpecificationHoldsForRewrittenModules runs the whole test suite of WebAssembly 2.0 three times, on wazero as it is, on
// modules that were rewritten, and on those from a cache, from which wazero takes the code of a hollow module: the same modules
// have to be refused, and everything has to give the same result or the same trap, and rewritten at the same price. Modules that
// import from each other are refused by all, since nothing is registered.
func TestTheSpecificationHoldsForRewrittenModules(t *testing.T) {
	dir := specDir(t)
	scripts, err := filepath.Glob(filepath.Join(dir, "v2/testdata/*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var modules, actions, refused int
	for _, file := range scripts {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := newSpec(t, dir)
			s.run(file)
			modules, actions, refused = modules+s.modules, actions+s.actions, refused+s.refused
		})
	}
	t.Logf("%d modules, %d refused ones, %d actions", modules, refused, actions)
	if modules < 1_000 || refused < 1_500 || actions < 45_000 {
		t.Errorf("only %d modules, %d refused ones and %d actions: the suite is not whole", modules, refused, actions)
	}
}

// spec runs one script.
type spec struct {
	t                         *testing.T
	dir                       string
	raw, bounded, kept        *specSide
	modules, refused, actions int
}

// specSide is one of the three runtimes.
type specSide struct {
	runtime wazero.Runtime
	last    api.Module
	named   map[string]api.Module
	rewrite bool
	kept    *sandbox.Kept // where rewritten modules are taken from
	said    string        // the last error, with its trace
}

var errStack = errors.New("stack overflow")

func newSpec(t *testing.T, dir string) *spec {
	s := &spec{t: t, dir: dir}
	host, err := os.ReadFile(filepath.Join(dir, "testdata/spectest.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []**specSide{&s.raw, &s.bounded, &s.kept} {
		*side = &specSide{named: map[string]api.Module{}, rewrite: side != &s.raw}
		if side == &s.kept {
			(*side).kept = sandbox.OpenKept(t, t.TempDir(), wazero.NewRuntimeConfig())
			(*side).runtime = (*side).kept.Runtime
		} else {
			(*side).runtime = wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false))
			t.Cleanup(func() { _ = (*side).runtime.Close(context.Background()) })
		}
		if _, err := (*side).runtime.Instantiate(t.Context(), host); err != nil {
			t.Fatal(err)
		}
		_, err := (*side).runtime.NewHostModuleBuilder(wasm.HostModule).NewFunctionBuilder().
			WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, p []uint64) {
				g := wasm.Gauge(p[0])
				if g.Overflowed() {
					panic(errStack)
				}
				p[0] = uint64(g.Refilled(100)) // often, so that everything goes on after a refill
			}), []api.ValueType{api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).
			Export(wasm.RefillImport).Instantiate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

type specCommand struct {
	Type, Filename, Name, As string
	ModuleType               string `json:"module_type"`
	Line                     int
	Action                   struct {
		Type, Field, Module string
		Args                []specValue
	}
	Expected []specValue
}

type specValue struct {
	Type     string
	LaneType string `json:"lane_type"`
	Value    any
}

func (s *spec) run(file string) {
	b, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	var script struct{ Commands []specCommand }
	if err := json.Unmarshal(b, &script); err != nil {
		s.t.Fatal(err)
	}
	for _, c := range script.Commands {
		if c.ModuleType == "text" {
			continue
		}
		s.command(c, filepath.Dir(file))
	}
}

func (s *spec) command(c specCommand, dir string) {
	switch c.Type {
	case "module", "assert_invalid", "assert_malformed", "assert_unlinkable", "assert_uninstantiable":
		b, err := os.ReadFile(filepath.Join(dir, c.Filename))
		if err != nil {
			s.t.Fatal(err)
		}
		errRaw, errBounded, errKept := s.raw.load(s.t, b, c), s.bounded.load(s.t, b, c), s.kept.load(s.t, b, c)
		if (errRaw == nil) != (errBounded == nil) || (errRaw == nil) != (errKept == nil) {
			s.t.Errorf("line %d, %s %s: wazero says %v, rewritten it says %v, from the cache %v", c.Line, c.Type, c.Filename, errRaw, errBounded, errKept)
		}
		if errRaw == nil {
			s.modules++
		} else {
			s.refused++
		}
	case "action", "assert_return", "assert_trap", "assert_exhaustion":
		s.actions++
		raw, bounded := s.raw.act(s.t.Context(), c), s.bounded.act(s.t.Context(), c)
		if raw != bounded {
			s.t.Errorf("line %d, %s of %s: wazero gives %s, rewritten it gives %s", c.Line, c.Type, c.Action.Field, raw, bounded)
		}
		if kept := s.kept.act(s.t.Context(), c); kept != bounded || s.kept.said != s.bounded.said || s.kept.gauge(c) != s.bounded.gauge(c) {
			s.t.Errorf("line %d, %s of %s: compiled it gives %s, from the cache %s; gauges %x and %x; it says %q and %q", c.Line, c.Type, c.Action.Field,
				bounded, kept, s.bounded.gauge(c), s.kept.gauge(c), s.bounded.said, s.kept.said)
		}
	}
}

// load instantiates a module, and remembers it under the name it has in the script.
func (p *specSide) load(t *testing.T, b []byte, c specCommand) error {
	ctx := t.Context()
	compiled, most, err := p.compile(ctx, b)
	if err != nil {
		return err
	}
	if most != nil {
		ctx = sandbox.WithMemory(ctx, t, *most)
	}
	mod, err := p.runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if c.Type != "module" {
		return err
	}
	p.last = mod
	if c.Name != "" {
		p.named[c.Name] = mod
	}
	return err
}

// compile also returns the maximum that a rewritten module gives its memory, nil if it has none of its own.
func (p *specSide) compile(ctx context.Context, b []byte) (compiled wazero.CompiledModule, most *uint32, err error) {
	if !p.rewrite {
		compiled, err = p.runtime.CompileModule(ctx, b)
		return compiled, nil, err
	}
	caps := wasm.Caps{Tables: 100, BranchTargets: 1 << 20, Customs: 10_000}
	m, err := wasm.Parse(b, caps)
	if err != nil {
		return nil, nil, err
	}
	if len(m.Memories) > 0 {
		most = &m.Memories[0].Max
	}
	if p.kept != nil {
		compiled, err = p.kept.Compile(ctx, m, caps)
		return compiled, most, err
	}
	if b, err = m.Rewrite(wasm.Bounds{}); err != nil {
		return nil, nil, err
	}
	compiled, err = p.runtime.CompileModule(ctx, b)
	return compiled, most, err
}

// module returns what an action is about, nil if it is not there.
func (p *specSide) module(c specCommand) api.Module {
	if c.Action.Module != "" {
		return p.named[c.Action.Module]
	}
	return p.last
}

// gauge returns what is left to the module of an action.
func (p *specSide) gauge(c specCommand) uint64 {
	if mod := p.module(c); mod != nil {
		return mod.ExportedGlobal(wasm.GaugeExport).Get()
	}
	return 0
}

// act calls a function or reads a global, and returns what came of it as text.
func (p *specSide) act(ctx context.Context, c specCommand) string {
	mod := p.module(c)
	if mod == nil {
		return "no module"
	}
	if c.Action.Type == "get" {
		if g := mod.ExportedGlobal(c.Action.Field); g != nil {
			return show(g.Get(), g.Type())
		}
		return "no global"
	}
	f := mod.ExportedFunction(c.Action.Field)
	if f == nil {
		return "no function"
	}
	var stack []uint64
	for _, a := range c.Action.Args {
		stack = append(stack, a.slots()...)
	}
	results, err := f.Call(ctx, stack...)
	if p.said = ""; err != nil {
		p.said = err.Error()
		if g, ok := mod.ExportedGlobal(wasm.GaugeExport).(api.MutableGlobal); ok { // a sandbox would throw the instance away
			g.Set(uint64(wasm.NewGauge(1 << 20)))
		}
		line, _, _ := strings.Cut(err.Error(), "\n")
		return strings.TrimSuffix(line, " (recovered by wazero)")
	}
	return showAll(results, f.Definition().ResultTypes())
}

func showAll(values []uint64, types []api.ValueType) string {
	text := ""
	for _, t := range types {
		if t == wasm.V128 {
			text += fmt.Sprintf(" %x.%x", values[0], values[1])
			values = values[2:]
			continue
		}
		text += " " + show(values[0], t)
		values = values[1:]
	}
	return text
}

// show leaves out what may differ: the payload of a NaN, and where a reference points.
func show(v uint64, t api.ValueType) string {
	switch {
	case t == api.ValueTypeF32 && math.IsNaN(float64(math.Float32frombits(uint32(v)))), t == api.ValueTypeF64 && math.IsNaN(math.Float64frombits(v)):
		return "NaN"
	case t == wasm.FuncRef && v != 0:
		return "a function"
	}
	return strconv.FormatUint(v, 16)
}

// slots returns a value as wazero takes it.
func (v specValue) slots() []uint64 {
	switch value := v.Value.(type) {
	case string:
		if v.Type == "externref" && value != "null" {
			n, _ := strconv.ParseUint(value, 10, 64)
			return []uint64{n + 1}
		}
		n, _ := strconv.ParseUint(value, 10, 64)
		return []uint64{n}
	case []any:
		var b []byte
		for _, lane := range value {
			n, _ := strconv.ParseUint(lane.(string), 10, 64)
			switch v.LaneType {
			case "i8":
				b = append(b, byte(n))
			case "i16":
				b = binary.LittleEndian.AppendUint16(b, uint16(n))
			case "i32", "f32":
				b = binary.LittleEndian.AppendUint32(b, uint32(n))
			default:
				b = binary.LittleEndian.AppendUint64(b, n)
			}
		}
		return []uint64{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
	}
	return []uint64{0}
}
