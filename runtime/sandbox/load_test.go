package sandbox_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// wantLoad checks how a module was refused.
func wantLoad(t testing.TB, err error, kind sandbox.LoadKind, says string) {
	t.Helper()
	var l *sandbox.LoadError
	if !errors.As(err, &l) {
		t.Fatalf("error is %v, want a LoadError that is %v", err, kind)
	}
	if l.Kind != kind || !strings.Contains(l.Error(), says) || strings.Contains(l.Error(), "\n") {
		t.Errorf("error is %v: %q, want %v in one line that says %q", l.Kind, l.Error(), kind, says)
	}
}

// module returns a good guest after a change.
func changed(t testing.TB, change func(g *guest)) []byte {
	g := newGuest(toolabi.FuncHTTPFetch)
	change(g)
	return g.invoke(0, g.ok(t)).build(t)
}

// without returns a guest of the three exports without one of them, or with another in its place.
func without(t testing.TB, name string, instead func(g *guest, invoke, nothing uint32)) []byte {
	g := newGuest()
	g.Memory(1)
	invoke, nothing := g.Func(i32, i32, 0, I32Const(0)), g.Func(nil, nil, 0)
	for n, f := range map[string]uint32{toolabi.ExportInvoke: invoke, toolabi.ExportMarker: nothing} {
		if n != name {
			g.Export(n, f)
		}
	}
	if name != toolabi.ExportMemory {
		g.ExportRaw(toolabi.ExportMemory, 2, 0)
	}
	if instead != nil {
		instead(g, invoke, nothing)
	}
	return g.build(t)
}

func sections(s ...[]byte) []byte { return slices.Concat(append([][]byte{Header}, s...)...) }

