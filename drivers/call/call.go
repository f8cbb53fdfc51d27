// Package call drives a run that is one call of one tool. It is the smallest driver, and not the way in which other
// drivers call tools: they use runtime.Run.Call.
package call

import (
	"context"

	"github.com/wrun-dev/wrun/runtime"
)

// Name is the driver's name in a run.
const Name = "call"

// Version is the driver's version.
const Version = "1"

// Step is the name of the only step.
const Step = "call"

// Driver returns the driver. A run's plan is the tool's name, "module.tool", and its input is the tool's.
func Driver() runtime.DriverInfo {
	return runtime.DriverInfo{Version: Version, Drive: drive}
}

func drive(ctx context.Context, r *runtime.Run) ([]byte, error) {
	return r.Call(ctx, Step, string(r.Plan()), r.Input())
}
