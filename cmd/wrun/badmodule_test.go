package main

import (
	"encoding/json"
	"os"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/internal/wasmtest/hostile"
	"github.com/wrun-dev/wrun/toolabi"
)

// badModules makes modules that must be refused, by what is wrong with them.
var badModules = map[string]func() ([]byte, error){
	"good":      func() ([]byte, error) { return attach(plain(), describe()) },
	"empty":     func() ([]byte, error) { return nil, nil },
	"text":      func() ([]byte, error) { return []byte("#!/bin/sh\necho hello\n"), nil },
	"truncated": func() ([]byte, error) { m, err := attach(plain(), describe()); return m[:len(m)-9], err },
	"component": func() ([]byte, error) { return []byte("\x00asm\x0d\x00\x01\x00"), nil },
	"wrong-abi": func() ([]byte, error) {
		m := guestModule("wrun_abi_9")
		return attach(m.Bytes(), describe())
	},
	"no-manifest": func() ([]byte, error) { return plain(), nil },
	"two-manifests": func() ([]byte, error) {
		one, err := attach(plain(), describe())
		if err != nil {
			return nil, err
		}
		return attach(one, describe())
	},
	"asks-too-much": func() ([]byte, error) {
		m := describe()
		m.Capabilities = []toolabi.Capability{{Name: toolabi.FuncHTTPSend, Reason: "to send"}}
		return attach(plain(), m)
	},
	"takes-too-much": func() ([]byte, error) {
		m := new(Module)
		m.Import(toolabi.ImportModule, toolabi.FuncHTTPSend, []byte{I32, I32}, []byte{I64})
		finish(m, toolabi.ExportMarker)
		return attach(m.Bytes(), describe())
	},
	// A small module that takes many seconds to compile: what a branch sets is another value after it.
	"bomb": func() ([]byte, error) {
		m := new(Module)
		var body []byte
		for i := range 7_000 {
			body = append(body, slices.Concat(LocalGet(uint32(i%60)), If, I32Const(1), LocalSet(uint32(i*7%60)), Else, I32Const(2), LocalSet(uint32(i*11%60)), End)...)
		}
		for range 20 {
			m.Func([]byte{I32}, nil, 60, body)
		}
		finish(m, toolabi.ExportMarker)
		return attach(m.Bytes(), describe())
	},
	"unknown-import": func() ([]byte, error) {
		m := new(Module)
		m.Import("env", "system", []byte{I32}, []byte{I32})
		finish(m, toolabi.ExportMarker)
		return attach(m.Bytes(), describe())
	},
}

func guestModule(marker string) *Module {
	m := new(Module)
	finish(m, marker)
	return m
}

// finish adds what every guest exports.
func finish(m *Module, marker string) {
	m.Memory(1)
	m.ExportRaw(toolabi.ExportMemory, 2, 0)
	m.Export(toolabi.ExportInvoke, m.Func([]byte{I32}, []byte{I32}, 0, I32Const(0)))
	m.Export(marker, m.Func(nil, nil, 0))
}

func plain() []byte { return guestModule(toolabi.ExportMarker).Bytes() }

func describe() *toolabi.Manifest {
	return &toolabi.Manifest{Name: "bad", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "it"}}}
}

// attach adds a manifest without judging the module, as no build tool would.
func attach(wasm []byte, m *toolabi.Manifest) ([]byte, error) {
	raw, err := toolabi.Encode(m)
	return slices.Concat(wasm, Section(0, slices.Concat(Name(toolabi.ManifestSection), raw))), err
}

// hostileModule writes a module that means no good, by the name of its case: hostile NAME FILE.
func hostileModule(ts *testscript.TestScript, neg bool, args []string) {
	wasm := hostile.Bytes(args[0])
	if wasm == nil && args[0] != "empty" {
		ts.Fatalf("there is no case %s", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), wasm, 0o600))
}

// badModule writes a bad module: badmodule KIND FILE. "sparse" is a file of 1 GB that takes no room.
func badModule(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[1])
	if args[0] == "sparse" {
		f, err := os.Create(path)
		ts.Check(err)
		ts.Check(f.Truncate(1 << 30))
		ts.Check(f.Close())
		return
	}
	wasm, err := badModules[args[0]]()
	ts.Check(err)
	ts.Check(os.WriteFile(path, wasm, 0o600))
}

// moduleCommand writes a module that imports what its manifest asks for and does nothing: module FILE MANIFEST.json.
func moduleCommand(ts *testscript.TestScript, neg bool, args []string) {
	manifest := new(toolabi.Manifest)
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), manifest))
	m := new(Module)
	for _, c := range manifest.Capabilities {
		m.Import(toolabi.ImportModule, c.Name, []byte{I32, I32}, []byte{I64})
	}
	finish(m, toolabi.ExportMarker)
	wasm, err := attach(m.Bytes(), manifest)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), wasm, 0o600))
}