func TestModulesThatAreRefused(t *testing.T) {
	huge := U32(0xfffffff0)
	unit := slices.Concat([]byte{1, 0x60, 0, 0}) // one type, ()->()
	for _, tc := range []struct {
		name string
		wasm []byte
		kind sandbox.LoadKind
		says string
	}{
		{"empty", nil, sandbox.Empty, "empty"},
		{"a script", []byte("#!/bin/sh\n"), sandbox.Malformed, "not WebAssembly"},
		{"magic alone", []byte("\x00asm"), sandbox.Malformed, "ends after 4 bytes"},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00\x00\x00"), sandbox.Component, "core modules: build for wasm32-wasip1"},
		{"version 2", []byte("\x00asm\x02\x00\x00\x00"), sandbox.Malformed, "version 02"},
		{"nothing in it", Header, sandbox.ABI, "does not export wrun_abi_1"},
		{"section 13", sections(Section(13, nil)), sandbox.Malformed, "section 13"},
		{"sections out of order", sections(Section(3, []byte{0}), Section(1, []byte{0})), sandbox.Malformed, "out of order"},
		{"a section twice", sections(Section(1, []byte{0}), Section(1, []byte{0})), sandbox.Malformed, "twice"},
		{"a section longer than the file", sections([]byte{0}, huge, []byte("abc")), sandbox.Malformed, "4294967280 bytes wanted, 3 left"},
		{"a length of six bytes", sections([]byte{1, 0x80, 0x80, 0x80, 0x80, 0x80, 0}), sandbox.Malformed, "over 32 bits"},
		{"a length over 32 bits", sections([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x1f}), sandbox.Malformed, "over 32 bits"},
		{"types that are not there", sections(Section(1, huge)), sandbox.Malformed, "types announced"},
		{"parameters that are not there", sections(Section(1, slices.Concat([]byte{1, 0x60}, huge, []byte{0, 0}))), sandbox.Malformed, "announced"},
		{"functions that are not there", sections(Section(1, unit), Section(3, U32(100_000_000))), sandbox.Malformed, "announced"},
		{"exports that are not there", sections(Section(7, huge)), sandbox.Malformed, "announced"},
		{"data that is not there", sections(Section(11, slices.Concat([]byte{1, 1}, huge))), sandbox.Malformed, "wanted"},
		{"data for a memory that is not there", sections(Section(11, slices.Concat([]byte{1, 2, 1}, I32Const(0), End, []byte{0}))), sandbox.Malformed, "second memory"},
		{"more bodies than functions", sections(Section(1, unit), Section(3, []byte{1, 0}), Section(10, []byte{2, 2, 0, 0x0b, 2, 0, 0x0b})), sandbox.Malformed, "1 functions and 2 bodies"},
		{"functions without bodies", sections(Section(1, unit), Section(3, []byte{1, 0})), sandbox.Malformed, "without code"},
		{"locals by the million", sections(Section(1, unit), Section(3, []byte{1, 0}), Section(10, slices.Concat([]byte{1, 8, 1}, U32(50_000_000), []byte{I32, 0x0b, 0}))), sandbox.TooBig, "50000000 locals"},
		{"a table of 8 GB", changed(t, func(g *guest) { g.Table(0, 134_000_000) }), sandbox.TooBig, "134000000 elements that the tables begin with, at most 262144"},
		{"three tables too many", changed(t, func(g *guest) {
			for range 7 {
				g.Table(0, 1)
			}
		}), sandbox.TooBig, "7 tables"},
		{"functions by the million", sections(Section(1, unit), Section(3, append(U32(1_000_000), make([]byte, 1_000_000)...))), sandbox.TooBig, "1000000 functions"},
		{"a body of 3 MB", sections(Section(1, unit), Section(3, []byte{1, 0}), Section(10, slices.Concat([]byte{1}, U32(3<<20), make([]byte, 3<<20)))), sandbox.TooBig, "3145728 bytes of one function, at most 524288"},
		{"a name that is not UTF-8", sections(Section(7, slices.Concat([]byte{1}, Name("\xff"), []byte{0, 0}))), sandbox.Malformed, "UTF-8"},
		{"a shared memory", sections(Section(5, []byte{1, 3, 1, 2})), sandbox.Malformed, "threads"},
		{"code that is no code", changed(t, func(g *guest) { g.FuncRaw(nil, nil, []byte{0, 0xff, 0x0b}) }), sandbox.Malformed, "instruction 0xff"},
		{"code that adds nothing to nothing", changed(t, func(g *guest) { g.FuncRaw(nil, nil, []byte{0, 0x6a, 0x0b}) }), 0, ""},

		{"another ABI", without(t, toolabi.ExportMarker, func(g *guest, _, nothing uint32) { g.Export("wrun_abi_2", nothing) }), sandbox.ABI, `ABI "2", and this version of wrun runs ABI 1`},
		{"no marker", without(t, toolabi.ExportMarker, nil), sandbox.ABI, "not a tool"},
		{"marker with a parameter", without(t, toolabi.ExportMarker, func(g *guest, invoke, _ uint32) { g.Export(toolabi.ExportMarker, invoke) }), sandbox.ABI, "wrun_abi_1 as (i32)->(i32), and ABI 1 wants ()->()"},
		{"no wrun_invoke", without(t, toolabi.ExportInvoke, nil), sandbox.ABI, "wrun_invoke"},
		{"wrun_invoke without a parameter", without(t, toolabi.ExportInvoke, func(g *guest, _, nothing uint32) { g.Export(toolabi.ExportInvoke, nothing) }), sandbox.ABI, "wants (i32)->(i32)"},
		{"wrun_invoke is a memory", without(t, toolabi.ExportInvoke, func(g *guest, _, _ uint32) { g.ExportRaw(toolabi.ExportInvoke, 2, 0) }), sandbox.ABI, "wrun_invoke"},
		{"an export twice", without(t, "", func(g *guest, _, nothing uint32) { g.Export(toolabi.ExportMarker, nothing) }), sandbox.Malformed, "twice"},
		{"no memory exported", without(t, toolabi.ExportMemory, nil), sandbox.ABI, `"memory"`},
		{"_initialize with a result", without(t, "", func(g *guest, invoke, _ uint32) { g.Export(toolabi.ExportInitialize, invoke) }), sandbox.ABI, "_initialize"},
		{"two memories", changed(t, func(g *guest) { g.Memory(1) }), sandbox.ABI, "2 memories"},
		{"a memory imported", changed(t, func(g *guest) { g.ImportRaw("env", "memory", 2, 0, 1) }), sandbox.Import, "memory"},
		{"a start section", changed(t, func(g *guest) { g.Start(0) }), sandbox.ABI, "_initialize"},

		{"an import of nobody", changed(t, func(g *guest) { g.Import("env", "puts", i32, i32) }), sandbox.Import, `"env"."puts"`},
		{"an import of a later version", changed(t, func(g *guest) { g.Import(toolabi.ImportModule, "launch", i32s, i64) }), sandbox.Import, `"launch", which this version`},
		{"a host function of another signature", changed(t, func(g *guest) { g.Import(toolabi.ImportModule, "log", i32, i64) }), sandbox.Import, "(i32)->(i64), and it is offered as (i32,i32)->(i64)"},
		{"WASI of nobody", changed(t, func(g *guest) { g.Import(toolabi.WASIModule, "path_launch", i32s, i32) }), sandbox.Import, "path_launch"},
		{"WASI of another signature", changed(t, func(g *guest) { g.Import(toolabi.WASIModule, "path_open", i32s, i32) }), sandbox.Import, "path_open"},
		{"WASI of the year before", changed(t, func(g *guest) { g.Import("wasi_unstable", "random_get", i32s, i32) }), sandbox.Import, "wasi_unstable"},
		{"imports by the thousand", changed(t, func(g *guest) {
			for range 2000 {
				g.Import(toolabi.ImportModule, "log", i32s, i64)
			}
		}), sandbox.TooBig, "imports"},

		{"two manifests", changed(t, func(g *guest) { g.Custom(toolabi.ManifestSection, nil) }), sandbox.TwoManifests, "2 manifests"},
		{"a manifest that is no manifest", changedManifest(t, func(m *toolabi.Manifest) { m.Tools[0].Idempotency = "Idempotent" }), sandbox.BadManifest, "Idempotent"},
		{"an import that was not asked for", changedManifest(t, func(m *toolabi.Manifest) { m.Capabilities = nil }), sandbox.Capability, "imports http_fetch and its manifest does not ask"},
		{"asked for and not imported", changedManifest(t, func(m *toolabi.Manifest) {
			m.Capabilities = append(m.Capabilities, toolabi.Capability{Name: toolabi.FuncHTTPSend, Reason: "to test"})
		}), sandbox.Capability, "asks for http_send"},
		{"more than its tools may use", changedManifest(t, func(m *toolabi.Manifest) { m.Tools[0].Idempotency = toolabi.Pure }), sandbox.Capability, "none of its tools"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := sandbox.Inspect(tc.wasm); tc.kind != 0 {
				wantLoad(t, err, tc.kind, tc.says)
			} else if err != nil {
				t.Errorf("refused before the compiler saw it: %v", err)
			}
			// What only the compiler's validation finds is refused in the same way.
			_, err := call(t, tc.wasm, "{}", nil)
			var l *sandbox.LoadError
			if !errors.As(err, &l) {
				t.Errorf("running it gave %v, want a LoadError", err)
			}
		})
	}
}

