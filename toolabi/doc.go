// Package toolabi is the contract between wrun and the tools it runs: the names of the sandbox's imports and exports,
// the messages that cross it, the manifest of a module and the closed list of error codes.
//
// Host and guest compile this very package, so it imports neither os nor net nor anything else of wrun. It is not the
// place for behaviour: what a host function does lives in hostfuncs, how a guest reaches it in sdk.
//
// Messages are CBOR in the core deterministic encoding of RFC 8949, section 4.2.1, with integer keys; docs/abi.md gives
// their CDDL. Codes, keys and names are append-only.
package toolabi

// The core WebAssembly names of ABI 1. A break of the contract is a new import module beside this one.
const (
	// ImportModule is the module name of every import that wrun offers.
	ImportModule = "wrun_v1"
	// WASIModule is the module name of WASI preview 1, of which a subset is offered.
	WASIModule = "wasi_snapshot_preview1"

	// ExportMemory is the guest's linear memory.
	ExportMemory = "memory"
	// ExportInvoke is wrun_invoke(input_len i32) -> i32: 0 when a reply was written, anything else is a protocol error.
	ExportInvoke = "wrun_invoke"
	// ExportMarker is a function that is never called; its presence says which ABI the module was built for.
	ExportMarker = "wrun_abi_1"
	// ExportInitialize is the optional start of a WASI reactor.
	ExportInitialize = "_initialize"
	// ExportDescribe is wrun_describe() -> i32, with which a build tool asks a module for its manifest. A host never calls it.
	ExportDescribe = "wrun_describe"

	// ImportInputRead is input_read(ptr, cap, off i32) -> i32: copies the request from off, returns the bytes copied.
	ImportInputRead = "input_read"
	// ImportOutputWrite is output_write(ptr, len i32) -> i32: appends to the reply, returns 0, or -1 past the cap.
	ImportOutputWrite = "output_write"
	// ImportResultRead is result_read(ptr, cap, off i32) -> i32: copies what the last host function left, returns the bytes copied.
	ImportResultRead = "result_read"

	// ManifestSection is the name of the custom section that holds a module's manifest. A module has exactly one.
	ManifestSection = "wrun.manifest.v1"
)

// Caps of the contract, in bytes unless said otherwise.
const (
	// MaxManifest is the largest manifest.
	MaxManifest = 64 << 10
	// MaxInput is the largest input of a call, and the largest request of a host function.
	MaxInput = 16 << 20
	// MaxOutput is the largest reply of a call, and the largest reply of a host function.
	MaxOutput = 16 << 20
	// MaxText is the longest message of an error, a log line or a progress report; longer ones are cut at a rune.
	MaxText = 4 << 10
	// MaxSaid is how often one call may use log, and how often progress; what comes after that is refused.
	MaxSaid = 1000
	// MaxManifestMS is the longest time that a manifest may give, in milliseconds: a hundred years, which every way of
	// counting time can hold.
	MaxManifestMS = 3_155_760_000_000
)
