package sdktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// approve puts a question to the test, after the checks that the host makes.
func (s *stage) approve(req toolabi.ApproveRequest) (toolabi.ApproveReply, error) {
	bad := len(req.Text) > toolabi.MaxApproveText || len(req.Detail) > toolabi.MaxApproveDetail || req.ExpiresMS > toolabi.MaxManifestMS
	if bad || strings.TrimSpace(req.Text) == "" {
		return toolabi.ApproveReply{}, toolabi.NewError(toolabi.Invalid, "approve: text, detail or expiry are empty or over their cap")
	}
	if len(req.Detail) > 0 {
		if err := toolabi.StrictJSON(req.Detail); err != nil {
			return toolabi.ApproveReply{}, toolabi.NewError(toolabi.Invalid, "approve: the detail is not JSON: "+err.Error())
		}
	}
	s.Questions = append(s.Questions, req)
	return s.Approve(req)
}

// sleep moves the clock.
func (s *stage) sleep(req toolabi.SleepRequest) (toolabi.SleepReply, error) {
	if (req.MS == 0) == (req.Until == 0) || req.MS > toolabi.MaxSleepMS {
		return toolabi.SleepReply{}, toolabi.NewError(toolabi.Invalid, "sleep: want either how long, at most 366 days, or until when")
	}
	d := time.Duration(req.MS) * time.Millisecond
	if req.Until != 0 {
		d = max(0, time.Unix(0, req.Until).Sub(s.now()))
	}
	if d > toolabi.MaxSleepMS*time.Millisecond {
		return toolabi.SleepReply{}, toolabi.NewError(toolabi.Invalid, fmt.Sprintf("sleep: %s, at most 366 days are allowed", d))
	}
	s.Sleeps, s.slept = append(s.Sleeps, d), s.slept+d
	return toolabi.SleepReply{}, nil
}

// toolCall calls a tool that the test made up.
func (s *stage) toolCall(req toolabi.ToolCallRequest) (toolabi.ToolCallReply, error) {
	if _, _, ok := toolabi.SplitTool(req.Tool); !ok {
		return toolabi.ToolCallReply{}, toolabi.NewError(toolabi.Invalid, fmt.Sprintf("tool_call: %.160q is no full name of a tool", req.Tool))
	}
	for _, c := range s.module.Capabilities {
		if c.Name == toolabi.FuncToolCall && !toolabi.ToolAmong(req.Tool, c.Targets) {
			return toolabi.ToolCallReply{}, toolabi.NewError(toolabi.Denied, req.Tool+" is not among the targets of the module")
		}
	}
	if err := toolabi.StrictJSON(req.Input); err != nil {
		return toolabi.ToolCallReply{}, toolabi.NewError(toolabi.BadInput, "the input of "+req.Tool+" is not JSON: "+err.Error())
	}
	s.Calls = append(s.Calls, req)
	tool, ok := s.Tools[req.Tool]
	if !ok {
		return toolabi.ToolCallReply{}, toolabi.NewError(toolabi.NotFound, "the run has no tool "+req.Tool)
	}
	output, err := tool(req.Input)
	var known *toolabi.Error
	switch {
	case err != nil && !errors.As(err, &known):
		err = toolabi.NewError(toolabi.Failed, err.Error()) // as a tool's own error reaches its caller
	case err == nil && !json.Valid(output):
		err = toolabi.NewError(toolabi.BadOutput, "the output of "+req.Tool+" is not JSON")
	}
	return toolabi.ToolCallReply{Output: output}, err
}
