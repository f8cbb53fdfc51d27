package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// detail writes a line that only -v shows.
func (a *app) detail(format string, args ...any) {
	if a.verbose {
		a.say(format, args...)
	}
}

// observe writes a line for each moment of a step under -v. Tools' warnings and errors are always shown.
func (a *app) observe(ev runtime.Event) {
	what := toolabi.CleanLine(strings.TrimSpace(ev.Name+" "+ev.Text), 300)
	switch ev.Phase {
	case runtime.Begun:
		a.detail("  %-12s %-9s %s", ev.Step, "begun", what)
	case runtime.Served:
		a.detail("  %-12s %-9s %s%s", ev.Step, "served", what, failure(ev.Err))
	case runtime.Ended:
		line := fmt.Sprintf("  %-12s %-9s %s%s", ev.Step, "done", what, failure(ev.Err))
		if ev.Err != nil && ev.Name == agent.StepName { // it is tried again, which can take long
			a.say("%s", line)
		} else {
			a.detail("%s", line)
		}
	case runtime.Said:
		if ev.Level >= toolabi.LevelWarn {
			a.say("  %-12s %s", ev.Step, what)
		} else {
			a.detail("  %-12s %-9s %s", ev.Step, "says", what)
		}
	case runtime.Progressed:
		a.detail("  %-12s %-9s %s", ev.Step, "progress", what)
	}
}

func failure(err *toolabi.Error) string {
	if err == nil {
		return ""
	}
	return ": " + toolabi.CleanLine(err.Error(), 300)
}

// compiling writes a line when a module is compiled for the first time, which takes seconds.
func (a *app) compiling(ev sandbox.CompileEvent) {
	switch {
	case !ev.Done:
		a.say("compiling %s (%.1f MB), once for this version of it", ev.Name, float64(ev.Size)/1e6)
	case ev.Err == nil:
		a.detail("compiled %s in %s", ev.Name, ev.Took.Round(time.Millisecond))
	}
}
