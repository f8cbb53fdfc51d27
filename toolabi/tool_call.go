package toolabi

import (
	"slices"
	"strings"
)

// FuncToolCall calls another tool of the run. Call: the called tool's own steps are recorded below this one, each with
// its own class; cut off, both tools are entered again and answered from the record.
const FuncToolCall = "tool_call"

// MaxCallDepth is how deep calls of tools by tools may nest; the driver's call is the first.
const MaxCallDepth = 8

// What Detail says beside two codes of tool_call.
const (
	// DetailCycle is the Detail of Conflict when the tool is already among its callers.
	DetailCycle = "cycle"
	// DetailDepth is the Detail of TooLarge when the call would be nested deeper than MaxCallDepth.
	DetailDepth = "depth"
)

// ToolCallRequest names a tool and gives its input.
//
// Errors, before the tool is entered: Invalid when Tool is not a name of that form; NotFound when the run has no such
// tool; BadInput when the input is not JSON or does not match the tool's schema; Denied when the tool is not among the
// targets of the module's capability, when a ReadOnly tool calls one that is neither Pure nor ReadOnly, and when a policy
// or a person says no; Conflict with DetailCycle; TooLarge with DetailDepth. Otherwise whatever the called tool failed
// with.
type ToolCallRequest struct {
	// Tool is the tool's full name, module.tool.
	Tool string `cbor:"1,keyasint"`
	// Input is the tool's input: JSON.
	Input []byte `cbor:"2,keyasint"`
}

// ToolCallReply is what the tool returned.
type ToolCallReply struct {
	// Output is the tool's output: JSON, exactly the bytes that it wrote.
	Output []byte `cbor:"1,keyasint"`
}

// SplitTool takes the full name of a tool apart. It says no to everything that is not the name of a module, a point and
// the name of a tool.
func SplitTool(name string) (module, tool string, ok bool) {
	module, tool, ok = strings.Cut(name, ".")
	return module, tool, ok && IsModuleName(module) && isToolName(tool)
}

// ToolAmong says whether a tool, by its full name, is among the targets that a capability gives for tool_call: each the
// full name of a tool, or module.* for all of a module. No targets mean every tool.
func ToolAmong(name string, targets []string) bool {
	module, _, _ := strings.Cut(name, ".")
	return len(targets) == 0 || slices.Contains(targets, name) || slices.Contains(targets, module+".*")
}

// isToolTarget says whether s can be a target of tool_call.
func isToolTarget(s string) bool {
	if module, all := strings.CutSuffix(s, ".*"); all {
		return IsModuleName(module)
	}
	_, _, ok := SplitTool(s)
	return ok
}
