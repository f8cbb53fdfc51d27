//go:build !wasip1

package sdk

import (
	"github.com/wrun-dev/wrun/sdk/internal/host"
	"github.com/wrun-dev/wrun/toolabi"
)

// Outside a sandbox the functions go to the world of a test; without one they answer toolabi.Unsupported.

func crossLog(b []byte) int64             { return host.Cross(toolabi.FuncLog, b) }
func crossProgress(b []byte) int64        { return host.Cross(toolabi.FuncProgress, b) }
func crossClock(b []byte) int64           { return host.Cross(toolabi.FuncClock, b) }
func crossRandom(b []byte) int64          { return host.Cross(toolabi.FuncRandom, b) }
func crossHTTPFetch(b []byte) int64       { return host.Cross(toolabi.FuncHTTPFetch, b) }
func crossHTTPSend(b []byte) int64        { return host.Cross(toolabi.FuncHTTPSend, b) }
func crossApprove(b []byte) int64         { return host.Cross(toolabi.FuncApprove, b) }
func crossSleep(b []byte) int64           { return host.Cross(toolabi.FuncSleep, b) }
func crossToolCall(b []byte) int64        { return host.Cross(toolabi.FuncToolCall, b) }
func crossSecretHas(b []byte) int64       { return host.Cross(toolabi.FuncSecretHas, b) }
func crossConfigGet(b []byte) int64       { return host.Cross(toolabi.FuncConfigGet, b) }
func crossKVGet(b []byte) int64           { return host.Cross(toolabi.FuncKVGet, b) }
func crossKVPut(b []byte) int64           { return host.Cross(toolabi.FuncKVPut, b) }
func crossKVCAS(b []byte) int64           { return host.Cross(toolabi.FuncKVCAS, b) }
func crossKVDelete(b []byte) int64        { return host.Cross(toolabi.FuncKVDelete, b) }
func crossKVList(b []byte) int64          { return host.Cross(toolabi.FuncKVList, b) }
func crossArtifactPut(b []byte) int64     { return host.Cross(toolabi.FuncArtifactPut, b) }
func crossArtifactGet(b []byte) int64     { return host.Cross(toolabi.FuncArtifactGet, b) }
func crossArtifactStat(b []byte) int64    { return host.Cross(toolabi.FuncArtifactStat, b) }
func crossWorkspaceRead(b []byte) int64   { return host.Cross(toolabi.FuncWorkspaceRead, b) }
func crossWorkspaceWrite(b []byte) int64  { return host.Cross(toolabi.FuncWorkspaceWrite, b) }
func crossWorkspaceList(b []byte) int64   { return host.Cross(toolabi.FuncWorkspaceList, b) }
func crossWorkspaceRemove(b []byte) int64 { return host.Cross(toolabi.FuncWorkspaceRemove, b) }
func crossMailSend(b []byte) int64        { return host.Cross(toolabi.FuncMailSend, b) }

func resultRead(b []byte) int { return copy(b, host.Result()) }
