package wasm

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// emptied returns a module, section by section, with every function empty and the digest of the whole behind it.
func emptied(t testing.TB, whole []byte) []byte {
	t.Helper()
	var sections []written
	for r := (&reader{b: whole, pos: 8}); r.more(); {
		id := r.byte()
		content := r.bytes(r.u32())
		if id == secCode {
			in := reader{b: content}
			n := in.u32()
			content = append(appendU32(nil, n), bytes.Repeat([]byte{3, 0, opUnreachable, opEnd}, int(n))...)
		}
		sections = append(sections, written{id, content})
	}
	sum := sha256.Sum256(whole)
	return module(append(sections, written{secCustom, append(appendName(nil, "wrun:hollow"), sum[:]...)})...)
}

// kept is what is left of facts that were written down and read again.
func kept(t testing.TB, f Facts) (again Facts) {
	t.Helper()
	b, err := json.Marshal(f)
	if err == nil {
		err = json.Unmarshal(b, &again)
	}
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// checkHollow holds a rewritten module against what is said of it without its code: by itself, and by an outline of it.
func checkHollow(t testing.TB, m *Module, whole []byte) {
	t.Helper()
	want := emptied(t, whole)
	hollow, err := m.Hollow(Bounds{}, sha256.Sum256(whole))
	if err != nil || !bytes.Equal(hollow, want) {
		t.Errorf("hollow it is % x, %v; want % x", hollow, err, want)
	}
	outline, err := ParseOutline(m.Bytes(), m.caps, kept(t, m.Facts()))
	if err != nil {
		t.Fatal(err)
	}
	if hollow, err = outline.Hollow(Bounds{}, sha256.Sum256(whole)); err != nil || !bytes.Equal(hollow, want) {
		t.Errorf("the outline of it is % x, %v; want % x", hollow, err, want)
	}
	if outline.InstanceBytes() != m.InstanceBytes() {
		t.Errorf("an instance takes %d bytes, by the outline %d", m.InstanceBytes(), outline.InstanceBytes())
	}
	names, plain := m.MutableGlobals()
	if again, also := outline.MutableGlobals(); outline.ChangesTables() != m.ChangesTables() || !slices.Equal(again, names) || also != plain {
		t.Errorf("an instance has %q, %v, and changes tables: %v; by the outline %q, %v, %v", names, plain, m.ChangesTables(), again, also, outline.ChangesTables())
	}
	if !reflect.DeepEqual(outline.Exports, m.Exports) || !reflect.DeepEqual(outline.Imports, m.Imports) || !reflect.DeepEqual(outline.Customs, m.Customs) || outline.HasStart != m.HasStart {
		t.Error("the outline is one of another module")
	}
	if _, err := outline.Rewrite(Bounds{}); err == nil {
		t.Error("what was not read is rewritten")
	}
}

// busy is a module whose code makes Rewrite add signatures, functions and references, and that has a bit of everything.
func busy() []byte {
	body := func(code ...byte) []byte { return append([]byte{byte(len(code) + 2), 0}, append(code, opEnd)...) }
	return module(
		written{secType, []byte{2, 0x60, 0, 0, 0x60, 0, 2, I32, I64}},
		written{secFunction, []byte{3, 0, 1, 0}},
		written{secTable, []byte{1, FuncRef, 0, 4}},
		written{secMemory, []byte{1, 0, 1}},
		written{secGlobal, []byte{2, I64, 1, opI64Const, 5, opEnd, FuncRef, 0, opRefFunc, 1, opEnd}},
		written{secExport, append(appendName([]byte{1}, "f"), byte(KindFunc), 2)},
		written{secElement, []byte{2, 0, opI32Const, 0, opEnd, 2, 0, 1, 5, FuncRef, 1, opRefFunc, 1, opEnd}},
		written{secCode, slices.Concat([]byte{3},
			body(opI32Const, 0, opI32Const, 0, opMemorySize, 0, opBulk, bulkMemoryCopy, 0, 0, opRefFunc, 2, 0x1a, opRefFunc, 0, opI32Const, 1, opBulk, bulkTableGrow, 0, 0x1a),
			body(opI32Const, 1, opI64Const, 2),
			body(opI32Const, 0, opI32Const, 0, opMemorySize, 0, opBulk, bulkMemoryFill, 0, opLoop, 0x40, opBr, 0, opEnd))},
		written{secData, dataContent([]segment{{at(10), []byte("xx")}, {at(14), []byte("yy")}})},
	)
}

func TestAHollowModuleIsTheRewrittenOneWithoutItsCode(t *testing.T) {
	for name, wasm := range map[string][]byte{
		"busy":    busy(),
		"nothing": module(),
		"with the type of the refill": module(written{secType, []byte{1, 0x60, 1, I64, 1, I64}}, written{secFunction, []byte{1, 0}},
			written{secCode, []byte{1, 4, 0, 0x20, 0, opEnd}}),
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Parse(wasm, Caps{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Hollow(Bounds{}, [32]byte{}); err == nil {
				t.Error("it is known before the code was rewritten")
			}
			whole, err := m.Rewrite(Bounds{})
			if err != nil {
				t.Fatal(err)
			}
			if f := m.Facts(); name == "busy" && (!f.GrowsTables || !f.ChangesTables || len(f.Types) == 0 || len(f.Functions) != 2 || len(f.References) != 2) {
				t.Errorf("its facts are %+v", f)
			}
			checkHollow(t, m, whole)
		})
	}
}

// TestAnOutlineIsHeldAgainstEverythingButCode bounds and cuts what is not code.
func TestAnOutlineIsHeldAgainstEverythingButCode(t *testing.T) {
	for name, caps := range map[string]Caps{
		"bytes": {ModuleBytes: 10}, "types": {Types: 1}, "functions": {Functions: 2}, "globals": {Globals: 1}, "elements": {Elements: 1}, "data": {DataBytes: 3},
	} {
		var over *CapError
		if _, err := ParseOutline(busy(), caps, Facts{}); !errors.As(err, &over) {
			t.Errorf("%s: %v, want a CapError", name, err)
		}
	}
	for n := range len(busy()) {
		_, err := Parse(busy()[:n], Caps{})
		if _, outline := ParseOutline(busy()[:n], Caps{}, Facts{}); (outline == nil) != (err == nil) {
			t.Errorf("the first %d bytes: %v, and all but the code: %v", n, err, outline)
		}
	}
}

func TestRulesAreTheirSource(t *testing.T) {
	if Rules(Caps{}, Bounds{}) != Rules(Caps{Functions: 50_000}, Bounds{StackBytes: defaultStack}) {
		t.Error("the defaults are other rules than nothing")
	}
	seen := map[[32]byte]string{Rules(Caps{}, Bounds{}): "the defaults"}
	for what, rules := range map[string][32]byte{
		"a cap": Rules(Caps{Functions: 1}, Bounds{}), "another": Rules(Caps{Kept: 1}, Bounds{}), "a bound": Rules(Caps{}, Bounds{StackBytes: 1 << 20}),
	} {
		if seen[rules] != "" {
			t.Errorf("%s: the rules are those of %s", what, seen[rules])
		}
		seen[rules] = what
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		here, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if built, err := source.ReadFile(e.Name()); err != nil || !bytes.Equal(built, here) {
			t.Errorf("%s is not among the rules: %v", e.Name(), err)
		}
	}
}

// FuzzOutline believes anything of anything: what comes out is a module or an error.
func FuzzOutline(f *testing.F) {
	f.Add(busy(), []byte(`{"GrowsTables":true,"Types":[{"Params":"fg==","Results":null}],"Functions":[9],"References":[4000000000]}`))
	f.Add(module(), []byte(`{}`))
	f.Fuzz(func(t *testing.T, wasm, said []byte) {
		var facts Facts
		if json.Unmarshal(said, &facts) != nil || len(facts.Functions) > 1000 {
			return
		}
		m, err := ParseOutline(wasm, Caps{}, facts)
		if err != nil {
			return
		}
		hollow, err := m.Hollow(Bounds{}, [32]byte{})
		if (err == nil) != bytes.HasPrefix(hollow, m.wasm[:8]) {
			t.Errorf("% x, %v", hollow, err)
		}
	})
}
