//go:build !wasip1

package sdk

import (
	"github.com/wrun-dev/wrun/sdk/internal/host"
	"github.com/wrun-dev/wrun/toolabi"
)

// Outside a sandbox the functions go to the world of a test; without one they answer toolabi.Unsupported.

func crossLog(b []byte) int64       { return host.Cross(toolabi.FuncLog, b) }
func crossProgress(b []byte) int64  { return host.Cross(toolabi.FuncProgress, b) }
func crossClock(b []byte) int64     { return host.Cross(toolabi.FuncClock, b) }
func crossRandom(b []byte) int64    { return host.Cross(toolabi.FuncRandom, b) }
func crossHTTPFetch(b []byte) int64 { return host.Cross(toolabi.FuncHTTPFetch, b) }
func crossHTTPSend(b []byte) int64  { return host.Cross(toolabi.FuncHTTPSend, b) }
func crossApprove(b []byte) int64   { return host.Cross(toolabi.FuncApprove, b) }
func crossSleep(b []byte) int64     { return host.Cross(toolabi.FuncSleep, b) }
func crossToolCall(b []byte) int64  { return host.Cross(toolabi.FuncToolCall, b) }

func resultRead(b []byte) int { return copy(b, host.Result()) }