func changedManifest(t testing.TB, change func(m *toolabi.Manifest)) []byte {
	return changed(t, func(g *guest) { change(&g.manifest) })
}

func TestNoManifest(t *testing.T) {
	g := newGuest()
	wasm := g.invoke(0, g.ok(t)).Bytes()
	m, err := sandbox.Inspect(wasm)
	wantLoad(t, err, sandbox.NoManifest, "wrun tool build")
	if m == nil || m.Digest != toolabi.DigestOf(wasm) || m.Manifest != nil {
		t.Errorf("module is %+v, want what is known of it", m)
	}
}

func TestTruncatedModulesAreMalformed(t *testing.T) {
	whole := echo(t)
	for n := 1; n < len(whole); n++ {
		if _, err := sandbox.Inspect(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes were taken for a module", n, len(whole))
		}
	}
}

func TestInspectShowsWhatAModuleCanDo(t *testing.T) {
	wasm := changed(t, func(g *guest) {
		g.Import(toolabi.ImportModule, "clock", i32s, i64)
		g.Import(toolabi.WASIModule, "random_get", i32s, i32)
		g.Import(toolabi.WASIModule, "sock_shutdown", i32s, i32)
	})
	m, err := sandbox.Inspect(wasm)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"clock", "http_fetch"}; !slices.Equal(m.Functions, want) {
		t.Errorf("functions are %q, want %q", m.Functions, want)
	}
	if !slices.Equal(m.WASI, []string{"random_get"}) || !slices.Equal(m.UnlistedWASI, []string{"sock_shutdown"}) {
		t.Errorf("WASI is %q and %q", m.WASI, m.UnlistedWASI)
	}
	if m.Size != len(wasm) || m.Digest != toolabi.DigestOf(wasm) || m.Manifest.Name != "guest" || m.MemoryMin != 2*65536 {
		t.Errorf("module is %+v", m)
	}
	if want := []string{"wrun_invoke", "wrun_abi_1", "memory"}; !slices.Equal(m.Exports, want) {
		t.Errorf("exports are %q, want %q", m.Exports, want)
	}
}

