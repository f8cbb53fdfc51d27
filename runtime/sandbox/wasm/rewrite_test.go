package wasm

import (
	"bytes"
	"slices"
	"testing"
)

// names writes a custom section with the names of functions: name section, subsection 1.
func names(content []byte) []byte {
	var out bytes.Buffer
	out.WriteString("\x00asm\x01\x00\x00\x00")
	writeSection(&out, secCustom, append(appendName(nil, "name"), content...))
	return out.Bytes()
}

func TestOnlyWellFormedNamesReachTheCompiler(t *testing.T) {
	good := []byte{1, 4, 1, 0, 1, 'f'}
	for _, tc := range []struct {
		name    string
		content []byte
		want    []byte
	}{
		{"functions", good, good},
		{"beside a module's name and locals", slices.Concat([]byte{0, 2, 1, 'm'}, good, []byte{2, 6, 1, 0, 1, 0, 1, 'x'}), good},
		{"more than are there", []byte{1, 6, 0xff, 0xff, 0xff, 0xff, 0x0f, 0}, nil},
		{"locals that are not there", []byte{2, 7, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}, nil},
		{"not UTF-8", []byte{1, 4, 1, 0, 1, 0xff}, nil},
		{"longer than the section", []byte{1, 9, 1, 0, 1, 'f'}, nil},
	} {
		wasm := names(tc.content)
		m, err := Parse(wasm, Caps{})
		if err != nil {
			t.Fatal(tc.name, err)
		}
		want := wasm[:8]
		if tc.want != nil {
			want = names(tc.want)
		}
		if got := m.ForCompiler(); !bytes.Equal(got, want) {
			t.Errorf("%s: the compiler gets % x, want % x", tc.name, got, want)
		}
	}
}

// FuzzForCompiler holds that what the compiler gets is well-formed, has the same program, and bounded tables.
func FuzzForCompiler(f *testing.F) {
	f.Add(names([]byte{1, 4, 1, 0, 1, 'f'}))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x04\x08\x02\x70\x00\x01\x6f\x01\x02\x09"))
	f.Add([]byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x0a\x04\x01\x02\x00\x0b"))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, err := Parse(wasm, Caps{})
		if err != nil {
			return
		}
		again, err := Parse(m.ForCompiler(), Caps{})
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range again.Tables {
			if !table.HasMax || table.Max > 1<<20 {
				t.Errorf("table %+v is not bounded", table)
			}
		}
		if len(again.Tables) != len(m.Tables) || len(again.funcs) != len(m.funcs) || len(again.Exports) != len(m.Exports) || len(again.Customs) > 1 {
			t.Errorf("%+v became %+v", m, again)
		}
	})
}
