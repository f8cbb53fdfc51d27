package faults

import (
	"slices"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/toolabi"
)

// The modules of the trials are a few hundred bytes long, so that a process costs little more than what it does.

// The classes of steps, and the tools that take them.
const (
	classOnce  = "once"  // must not be repeated
	classKeyed = "keyed" // repeated under its key
	classRead  = "read"  // may be repeated
	classKeep  = "keep"  // keeps an artifact
)

// tools are the tools of the classes. All names are as long as one another: the input lies behind them.
var tools = map[string]string{classOnce: "payer.once", classKeyed: "payer.keyd", classRead: "reader.look", classKeep: "keeper.keep"}

const (
	inputAt  = 10   // where the byte string of the input begins in a request for a tool with a name of four letters
	staticAt = 1024 // what is the same in every request to a host function
	replyAt  = 65536
	memory   = 8 // pages
)

// canaryName is the secret that every payment carries, canary its value. Neither journal nor anything that is said may hold it.
const (
	canaryName = "canary"
	canary     = "wrun-canary-2f1d7c50"
)

func i32s(n int) []byte { return slices.Repeat([]byte{I32}, n) }

// module builds a module that sends a host function what is in static, with the input behind it where withInput says so, and
// answers with its own input.
func module(manifest toolabi.Manifest, function string, static []byte, withInput bool) []byte {
	m := new(Module)
	input := m.Import(toolabi.ImportModule, toolabi.ImportInputRead, i32s(3), i32s(1))
	output := m.Import(toolabi.ImportModule, toolabi.ImportOutputWrite, i32s(2), i32s(1))
	result := m.Import(toolabi.ImportModule, toolabi.ImportResultRead, i32s(3), i32s(1))
	host := m.Import(toolabi.ImportModule, function, i32s(2), []byte{I64})
	m.Memory(memory)
	at := int32(staticAt + len(static))
	m.Data(staticAt, static)
	m.Data(replyAt, []byte{0xa1, 1})
	m.Data(replyAt-16, []byte{0xa1, 2})
	const read = 1 // the local that counts the bytes of the input
	length := I32Const(int32(len(static)))
	if withInput {
		length = slices.Concat(length, LocalGet(read), I32Add)
	}
	copied := func(at int32) []byte {
		return slices.Concat(I32Const(at), I32Const(60_000), I32Const(inputAt), Call(input))
	}
	body := slices.Concat(
		copied(at), LocalSet(read),
		I32Const(staticAt), length, Call(host), I32WrapI64, LocalSet(2),
		LocalGet(2), I32Const(0), I32LtS, If, // an error of the host's is the tool's
		I32Const(replyAt-14), I32Const(0), LocalGet(2), I32Sub, I32Const(0), Call(result), LocalSet(2),
		I32Const(replyAt-16), LocalGet(2), I32Const(2), I32Add, Call(output), Drop, I32Const(0), Return,
		End,
		I32Const(replyAt), copied(replyAt+2), I32Const(2), I32Add, Call(output), Drop, I32Const(0),
	)
	m.Export(toolabi.ExportInvoke, m.Func(i32s(1), i32s(1), 2, body))
	m.Export(toolabi.ExportMarker, m.Func(nil, nil, 0))
	m.ExportRaw(toolabi.ExportMemory, 2, 0)
	m.Custom(toolabi.ManifestSection, encoded(&manifest))
	return m.Bytes()
}

// encoded is for what this package itself has made.
func encoded(v any) []byte {
	b, err := toolabi.Encode(v)
	if err != nil {
		panic(err)
	}
	return b
}

// modules returns the modules by the names of their files. ledger is where they send to.
func modules(ledger string) map[string][]byte {
	send := encoded(&toolabi.HTTPRequest{
		Method: "POST", URL: ledger + "/charges", Headers: []toolabi.Header{{Name: "Authorization", Value: toolabi.SecretRef(canaryName)}}, Body: []byte("x"),
	})
	fetch := encoded(&toolabi.HTTPRequest{Method: "GET", URL: ledger + "/count", ToArtifact: 1 << 20})
	keep := encoded(&toolabi.ArtifactPutRequest{Body: []byte("x")})
	return map[string][]byte{
		"payer.wasm": module(toolabi.Manifest{
			Name: "payer", Version: "1.0.0",
			Tools: []toolabi.Tool{
				{Name: "once", Idempotency: toolabi.NonIdempotent},
				{Name: "keyd", Idempotency: toolabi.Keyed, KeyTTLMS: 86_400_000, Retry: toolabi.RetryPolicy{Attempts: 8, BackoffMS: 1}},
			},
			Capabilities: []toolabi.Capability{{Name: toolabi.FuncHTTPSend, Reason: "to charge", Secrets: []string{canaryName}}},
		}, toolabi.FuncHTTPSend, send[:len(send)-2], true),
		"reader.wasm": module(toolabi.Manifest{
			Name: "reader", Version: "1.0.0",
			Tools:        []toolabi.Tool{{Name: "look", Idempotency: toolabi.ReadOnly, Retry: toolabi.RetryPolicy{Attempts: 8, BackoffMS: 1}}},
			Capabilities: []toolabi.Capability{{Name: toolabi.FuncHTTPFetch, Reason: "to look"}},
		}, toolabi.FuncHTTPFetch, fetch, false),
		"keeper.wasm": module(toolabi.Manifest{
			Name: "keeper", Version: "1.0.0",
			Tools:        []toolabi.Tool{{Name: "keep", Idempotency: toolabi.Idempotent}},
			Capabilities: []toolabi.Capability{{Name: toolabi.FuncArtifactPut, Reason: "to keep"}},
		}, toolabi.FuncArtifactPut, keep[:len(keep)-2], true),
	}
}