func TestAttachManifestReplacesWhatWasThere(t *testing.T) {
	g := newGuest()
	plain := g.invoke(0, g.ok(t)).Bytes()
	first, err := sandbox.AttachManifest(plain, &g.manifest)
	if err != nil {
		t.Fatal(err)
	}
	second := g.manifest
	second.Version = "2.0.0"
	other, err := sandbox.AttachManifest(first, &second)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := sandbox.Inspect(other); err != nil || m.Manifest.Version != "2.0.0" {
		t.Errorf("got %+v, %v", m, err)
	}
	again, err := sandbox.AttachManifest(other, &g.manifest)
	if err != nil || !bytes.Equal(again, first) {
		t.Errorf("the same manifest gave other bytes, %v", err)
	}
	second.Name = "Not A Name"
	_, err = sandbox.AttachManifest(plain, &second)
	wantLoad(t, err, sandbox.BadManifest, "Not A Name")
	second = g.manifest
	second.Capabilities = []toolabi.Capability{{Name: "http_send", Reason: "to test"}}
	_, err = sandbox.AttachManifest(plain, &second)
	wantLoad(t, err, sandbox.Capability, "http_send")
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := echo(t)
	if b, err := sandbox.ReadFile(file("good.wasm", good)); err != nil || !bytes.Equal(b, good) {
		t.Errorf("got %d bytes, %v; want %d", len(b), err, len(good))
	}
	_, err := sandbox.ReadFile(file("empty.wasm", nil))
	wantLoad(t, err, sandbox.Empty, "empty.wasm")
	_, err = sandbox.ReadFile(dir)
	wantLoad(t, err, sandbox.NotAFile, "directory")
	if _, err = sandbox.ReadFile(filepath.Join(dir, "absent.wasm")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error is %v, want %v", err, os.ErrNotExist)
	}
	sparse := file("sparse.wasm", good)
	if err := os.Truncate(sparse, 1<<30); err != nil {
		t.Skip("no sparse files here:", err)
	}
	_, err = sandbox.ReadFile(sparse)
	wantLoad(t, err, sandbox.TooBig, "1073741824 bytes")
}

func TestADigestIsCheckedAgainstTheBytes(t *testing.T) {
	box, s := open(t, sandbox.Config{})
	d := s.add(echo(t))
	s[d] = changed(t, func(*guest) {})
	_, err := box.Invoke(t.Context(), toolabi.Invocation{Module: d, Tool: "echo"}, nil)
	wantLoad(t, err, sandbox.WrongDigest, d.Short())
	s[d] = echo(t) // what failed is not remembered
	if _, err := box.Invoke(t.Context(), toolabi.Invocation{Module: d, Tool: "echo", Input: []byte("1")}, nil); err != nil {
		t.Error(err)
	}
}
