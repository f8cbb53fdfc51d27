package plan

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/runtime"
)

// Name is the driver's name in a run.
const Name = "plan"

// Driver returns the driver of runs whose plan is the text of a plan file.
func Driver() runtime.DriverInfo {
	return runtime.DriverInfo{Version: Version, Drive: drive}
}

func drive(ctx context.Context, r *runtime.Run) ([]byte, error) {
	p, err := Parse(r.Plan())
	if err != nil {
		// Whoever began the run could read it: this program is older. That must not close the run.
		return nil, &runtime.DivergedError{Run: r.ID(), What: fmt.Sprintf("this program cannot read the plan: %v", err)}
	}
	return p.Run(ctx, r, r.Input())
}
