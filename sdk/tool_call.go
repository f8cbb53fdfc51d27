package sdk

import (
	"encoding/json"
	"fmt"

	"github.com/wrun-dev/wrun/sdk/internal/registry"
	"github.com/wrun-dev/wrun/toolabi"
)

// CallTool calls another tool of the run by its full name, such as payments.charge. The module must Need
// toolabi.FuncToolCall. in is written as JSON, as encoding/json does, and the output is read into out, unless that is nil;
// toolabi.RawJSON in either place passes JSON on as it is. Fields of the output that out does not have are left out.
//
// The called tool keeps its own promise, and what it did is not done again when this one is entered again. A ReadOnly tool
// may call tools that are Pure or ReadOnly.
//
// Errors are those of toolabi.ToolCallRequest; toolabi.BadInput also when in cannot be written as JSON,
// toolabi.BadOutput also when the output cannot be read into out, and toolabi.Denied in a tool that declares itself Pure.
func CallTool(tool string, in, out any) error {
	input, err := registry.WriteJSON(in)
	if err != nil {
		return toolabi.NewError(toolabi.BadInput, fmt.Sprintf("write the input of %s: %v", tool, err))
	}
	var reply toolabi.ToolCallReply
	if err := use(crossToolCall, toolabi.ToolCallRequest{Tool: tool, Input: input}, &reply); err != nil {
		return err
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(reply.Output, out); err != nil {
		return toolabi.NewError(toolabi.BadOutput, fmt.Sprintf("read the output of %s: %v", tool, err))
	}
	return nil
}
