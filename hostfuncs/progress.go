package hostfuncs

import (
	"context"

	"github.com/wrun-dev/wrun/toolabi"
)

func progressFunc() Func { return Handle(toolabi.FuncProgress, toolabi.Free, reportProgress) }

func reportProgress(_ context.Context, c Call, req toolabi.ProgressRequest) (toolabi.ProgressReply, error) {
	if c.Progress != nil {
		c.Progress(req.Done, req.Total, toolabi.CleanLine(req.Message, toolabi.MaxText))
	}
	return toolabi.ProgressReply{}, nil
}
