package plan

import (
	"context"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
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
	return p.Run(ctx, withoutWaits{r}, r.Input())
}

// withoutWaits is a run of an engine that does not wait for people and times yet: the steps that would are refused.
type withoutWaits struct{ *runtime.Run }

var errNoWaits = toolabi.NewError(toolabi.Unsupported, "this version cannot wait for a person or a time")

// Approve refuses.
func (withoutWaits) Approve(context.Context, journal.Step, Question) ([]byte, error) {
	return nil, errNoWaits
}

// Sleep refuses.
func (withoutWaits) Sleep(context.Context, journal.Step, time.Duration) error { return errNoWaits }

// SleepUntil refuses.
func (withoutWaits) SleepUntil(context.Context, journal.Step, time.Time) error { return errNoWaits }
