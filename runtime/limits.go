package runtime

import (
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// defaultTimeout bounds a call when neither the run, the module nor the tool says anything.
const defaultTimeout = 60 * time.Second

// callLimits are the limits of one call: what the run, the module and the tool say, whichever is lowest.
type callLimits struct{ toolabi.Limits }

func (s *Spec) limits(module Module, tool toolabi.Tool) callLimits {
	return callLimits{s.Limits.Tighten(module.Manifest.Limits).Tighten(toolabi.Limits{TimeoutMS: tool.TimeoutMS})}
}

func (l callLimits) timeout() time.Duration {
	if l.TimeoutMS == 0 {
		return defaultTimeout
	}
	return time.Duration(l.TimeoutMS) * time.Millisecond
}

// outOfFuel is the outcome of a call that used up its fuel, with whose limit that was.
func (f *frame) outOfFuel(limit *toolabi.Error) *toolabi.Error {
	if f.limits.Fuel == 0 {
		return limit // the host's own
	}
	whose := "the run's (--fuel)"
	if f.run.spec.Limits.Fuel != f.limits.Fuel {
		whose = "that of the manifest of " + f.module.Name
	}
	e := *limit
	e.Message = fmt.Sprintf("the call used up its %d units of fuel; the limit is %s", f.limits.Fuel, whose)
	return &e
}
