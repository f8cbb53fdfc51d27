package sdk

import (
	"unsafe"
)

// The imports of ABI 1, in the order of docs/abi.md. A module imports those that can be reached from its tools.

//go:wasmimport wrun_v1 input_read
//go:noescape
func importInputRead(p unsafe.Pointer, size, off uint32) int32

//go:wasmimport wrun_v1 output_write
//go:noescape
func importOutputWrite(p unsafe.Pointer, size uint32) int32

//go:wasmimport wrun_v1 result_read
//go:noescape
func importResultRead(p unsafe.Pointer, size, off uint32) int32

//go:wasmimport wrun_v1 log
//go:noescape
func importLog(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 progress
//go:noescape
func importProgress(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 clock
//go:noescape
func importClock(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 random
//go:noescape
func importRandom(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 http_fetch
//go:noescape
func importHTTPFetch(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 http_send
//go:noescape
func importHTTPSend(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 approve
//go:noescape
func importApprove(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 sleep
//go:noescape
func importSleep(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 tool_call
//go:noescape
func importToolCall(p unsafe.Pointer, size uint32) int64

func crossLog(b []byte) int64       { return importLog(at(b), uint32(len(b))) }
func crossProgress(b []byte) int64  { return importProgress(at(b), uint32(len(b))) }
func crossClock(b []byte) int64     { return importClock(at(b), uint32(len(b))) }
func crossRandom(b []byte) int64    { return importRandom(at(b), uint32(len(b))) }
func crossHTTPFetch(b []byte) int64 { return importHTTPFetch(at(b), uint32(len(b))) }
func crossHTTPSend(b []byte) int64  { return importHTTPSend(at(b), uint32(len(b))) }
func crossApprove(b []byte) int64   { return importApprove(at(b), uint32(len(b))) }
func crossSleep(b []byte) int64     { return importSleep(at(b), uint32(len(b))) }
func crossToolCall(b []byte) int64  { return importToolCall(at(b), uint32(len(b))) }

// at returns where b lies in linear memory. Go's collector moves no heap object, and a host reads or writes before the
// import returns.
func at(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// resultRead fills b with the beginning of the last answer and returns how much that was.
func resultRead(b []byte) int {
	return fill(b, importResultRead)
}

// inputRead fills b with the beginning of the request and returns how much that was.
func inputRead(b []byte) int {
	return fill(b, importInputRead)
}

func fill(b []byte, read func(p unsafe.Pointer, size, off uint32) int32) int {
	n := 0
	for n < len(b) {
		got := int(read(at(b[n:]), uint32(len(b)-n), uint32(n)))
		if got <= 0 || got > len(b)-n {
			break
		}
		n += got
	}
	return n
}
