package sdk

import (
	"fmt"

	"github.com/wrun-dev/wrun/sdk/internal/registry"
	"github.com/wrun-dev/wrun/toolabi"
)

// Log writes a line to the host's log at one of the levels of toolabi, such as toolabi.LevelInfo. What is longer than
// toolabi.MaxText is cut. Nothing of it is recorded and nothing comes back, so any tool may use it.
func Log(level uint8, message string) {
	_ = use(crossLog, toolabi.LogRequest{Level: level, Message: registry.CleanText(message, toolabi.MaxText)}, nil)
}

// Logf is Log with a format as in package fmt.
func Logf(level uint8, format string, a ...any) { Log(level, fmt.Sprintf(format, a...)) }
