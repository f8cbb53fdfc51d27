package main

import (
	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// replayLine is a call that was replayed, as --json shows it. docs/replay.md lists the fields.
func replayLine(h *wrun.Host, run string, res runtime.Replayed, trace bool) map[string]any {
	l := map[string]any{"run": run, "step": res.Step, "tool": res.Tool, "verdict": res.Verdict, "differs": res.Verdict.Differs()}
	set := func(name string, ok bool, value any) {
		if ok {
			l[name] = value
		}
	}
	none := toolabi.Digest{}
	set("recorded_module", res.Recorded != none, res.Recorded.String())
	set("module", res.Module != none, res.Module.String())
	set("host_call", res.At != 0, res.At)
	set("why", res.Why != "", res.Why)
	set("recorded_request", res.Was != nil, requestLine(h, res.Was))
	set("request", res.Now != nil, requestLine(h, res.Now))
	set("recorded_result", res.Result != nil, outcomeLine(res.Result))
	set("result", res.Came != nil, outcomeLine(res.Came))
	set("began", res.Began != 0, stamp(res.Began))
	set("ended", res.Ended != 0, stamp(res.Ended))
	if trace {
		calls := []map[string]any{}
		for _, c := range res.HostCalls {
			calls = append(calls, hostCallLine(c))
		}
		l["host_calls"] = calls
	}
	return l
}

func requestLine(h *wrun.Host, r *runtime.ReplayedRequest) map[string]any {
	if r == nil {
		return nil
	}
	l := map[string]any{"name": r.Name, "digest": r.Digest.String()}
	if r.Request != nil {
		l["request"] = shown(requestJSON(h, r))
	}
	return l
}

func outcomeLine(r *runtime.ReplayedResult) map[string]any {
	if r == nil {
		return nil
	}
	l := map[string]any{}
	if r.Err != nil {
		l["error"] = errorLine(r.Err)
	} else {
		l["output"] = shown(r.Output)
	}
	if r.Fuel != 0 {
		l["fuel"] = r.Fuel
	}
	return l
}

func hostCallLine(c runtime.ReplayedHostCall) map[string]any {
	l := map[string]any{"step": c.Step, "name": c.Name, "class": c.Class.String(), "served": c.Served}
	set := func(name string, ok bool, value any) {
		if ok {
			l[name] = value
		}
	}
	set("asked", c.Note != "", c.Note)
	set("began", c.Began != 0, stamp(c.Began))
	set("ended", c.Ended != 0, stamp(c.Ended))
	set("request_bytes", c.Request >= 0, c.Request)
	set("reply_bytes", c.Reply >= 0, c.Reply)
	set("outcome", c.Outcome != 0, c.Outcome.String())
	if c.Err != nil {
		l["error"] = errorLine(c.Err)
	}
	return l
}

// line is what came of a replay in all, as --json shows it.
func (r *replayed) line() map[string]any {
	differ, entered := r.differ()
	return map[string]any{
		"run": r.run, "summary": true, "steps": r.steps, "entered": entered, "differ": differ,
		"same": r.of[runtime.ReplaySame], "same_so_far": r.of[runtime.ReplayOpen],
		"not_replayed": r.of[runtime.ReplayNot], "cannot_be_replayed": r.of[runtime.ReplayCannot],
	}
}
