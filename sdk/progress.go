package sdk

import (
	"github.com/wrun-dev/wrun/sdk/internal/registry"
	"github.com/wrun-dev/wrun/toolabi"
)

// Progress tells a person how far the tool has come: done of total in a unit of the tool's choice, total 0 when it is
// not known. Nothing of it is recorded and nothing comes back, so any tool may use it.
func Progress(done, total uint64, message string) {
	_ = use(crossProgress, toolabi.ProgressRequest{
		Done: done, Total: total, Message: registry.CleanText(message, toolabi.MaxText),
	}, nil)
}
