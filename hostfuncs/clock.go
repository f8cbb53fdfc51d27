package hostfuncs

import (
	"context"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

func clockFunc(fallback func() time.Time) Func {
	return Handle(toolabi.FuncClock, toolabi.Read,
		func(_ context.Context, c Call, _ toolabi.ClockRequest) (toolabi.ClockReply, error) {
			now := c.Now
			if now == nil {
				now = fallback
			}
			return toolabi.ClockReply{UnixNano: now().UnixNano()}, nil
		})
}
