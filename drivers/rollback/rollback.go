// Package rollback drives a run that undoes another one: it calls the compensating tools that runtime.Engine.Rollback found,
// in their order. It decides nothing, and finds nothing out: what is undone is pinned in the run's plan.
package rollback

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// Version is the driver's version, as runtime.Engine.Rollback writes it.
const Version = runtime.RollbackVersion

// Driver returns the driver of runs of the name runtime.RollbackDriver.
func Driver() runtime.DriverInfo {
	return runtime.DriverInfo{Version: Version, Drive: drive}
}

// Undone is one item of a rollback's output, a JSON list.
type Undone struct {
	// Step is the call that was undone, Tool what undid it, Output what that returned.
	Step   journal.Step    `json:"step"`
	Tool   string          `json:"tool"`
	Output json.RawMessage `json:"output"`
}

// drive undoes one call after the other. One that cannot be undone ends the rollback: what comes behind it in the list came
// before it in the run, and may be what it stands on.
func drive(ctx context.Context, r *runtime.Run) ([]byte, error) {
	var undo []runtime.Undo
	if err := json.Unmarshal(r.Plan(), &undo); err != nil {
		return nil, fmt.Errorf("read what is to be undone: %w", err)
	}
	done := []Undone{}
	for i, u := range undo {
		out, err := r.Call(ctx, journal.Step(fmt.Sprintf("undo[%d]", i)), u.Tool, u.Input)
		if err != nil {
			return nil, fmt.Errorf("undo %s: %w", u.Step, err)
		}
		done = append(done, Undone{Step: u.Step, Tool: u.Tool, Output: out})
	}
	return json.Marshal(done)
}
