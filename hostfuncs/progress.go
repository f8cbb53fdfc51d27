package hostfuncs

import (
	"context"

	"github.com/wrun-dev/wrun/toolabi"
)

func progressFunc(vault *Vault) Func {
	return Handle(toolabi.FuncProgress, toolabi.Free, func(ctx context.Context, c Call, req toolabi.ProgressRequest) (toolabi.ProgressReply, error) {
		req.Message = vault.HideText(req.Message) // before it is cut
		return reportProgress(ctx, c, req)
	})
}

func reportProgress(_ context.Context, c Call, req toolabi.ProgressRequest) (toolabi.ProgressReply, error) {
	if c.Progress != nil {
		c.Progress(req.Done, req.Total, toolabi.CleanLine(req.Message, toolabi.MaxText))
	}
	return toolabi.ProgressReply{}, nil
}
