package sandbox

import (
	"fmt"

	"github.com/wrun-dev/wrun/toolabi"
)

// LoadKind says why a module was not loaded.
type LoadKind uint8

// The kinds.
const (
	// Empty: there are no bytes.
	Empty LoadKind = iota + 1
	// NotAFile: the path names a directory, a pipe or a device.
	NotAFile
	// TooBig: the module, or a part of it, is over a cap.
	TooBig
	// Malformed: the bytes are not a core WebAssembly 2.0 module.
	Malformed
	// Component: the bytes are a component, and only core modules are run.
	Component
	// ABI: the marker, an export or a signature is missing or wrong.
	ABI
	// Import: the module imports what is not offered, or with another signature.
	Import
	// NoManifest: the module has no manifest section.
	NoManifest
	// TwoManifests: the module has more than one.
	TwoManifests
	// BadManifest: the manifest cannot be read or contradicts itself.
	BadManifest
	// Capability: the manifest and the imports do not agree.
	Capability
	// WrongDigest: the bytes are not the ones that were asked for.
	WrongDigest
	// CompileBudget: compiling it takes more time or memory than Config.CompileTimeout or CompileMemory.
	CompileBudget
)

var loadKinds = [...]string{
	Empty: "empty", NotAFile: "not a file", TooBig: "too big", Malformed: "malformed", Component: "component", ABI: "abi",
	Import: "import", NoManifest: "no manifest", TwoManifests: "two manifests", BadManifest: "bad manifest",
	Capability: "capability", WrongDigest: "wrong digest",
	CompileBudget: "compile budget",
}

// String returns the kind in lower case.
func (k LoadKind) String() string {
	if int(k) < len(loadKinds) && loadKinds[k] != "" {
		return loadKinds[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// LoadError says that a module was refused before any of it ran.
type LoadError struct {
	// Kind is the reason.
	Kind LoadKind
	// Module is the path or the digest by which the module was named; "" when it came as bytes.
	Module string
	// Err is the sentence for people; it says what to do where there is something to do.
	Err error
}

// Error returns "module NAME: sentence".
func (e *LoadError) Error() string {
	if e.Module == "" {
		return "module: " + e.Err.Error()
	}
	return "module " + e.Module + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *LoadError) Unwrap() error { return e.Err }

func refuse(kind LoadKind, format string, a ...any) *LoadError {
	return &LoadError{Kind: kind, Err: fmt.Errorf(format, a...)}
}

// quote returns a guest's name so that it can stand in a message: short, on one line, without control characters.
func quote(name string) string { return fmt.Sprintf("%q", toolabi.CutText(name, 80)) }
