package sandbox

import (
	"errors"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// Module is what is known of a module without running any of it.
type Module struct {
	// Digest is the module's identity.
	Digest toolabi.Digest
	// Size is its length in bytes.
	Size int
	// Manifest is nil where Inspect reports that it is missing or bad.
	Manifest *toolabi.Manifest
	// Functions are the host functions that it imports, in the order of toolabi.Functions: the upper bound of its power.
	Functions []string
	// WASI are the functions of WASI preview 1 that it imports and that do something, in the order of its imports.
	WASI []string
	// UnlistedWASI are those that do nothing: they answer ENOSYS, and of a program ENOTSUP, EPERM or ENOTSOCK.
	UnlistedWASI []string
	// Exports are the names that it exports, in its order, invalid characters and all.
	Exports []string
	// MemoryMin and MemoryMax are the bounds of its memory in bytes; MemoryMax is 0 when it names none, or names 0.
	MemoryMin, MemoryMax uint64

	read *reading // nil unless Inspect took the module
}

// Bytes returns the module as it was judged, which is not copied and must not be changed; nil if it was refused.
func (m *Module) Bytes() []byte {
	if m.read == nil {
		return nil
	}
	return m.read.parsed.Bytes()
}

// Inspect reads a module and judges it: structure, caps, ABI, imports, manifest, in this order. The error is a *LoadError;
// the Module is not nil as soon as the structure could be read, and then holds what is known beside the error. It keeps the
// bytes, which must not change.
func Inspect(module []byte) (*Module, error) { return InspectCached(module, "") }

// InspectCached is Inspect for somebody who has a Config.CacheDir. Of a module that was compiled into it by this version, under the
// default caps, the code is not read again, which is most of the work.
func InspectCached(module []byte, cacheDir string) (*Module, error) {
	return inspect(module, toolabi.DigestOf(module), wasm.Caps{}, lookAtJudgements(cacheDir, wasm.Caps{}))
}

func inspect(module []byte, digest toolabi.Digest, caps wasm.Caps, known judgements) (*Module, error) {
	r, err := read(module, digest, caps, known)
	if err != nil {
		return nil, err
	}
	m := describeModule(digest, r.parsed)
	if err := m.judge(r.parsed); err != nil {
		return m, err
	}
	m.read = r
	return m, nil
}

// judge holds a module against the ABI, its imports and its manifest.
func (m *Module) judge(b *wasm.Module) error {
	badManifest := m.readManifest(b) // first, because it says by which rules the module is judged; told last all the same
	checks := []func(*wasm.Module) error{checkABI, checkImports}
	var bad *LoadError
	switch _, starts := b.Export(exportStart); {
	case m.isProgram():
		checks = []func(*wasm.Module) error{checkProgram, checkProgramImports}
	case starts && errors.As(badManifest, &bad) && bad.Kind == BadManifest:
		checks = nil // what it would be judged by is what cannot be read
	}
	m.listWASI(b)
	for _, check := range checks {
		if err := check(b); err != nil {
			return err
		}
	}
	return badManifest
}

func (m *Module) isProgram() bool { return m.Manifest != nil && m.Manifest.Command != nil }

// parse reads a module. The error is a *LoadError.
func parse(module []byte, caps wasm.Caps) (*wasm.Module, error) {
	b, err := wasm.Parse(module, caps)
	var tooBig *wasm.CapError
	switch {
	case err == nil:
		return b, nil
	case len(module) == 0:
		return nil, refuse(Empty, "it is empty")
	case wasm.IsComponent(module):
		return nil, refuse(Component, "it is a component; wrun runs core modules: build for wasm32-wasip1 (or GOOS=wasip1), or take the core module before it is made a component")
	case errors.As(err, &tooBig):
		return nil, refuse(TooBig, "%w", err)
	}
	return nil, refuse(Malformed, "malformed WebAssembly: %w", err)
}

func describeModule(digest toolabi.Digest, b *wasm.Module) *Module {
	m := &Module{Digest: digest, Size: len(b.Bytes())}
	for _, e := range b.Exports {
		m.Exports = append(m.Exports, e.Name)
	}
	for _, f := range toolabi.Functions {
		if slices.ContainsFunc(b.Imports, func(i wasm.Import) bool { return i.Module == toolabi.ImportModule && i.Name == f.Name }) {
			m.Functions = append(m.Functions, f.Name)
		}
	}
	if len(b.Memories) > 0 {
		m.MemoryMin, m.MemoryMax = uint64(b.Memories[0].Min)*pageSize, uint64(b.Memories[0].Max)*pageSize
	}
	return m
}

// listWASI sorts the functions of WASI that the module imports by whether they do something for it.
func (m *Module) listWASI(b *wasm.Module) {
	for _, i := range b.Imports {
		f, ok := wasiByName(i.Name)
		does := f.tool != nil || m.isProgram() && !f.never
		switch {
		case !ok || i.Module != toolabi.WASIModule:
		case does && !slices.Contains(m.WASI, f.name):
			m.WASI = append(m.WASI, f.name)
		case !does && !slices.Contains(m.UnlistedWASI, f.name):
			m.UnlistedWASI = append(m.UnlistedWASI, f.name)
		}
	}
}

// abiExports are the functions that a module exports, with their signatures.
var abiExports = []struct {
	name, params, results string
	optional              bool
}{
	{name: toolabi.ExportInvoke, params: "i", results: "i"},
	{name: toolabi.ExportMarker},
	{name: toolabi.ExportInitialize, optional: true},
	{name: toolabi.ExportDescribe, results: "i", optional: true},
}

func checkABI(b *wasm.Module) error {
	if b.HasStart {
		return refuse(ABI, "it has a start section, which would run before the call's bounds are set; what has to run first belongs into %s", toolabi.ExportInitialize)
	}
	if err := checkMarker(b); err != nil {
		return err
	}
	if err := checkMemory(b, "a tool"); err != nil {
		return err
	}
	for _, want := range abiExports {
		e, ok := b.Export(want.name)
		if !ok && want.optional {
			continue
		}
		if !ok || e.Kind != wasm.KindFunc {
			return refuse(ABI, "it does not export a function %s", want.name)
		}
		if t, _ := b.TypeOf(e.Index); t.String() != signature(want.params, want.results) {
			return refuse(ABI, "it exports %s as %s, and ABI 1 wants %s", want.name, t, signature(want.params, want.results))
		}
	}
	return nil
}

func checkMemory(b *wasm.Module, what string) error {
	if len(b.Memories) != 1 {
		return refuse(ABI, "it has %d memories of its own, and %s has exactly one", len(b.Memories), what)
	}
	if e, ok := b.Export(toolabi.ExportMemory); !ok || e.Kind != wasm.KindMemory {
		return refuse(ABI, "it does not export its memory as %q", toolabi.ExportMemory)
	}
	return nil
}

const markerPrefix = "wrun_abi_"

func checkMarker(b *wasm.Module) error {
	if _, ok := b.Export(toolabi.ExportMarker); ok {
		return nil
	}
	for _, e := range b.Exports {
		if version, ok := strings.CutPrefix(e.Name, markerPrefix); ok {
			return refuse(ABI, "it was built for wrun ABI %s, and this version of wrun runs ABI %s: rebuild it with an SDK for ABI %[2]s, or use a newer wrun",
				toolabi.CutText(quote(version), 40), strings.TrimPrefix(toolabi.ExportMarker, markerPrefix))
		}
	}
	if _, ok := b.Export(exportStart); ok {
		return refuse(ABI, "it is a program (it exports %s and not %s); give it a manifest that says how it is run, with: wrun tool wrap", exportStart, toolabi.ExportMarker)
	}
	return refuse(ABI, "it is not a tool: it does not export %s; build it with a wrun SDK", toolabi.ExportMarker)
}

// checkImports refuses the first import that is not offered in exactly this form.
func checkImports(b *wasm.Module) error {
	for _, i := range b.Imports {
		if i.Kind != wasm.KindFunc {
			return refuse(Import, "it imports a %s, %s.%s; only functions are offered", i.Kind, quote(i.Module), quote(i.Name))
		}
		want, ok := offered(i.Module, i.Name)
		switch {
		case !ok && i.Module == toolabi.ImportModule:
			return refuse(Import, "it imports %s.%s, which this version of wrun does not offer; a newer one may", i.Module, quote(i.Name))
		case !ok:
			return refuse(Import, "it imports %s.%s; only %s and %s are offered", quote(i.Module), quote(i.Name), toolabi.ImportModule, toolabi.WASIModule)
		}
		if got := i.Type.String(); got != want {
			return refuse(Import, "it imports %s.%s as %s, and it is offered as %s", i.Module, i.Name, got, want)
		}
	}
	return nil
}

// offered returns the signature under which a function is linked.
func offered(module, name string) (string, bool) {
	switch module {
	case toolabi.ImportModule:
		for _, f := range abiFuncs {
			if f.name == name {
				return signature(f.params, "i"), true
			}
		}
		_, ok := toolabi.FunctionByName(name)
		return signature("ii", "I"), ok
	case toolabi.WASIModule:
		f, ok := wasiByName(name)
		return signature(f.params, f.results()), ok
	}
	return "", false
}

// readManifest finds, reads and checks the manifest.
func (m *Module) readManifest(b *wasm.Module) error {
	var found []wasm.Custom
	for _, c := range b.Customs {
		if c.Name == toolabi.ManifestSection {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		return refuse(NoManifest, "it has no manifest (custom section %s); attach one with: wrun tool build, or wrun tool wrap", toolabi.ManifestSection)
	}
	if len(found) > 1 {
		return refuse(TwoManifests, "it has %d manifests, and exactly one is allowed", len(found))
	}
	manifest, err := toolabi.ParseManifest(found[0].Content)
	if err != nil {
		return refuse(BadManifest, "%w", err)
	}
	m.Manifest = manifest
	if err := manifest.CheckImports(m.Functions); err != nil {
		return refuse(Capability, "%w", oneLine(err))
	}
	return nil
}

// oneLine keeps several joined errors on one line.
func oneLine(err error) error { return &joined{err} }

type joined struct{ err error }

func (j *joined) Error() string { return strings.ReplaceAll(j.err.Error(), "\n", "; ") }
func (j *joined) Unwrap() error { return j.err }

// named adds the name under which a module was loaded to a LoadError.
func named(err error, module string) error {
	var l *LoadError
	if errors.As(err, &l) && l.Module == "" {
		return &LoadError{Kind: l.Kind, Module: module, Err: l.Err}
	}
	return err
}
