package hostfuncs

import (
	"encoding/json"

	"github.com/wrun-dev/wrun/toolabi"
)

// toolCallFunc makes tool_call. Only what can be judged of a request by itself is judged here; the tool is entered by
// runtime.
func toolCallFunc() Func {
	return Func{
		Name: toolabi.FuncToolCall, Class: toolabi.Call, Check: checkToolCall, Describe: describeToolCall,
		ShowRequest: showToolCall, ShowReply: showToolReply,
	}
}

func checkToolCall(c Call, raw []byte) error {
	var req toolabi.ToolCallRequest
	if err := toolabi.Decode(raw, &req); err != nil {
		return invalidf("tool_call: %v", err)
	}
	if _, _, ok := toolabi.SplitTool(req.Tool); !ok {
		return invalidf("tool_call: %q is no full name of a tool, such as payments.charge", toolabi.CleanLine(req.Tool, 160))
	}
	if len(req.Input) > toolabi.MaxInput {
		return tooLargef("tool_call: an input of %d bytes, at most %d are allowed", len(req.Input), toolabi.MaxInput)
	}
	if !toolabi.ToolAmong(req.Tool, c.Targets) {
		return toolabi.NewError(toolabi.Denied, "tool_call: the module's manifest does not name "+req.Tool+" among its targets")
	}
	if err := toolabi.StrictJSON(req.Input); err != nil {
		return toolabi.NewError(toolabi.BadInput, "tool_call: the input of "+req.Tool+" is not JSON: "+err.Error())
	}
	return nil
}

func describeToolCall(raw []byte) string {
	var req toolabi.ToolCallRequest
	if toolabi.Decode(raw, &req) != nil {
		return ""
	}
	return toolabi.CleanLine(req.Tool, 200)
}

func showToolCall(raw []byte) ([]byte, error) {
	var req toolabi.ToolCallRequest
	if err := toolabi.Decode(raw, &req); err != nil {
		return nil, err
	}
	return sayJSON(struct {
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	}{req.Tool, req.Input})
}

func showToolReply(reply []byte) ([]byte, error) {
	var r toolabi.ToolCallReply
	if err := toolabi.Decode(reply, &r); err != nil {
		return nil, err
	}
	return sayJSON(json.RawMessage(r.Output))
}
