package agent

import (
	"fmt"
	"math"

	"github.com/wrun-dev/wrun/drivers/agent/model"
)

// check says what an agent has that makes no sense, or nil. Parse lets none of it through; what is made in Go, or stands in a
// journal that somebody else wrote, can have anything.
func (a *Agent) check() error {
	const most = math.MaxInt64
	const longest = most / 1_000_000 // milliseconds that are still a time.Duration
	for _, f := range []struct {
		name    string
		n, most int64
	}{
		{"limits: steps", a.Limits.Steps, most},
		{"limits: tokens", a.Limits.Tokens, most},
		{"limits: cost", a.Limits.Cost, most},
		{"limits: time", a.Limits.TimeMS, longest},
		{"limits: calls", int64(a.Limits.Calls), MaxCalls},
		{"limits: parallel", int64(a.Limits.Parallel), MaxParallel},
		{"limits: repeats", int64(a.Limits.Repeats), most},
		{"context: turns", int64(a.Context.Turns), MaxSteps},
		{"context: result_bytes", int64(a.Context.ResultBytes), model.MaxRequest},
		{"model: max_tokens", int64(a.Model.MaxTokens), most},
		{"model: timeout", a.Model.TimeoutMS, longest},
	} {
		if f.n < 0 || f.n > f.most {
			return fmt.Errorf("the agent's %s is %d", f.name, f.n)
		}
	}
	if p := a.Model.Prices; p != nil {
		for _, price := range []int64{p.Input, p.Output, orInput(p.CacheRead, 0), orInput(p.CacheWrite, 0)} {
			if price < 0 {
				return fmt.Errorf("the agent's model has a price of %s", FormatAmount(price))
			}
		}
	}
	return nil
}
