package hostfuncs

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/toolabi"
)

func logFunc(vault *Vault) Func {
	return Handle(toolabi.FuncLog, toolabi.Free, func(ctx context.Context, c Call, req toolabi.LogRequest) (toolabi.LogReply, error) {
		req.Message = vault.HideText(req.Message) // before it is cut
		return writeLog(ctx, c, req)
	})
}

func writeLog(_ context.Context, c Call, req toolabi.LogRequest) (toolabi.LogReply, error) {
	level := req.Level
	if level == 0 {
		level = toolabi.LevelInfo
	}
	if level > toolabi.LevelError {
		return toolabi.LogReply{}, toolabi.NewError(toolabi.Invalid, fmt.Sprintf("log: level %d is none of 1 to 4", level))
	}
	if c.Log != nil {
		c.Log(level, toolabi.CleanLine(req.Message, toolabi.MaxText))
	}
	return toolabi.LogReply{}, nil
}
