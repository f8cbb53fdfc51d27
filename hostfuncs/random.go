package hostfuncs

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/wrun-dev/wrun/toolabi"
)

func randomFunc() Func { return Handle(toolabi.FuncRandom, toolabi.Read, drawRandom) }

func drawRandom(_ context.Context, _ Call, req toolabi.RandomRequest) (toolabi.RandomReply, error) {
	switch {
	case req.N == 0:
		return toolabi.RandomReply{}, toolabi.NewError(toolabi.Invalid, "random: 0 bytes asked for")
	case req.N > toolabi.MaxRandom:
		return toolabi.RandomReply{}, toolabi.NewError(toolabi.TooLarge,
			fmt.Sprintf("random: %d bytes asked for, at most %d at a time", req.N, toolabi.MaxRandom))
	}
	b := make([]byte, req.N)
	if _, err := rand.Read(b); err != nil {
		return toolabi.RandomReply{}, fmt.Errorf("read random bytes: %w", err)
	}
	return toolabi.RandomReply{Bytes: b}, nil
}
