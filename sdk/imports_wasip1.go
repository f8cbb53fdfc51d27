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

//go:wasmimport wrun_v1 secret_has
//go:noescape
func importSecretHas(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 config_get
//go:noescape
func importConfigGet(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 kv_get
//go:noescape
func importKVGet(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 kv_put
//go:noescape
func importKVPut(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 kv_cas
//go:noescape
func importKVCAS(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 kv_delete
//go:noescape
func importKVDelete(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 kv_list
//go:noescape
func importKVList(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 artifact_put
//go:noescape
func importArtifactPut(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 artifact_get
//go:noescape
func importArtifactGet(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 artifact_stat
//go:noescape
func importArtifactStat(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 workspace_read
//go:noescape
func importWorkspaceRead(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 workspace_write
//go:noescape
func importWorkspaceWrite(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 workspace_list
//go:noescape
func importWorkspaceList(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 workspace_remove
//go:noescape
func importWorkspaceRemove(p unsafe.Pointer, size uint32) int64

//go:wasmimport wrun_v1 mail_send
//go:noescape
func importMailSend(p unsafe.Pointer, size uint32) int64

func crossLog(b []byte) int64             { return importLog(at(b), uint32(len(b))) }
func crossProgress(b []byte) int64        { return importProgress(at(b), uint32(len(b))) }
func crossClock(b []byte) int64           { return importClock(at(b), uint32(len(b))) }
func crossRandom(b []byte) int64          { return importRandom(at(b), uint32(len(b))) }
func crossHTTPFetch(b []byte) int64       { return importHTTPFetch(at(b), uint32(len(b))) }
func crossHTTPSend(b []byte) int64        { return importHTTPSend(at(b), uint32(len(b))) }
func crossApprove(b []byte) int64         { return importApprove(at(b), uint32(len(b))) }
func crossSleep(b []byte) int64           { return importSleep(at(b), uint32(len(b))) }
func crossToolCall(b []byte) int64        { return importToolCall(at(b), uint32(len(b))) }
func crossSecretHas(b []byte) int64       { return importSecretHas(at(b), uint32(len(b))) }
func crossConfigGet(b []byte) int64       { return importConfigGet(at(b), uint32(len(b))) }
func crossKVGet(b []byte) int64           { return importKVGet(at(b), uint32(len(b))) }
func crossKVPut(b []byte) int64           { return importKVPut(at(b), uint32(len(b))) }
func crossKVCAS(b []byte) int64           { return importKVCAS(at(b), uint32(len(b))) }
func crossKVDelete(b []byte) int64        { return importKVDelete(at(b), uint32(len(b))) }
func crossKVList(b []byte) int64          { return importKVList(at(b), uint32(len(b))) }
func crossArtifactPut(b []byte) int64     { return importArtifactPut(at(b), uint32(len(b))) }
func crossArtifactGet(b []byte) int64     { return importArtifactGet(at(b), uint32(len(b))) }
func crossArtifactStat(b []byte) int64    { return importArtifactStat(at(b), uint32(len(b))) }
func crossWorkspaceRead(b []byte) int64   { return importWorkspaceRead(at(b), uint32(len(b))) }
func crossWorkspaceWrite(b []byte) int64  { return importWorkspaceWrite(at(b), uint32(len(b))) }
func crossWorkspaceList(b []byte) int64   { return importWorkspaceList(at(b), uint32(len(b))) }
func crossWorkspaceRemove(b []byte) int64 { return importWorkspaceRemove(at(b), uint32(len(b))) }
func crossMailSend(b []byte) int64        { return importMailSend(at(b), uint32(len(b))) }

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
