// Package sdktest runs the tools of a module as plain Go under go test, in a world that the test makes up.
//
// A tool goes through the same registry and the same JSON as in a sandbox: its input is held against its schema and decoded
// strictly, its output encoded and held against its schema, its errors cleaned. What it declares is enforced: a Pure or ReadOnly tool is denied what it may not use, a
// function that the module did not Need fails the test, and so does one that the World does not have.
//
// It is no sandbox. Nothing bounds the tool's time or memory, a panic is a panic of the test, and nothing is recorded or
// replayed. How a module behaves under crashes is for the command wrun test.
package sdktest

import (
	"context"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/sdk/internal/host"
	"github.com/wrun-dev/wrun/sdk/internal/registry"
	"github.com/wrun-dev/wrun/toolabi"
)

// calling is held for the whole of a Call, because a program has one module and so one world at a time.
var calling sync.Mutex

// Call runs a tool of the module that this test is part of, with a JSON input, and returns its JSON output. The error is
// a *toolabi.Error, as the caller of the tool would get it: errors.Is(err, toolabi.Failed) tells a failure of the tool's
// own, toolabi.BadInput an input that the host would refuse before the tool is entered. A nil world has no host functions but log and progress.
//
// Calls from parallel tests wait for each other; a tool must not use Call. Goroutines that outlive the call find no
// world.
func Call(t testing.TB, w *World, tool, input string) (output string, err error) {
	t.Helper()
	m := Manifest(t)
	described, ok := m.Tool(tool)
	if !ok {
		t.Fatalf("call %s: module %s has no such tool", tool, m.Name)
	}
	if w == nil {
		w = new(World)
	}
	if err := registry.Default.Judge(tool, false, []byte(input)); err != nil {
		return "", toolabi.NewError(toolabi.BadInput, err.Error())
	}
	reply := enter(t, &stage{World: w, t: t, ctx: t.Context(), module: m, tool: described}, input)
	if reply.Err != nil {
		return "", reply.Err
	}
	if err := registry.Default.Judge(tool, true, reply.Output); err != nil {
		return string(reply.Output), toolabi.NewError(toolabi.BadOutput, err.Error())
	}
	return string(reply.Output), nil
}

// enter sends one request the way a host does.
func enter(t testing.TB, s *stage, input string) toolabi.Reply {
	t.Helper()
	var reply toolabi.Reply
	request, err := toolabi.Encode(toolabi.Request{ABI: 1, Tool: s.tool.Name, Input: []byte(input)})
	if err != nil {
		t.Fatalf("call %s: %v", s.tool.Name, err)
	}
	b, err := invoke(s, request)
	if err != nil {
		t.Fatalf("call %s: %v", s.tool.Name, err)
	}
	if err := toolabi.Decode(b, &reply); err != nil {
		t.Fatalf("call %s: read its reply: %v", s.tool.Name, err)
	}
	return reply
}

func invoke(s *stage, request []byte) ([]byte, error) {
	calling.Lock()
	defer calling.Unlock()
	before := host.Install(s.answer)
	defer func() { host.Install(before) }()
	return registry.Default.Invoke(context.WithoutCancel(s.ctx), request)
}

// Manifest returns the manifest of the module that this test is part of, and fails the test where wrun_describe would
// fail.
func Manifest(t testing.TB) *toolabi.Manifest {
	t.Helper()
	b, err := registry.Default.Describe()
	if err != nil {
		t.Fatalf("describe the module: %v", err)
	}
	m, err := toolabi.ParseManifest(b)
	if err != nil {
		t.Fatalf("describe the module: %v", err)
	}
	return m
}
