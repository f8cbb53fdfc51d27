package hostfuncs

import (
	"context"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

func clockFunc(fallback func() time.Time) Func {
	return Handle(toolabi.FuncClock, toolabi.Read,
		func(_ context.Context, c Call, _ toolabi.ClockRequest) (toolabi.ClockReply, error) {
			return toolabi.ClockReply{UnixNano: timeOf(c, fallback).UnixNano()}, nil
		})
}

// timeOf reads the call's clock, or the one that stands in for it.
func timeOf(c Call, fallback func() time.Time) time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return fallback()
}
