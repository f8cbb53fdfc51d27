package agent

import (
	"fmt"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/toolabi"
)

// repeats counts how often the same call failed in a row.
type repeats struct {
	most   int
	failed map[string]int
}

func newRepeats(most int) *repeats { return &repeats{most: most, failed: map[string]int{}} }

// note notes what came of a call. It returns the error that ends the run when it has failed too often: a model that repeats
// itself would go on until the money is gone.
func (r *repeats) note(c model.Call, res model.Result) error {
	key := c.Tool + "\x00" + string(c.Input)
	if !res.Failed {
		delete(r.failed, key)
		return nil
	}
	if r.failed[key]++; r.failed[key] < r.most {
		return nil
	}
	e := toolabi.NewError(toolabi.Failed, fmt.Sprintf("the model made the same call of %s %d times, and each failed: %s",
		toolabi.CleanLine(c.Tool, 100), r.most, toolabi.CleanLine(res.Text, 1000)))
	e.Detail = "repeats"
	return e
}
