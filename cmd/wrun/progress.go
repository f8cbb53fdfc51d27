package main

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// observe writes a line for each moment of a step under -v, and keeps the lines of a terminal. Tools' warnings and errors are always shown.
func (a *app) observe(ev runtime.Event) {
	a.live().observe(ev)
	if a.telemetry != nil {
		a.telemetry.Observe(ev)
	}
	if level := levelOf(ev); a.saysAt(level) {
		if a.logJSON.Load() {
			a.log(level, phaseWords[ev.Phase], eventAttrs(ev)...)
		} else if line := eventLine(ev); line != "" {
			a.log(level, line)
		}
	}
}

// levelOf says how much a moment of a step matters to people.
func levelOf(ev runtime.Event) slog.Level {
	switch {
	case ev.Phase == runtime.Said && ev.Level >= toolabi.LevelWarn:
		return slog.LevelWarn
	case ev.Phase == runtime.Ended && ev.Err != nil && ev.Name == agent.StepName: // it is tried again, which can take long
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// phaseWords are the words for moments.
var phaseWords = map[runtime.Phase]string{
	runtime.Begun: "begun", runtime.Ended: "done", runtime.Served: "served", runtime.Said: "says", runtime.Progressed: "progress",
	runtime.Driven: "driven", runtime.LetGo: "let go",
}

// eventLine is a moment of a step as a line, "" of a run.
func eventLine(ev runtime.Event) string {
	what := toolabi.CleanLine(strings.TrimSpace(ev.Name+" "+ev.Text), 300)
	switch {
	case ev.Phase == runtime.Driven, ev.Phase == runtime.LetGo:
		return ""
	case ev.Phase == runtime.Said && ev.Level >= toolabi.LevelWarn:
		return fmt.Sprintf("  %-12s %s", ev.Step, what)
	}
	return fmt.Sprintf("  %-12s %-9s %s%s", ev.Step, phaseWords[ev.Phase], what, failure(ev.Err))
}

func failure(err *toolabi.Error) string {
	if err == nil {
		return ""
	}
	return ": " + toolabi.CleanLine(err.Error(), 300)
}

// compiling says that a module is compiled for the first time, which takes seconds: how far that is nobody knows.
func (a *app) compiling(ev sandbox.CompileEvent) {
	name := toolabi.CleanLine(ev.Name, 100)
	l, key := a.live(), "compile "+ev.Module.String()
	switch {
	case !ev.Done && l != nil:
		l.begin(key, func(elapsed string) string {
			return fmt.Sprintf("compiling %s (%s), once for this version of it  %s", name, bytesText(int64(ev.Size)), elapsed)
		})
		return
	case !ev.Done:
		a.say("compiling %s (%.1f MB), once for this version of it", ev.Name, float64(ev.Size)/1e6)
		return
	}
	l.end(key)
	switch {
	case ev.Err != nil:
	case l != nil && ev.Took > time.Second:
		a.say("compiled %s (%s) in %s", name, bytesText(int64(ev.Size)), tookText(int64(ev.Took)))
	default:
		a.detail("compiled %s in %s", ev.Name, ev.Took.Round(time.Millisecond))
	}
}
