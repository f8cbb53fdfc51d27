package wasm

import (
	"slices"
	"strings"
	"testing"
)

// oneFunction writes a module of a function with this code, which need not be valid beyond its form.
func oneFunction(code ...byte) []byte {
	body := append(append([]byte{0}, code...), opEnd)
	return module(written{secType, []byte{1, 0x60, 0, 0}}, written{secFunction, []byte{1, 0}}, written{secTable, []byte{1, FuncRef, 0, 1}},
		written{secMemory, []byte{1, 0, 1}}, written{secDataCount, []byte{1}},
		written{secCode, append(appendU32([]byte{1}, uint32(len(body))), body...)}, written{secData, []byte{1, 1, 1, 'x'}})
}

func TestWhatChangesTables(t *testing.T) {
	for _, tc := range []struct {
		name string
		code []byte
		want bool
	}{
		{"nothing", nil, false},
		{"table.get", []byte{0x25, 0}, false},
		{"table.set", []byte{opTableSet, 0}, true},
		{"table.init", []byte{opBulk, bulkTableInit, 0, 0}, true},
		{"elem.drop", []byte{opBulk, bulkElemDrop, 0}, true},
		{"table.copy", []byte{opBulk, bulkTableCopy, 0, 0}, true},
		{"table.grow", []byte{opBulk, bulkTableGrow, 0}, true},
		{"table.size", []byte{opBulk, 16, 0}, false},
		{"table.fill", []byte{opBulk, bulkTableFill, 0}, true},
		{"memory.init", []byte{opBulk, bulkMemoryInit, 0, 0}, false},
		{"data.drop", []byte{opBulk, bulkDataDrop, 0}, true},
		{"memory.copy", []byte{opBulk, bulkMemoryCopy, 0, 0}, false},
		{"memory.fill", []byte{opBulk, bulkMemoryFill, 0}, false},
		{"call_indirect", []byte{opCallIndirect, 0, 0}, false},
		{"a vector instruction of the same number", []byte{opVector, bulkTableInit, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, false},
		{"table.set before others", []byte{opTableSet, 0, 0x01}, true},
	} {
		before, after := rewrite(t, oneFunction(tc.code...))
		if before.ChangesTables() != tc.want || after.ChangesTables() != tc.want {
			t.Errorf("%s: %v, and rewritten %v; want %v", tc.name, before.ChangesTables(), after.ChangesTables(), tc.want)
		}
	}
}

func TestMutableGlobalsAreExportedByTheirNames(t *testing.T) {
	i32, i64 := []byte{I32, 1, opI32Const, 0, opEnd}, []byte{I64, 1, opI64Const, 0, opEnd}
	f32, f64 := []byte{F32, 1, 0x43, 0, 0, 0, 0, opEnd}, []byte{F64, 1, 0x44, 0, 0, 0, 0, 0, 0, 0, 0, opEnd}
	v128 := slices.Concat([]byte{V128, 1, opVector, 12}, make([]byte, 16), []byte{opEnd})
	fixed := slices.Concat([]byte{V128, 0, opVector, 12}, make([]byte, 16), []byte{opEnd})
	null := func(typ byte) []byte { return []byte{typ, 1, 0xd0, typ, opEnd} }
	imported := written{secImport, append(appendName(appendName([]byte{1}, "m"), "g"), byte(KindGlobal), I32, 0)}
	for _, tc := range []struct {
		name     string
		globals  [][]byte
		imported bool
		want     []string
		plain    bool
	}{
		{"none", nil, false, nil, true},
		{"numbers", [][]byte{i32, fixed, i64, f32, f64}, false, []string{"0", "2", "3", "4"}, true},
		{"behind one that is imported", [][]byte{i32, i64}, true, []string{"1", "2"}, true},
		{"a vector", [][]byte{v128, i32}, false, []string{"0", "1"}, false},
		{"a reference to a function", [][]byte{i32, null(FuncRef)}, false, []string{"0", "1"}, false},
		{"a reference of the host's", [][]byte{null(ExternRef)}, false, []string{"0"}, false},
	} {
		sections := []written{{secGlobal, slices.Concat(append([][]byte{{byte(len(tc.globals))}}, tc.globals...)...)}}
		if tc.imported {
			sections = append([]written{imported}, sections...)
		}
		before, after := rewrite(t, module(sections...))
		names, plain := before.MutableGlobals()
		var want, exported []string
		for _, n := range tc.want {
			want = append(want, GlobalExport+n)
		}
		for _, e := range after.Exports {
			if strings.HasPrefix(e.Name, GlobalExport) {
				exported = append(exported, e.Name)
			}
		}
		if !slices.Equal(names, want) || plain != tc.plain || !slices.Equal(exported, want) {
			t.Errorf("%s: %q, plain is %v, exported are %q; want %q and %v", tc.name, names, plain, exported, want, tc.plain)
		}
	}
}
