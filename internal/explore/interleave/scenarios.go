package interleave

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

const (
	runID      = "r"
	driverName = "explored"
)

// scenario is a driver and the tools that it calls. A new one is a line in the table below; a new tool, or a new kind of
// step, is a function that the driver or the tool calls.
type scenario struct {
	name  string
	drive func(d *drive) ([]byte, error)
	tools []tool
}

// tool is a tool as a Go function.
type tool struct {
	toolabi.Tool
	promise promise
	run     func(g *guest) (string, error)
}

var scenarios = []*scenario{
	{name: "read, then two effects", drive: inOrder("charge"), tools: []tool{charge}},
	{name: "keyed, then two effects", drive: inOrder("keyed", "charge"), tools: []tool{keyedTool, charge}},
	{name: "a tool that sees errors and tries again", drive: inOrder("stubborn", "charge"), tools: []tool{stubborn, charge}},
	{name: "a keyed tool that sees errors and tries again", drive: inOrder("stubborn_keyed", "keyed"), tools: []tool{stubbornKeyed, keyedTool}},
	{name: "two branches", drive: inParallel("charge", "keyed"), tools: []tool{charge, keyedTool}},
	{name: "two branches, then another", drive: inParallel("stubborn", "charge", "idem"), tools: []tool{stubborn, charge, idem}},
	{name: "a tool that is tried again", drive: inOrder("retried", "charge"), tools: []tool{retried, charge}},
	{name: "tools that are tried again in two branches", drive: inParallel("retried", "retried_keyed"), tools: []tool{retried, retriedKeyed}},
	{name: "a tool that is looked up", drive: inOrder("pay", "charge"), tools: []tool{pay, findPay, charge}},
	{name: "a tool that is looked up in two branches", drive: inParallel("pay", "keyed"), tools: []tool{pay, findPay, keyedTool}},
	{name: "a tool that sleeps", drive: inOrder("nap", "charge"), tools: []tool{nap, charge}},
	{name: "branches that sleep and ask", drive: waitBeside, tools: []tool{nap, ask, charge}},
	{name: "a call that somebody agrees to", drive: inOrder("agreed", "charge"), tools: []tool{agreed, charge}},
	{name: "two calls that somebody agrees to", drive: inParallel("agreed", "agreed_again"), tools: []tool{agreed, agreedAgain}},
	{name: "a tool that calls another twice", drive: inOrder("caller", "charge"), tools: []tool{caller, charge}},
	{name: "a tool that calls what somebody agrees to", drive: inParallel("asker", "pay"), tools: []tool{asker, agreed, pay, findPay}},
	{name: "the driver's own effects", drive: ownEffects, tools: []tool{charge}},
	{name: "a program, then two effects", drive: inOrder("program", "charge"), tools: []tool{program, charge}},
	{name: "programs in two branches", drive: inParallel("program_fail", "program_idem", "charge"), tools: []tool{programFail, programIdem, charge}},
	{name: "a tool that calls a program twice", drive: inOrder("hirer", "charge"), tools: []tool{hirer, program, charge}},
	{name: "the driver's own effects beside calls", drive: ownBeside, tools: []tool{charge, keyedTool}},
}

func (s *scenario) tool(name string) tool {
	return s.tools[slices.IndexFunc(s.tools, func(t tool) bool { return t.Name == name })]
}

func (s *scenario) promise(tool string) promise { return s.tool(tool).promise }

func (s *scenario) spec() (runtime.Spec, map[toolabi.Digest][]byte) {
	spec := runtime.Spec{
		Driver: driverName, Input: []byte(`{}`), Limits: toolabi.Limits{TimeoutMS: ms(24 * time.Hour)},
		Grants: hostfuncs.Grants{Dirs: []hostfuncs.DirGrant{{Name: "out", Path: filepath.Clean(os.TempDir()), Write: true}}},
	}
	bytes := map[toolabi.Digest][]byte{}
	add := func(m toolabi.Manifest) {
		wasm := []byte("module " + m.Name)
		d := toolabi.DigestOf(wasm)
		bytes[d] = wasm
		spec.Modules = append(spec.Modules, runtime.Module{Name: m.Name, Digest: d, Manifest: m})
	}
	m := toolabi.Manifest{Name: "m", Version: "1.0.0"}
	for _, t := range s.tools {
		if !t.isProgram() {
			m.Tools = append(m.Tools, t.Tool)
			continue
		}
		add(toolabi.Manifest{
			Name: t.Name, Version: "1.0.0", Tools: []toolabi.Tool{t.Tool},
			Command: &toolabi.Command{Dirs: []toolabi.Dir{{Name: "out", Path: "/out", Write: true, Reason: "to write"}}},
		})
	}
	add(m)
	return spec, bytes
}

// isProgram says whether the tool is a program, in a module of its own name.
func (t tool) isProgram() bool { return strings.HasPrefix(t.Name, "program") }

// full is the full name of a tool.
func (s *scenario) full(tool string) string {
	if s.tool(tool).isProgram() {
		return tool + "." + tool
	}
	return "m." + tool
}

// drive is a driver while it drives.
type drive struct {
	t   *trial
	p   *process
	ctx context.Context
	run *runtime.Run
}

// call calls a tool in a step that has its name. The error of a tool is an answer too.
func (d *drive) call(name string) (string, error) {
	if d.t.pause(d.p, waiter{at: atStep, step: name}) == dead {
		return "", errDead
	}
	out, err := d.run.Call(d.ctx, journal.Step(name), d.t.scenario.full(name), []byte(`"`+name+`"`))
	return said(out, err)
}

// do does an effect of the driver's own, which is tried again while it may be: what is repeatable also where nobody knows
// whether it took place.
func (d *drive) do(name string, class toolabi.Class) (string, error) {
	if d.t.pause(d.p, waiter{at: atStep, step: name}) == dead {
		return "", errDead
	}
	is := onlyOnce
	if class == toolabi.Effect {
		is = repeatable
	}
	out, err := d.run.Do(d.ctx, journal.Step(name), runtime.Act{
		Name: "own", Request: []byte(name), Class: class, Timeout: sendTimeout, Retry: patient,
		Do: func(ctx context.Context, a runtime.Attempt) ([]byte, error) {
			out, err := d.t.send(ctx, d.p, request{step: journal.Step(name), body: name, key: a.Key, promise: is, beforeSend: a.BeforeSend})
			var told *toolabi.Error
			if errors.As(err, &told) && told.Effect != toolabi.EffectApplied {
				told.Retry = toolabi.RetrySafe
			}
			return out, err
		},
	})
	return said(out, err)
}

func said(out []byte, err error) (string, error) {
	var told *toolabi.Error
	if errors.As(err, &told) {
		return "failed: " + told.Error(), nil
	}
	return string(out), err
}

func inOrder(names ...string) func(*drive) ([]byte, error) {
	return func(d *drive) ([]byte, error) {
		var outs []string
		for _, name := range names {
			out, err := d.call(name)
			if err != nil {
				return nil, err
			}
			outs = append(outs, out)
		}
		return fmt.Appendf(nil, "%q", outs), nil
	}
}

// inParallel calls two tools at once, and then the others.
func inParallel(one, two string, then ...string) func(*drive) ([]byte, error) {
	return func(d *drive) ([]byte, error) {
		outs, err := d.both(func() (string, error) { return d.call(one) }, func() (string, error) { return d.call(two) })
		if err != nil {
			return nil, err
		}
		rest, err := inOrder(then...)(d)
		return fmt.Appendf(nil, "%q%s", outs, rest), err
	}
}

func (d *drive) both(branches ...func() (string, error)) ([]string, error) {
	outs, errs := make([]string, len(branches)), make([]error, len(branches))
	var wg sync.WaitGroup
	for i, branch := range branches {
		wg.Go(func() { outs[i], errs[i] = branch() })
	}
	wg.Wait()
	return outs, errors.Join(errs...)
}

func ownEffects(d *drive) ([]byte, error) {
	model, err := d.do("model", toolabi.Effect)
	if err != nil {
		return nil, err
	}
	mail, err := d.do("mail", toolabi.Once)
	if err != nil {
		return nil, err
	}
	out, err := d.call("charge")
	return fmt.Appendf(nil, "%q", []string{model, mail, out}), err
}

func ownBeside(d *drive) ([]byte, error) {
	outs, err := d.both(
		func() (string, error) { return d.do("mail", toolabi.Once) },
		func() (string, error) { return d.do("model", toolabi.Effect) },
		func() (string, error) { return d.call("keyed") },
	)
	if err != nil {
		return nil, err
	}
	out, err := d.call("charge")
	return fmt.Appendf(nil, "%q%q", outs, out), err
}

// waitBeside sleeps and asks somebody in branches, beside tools that do the same.
func waitBeside(d *drive) ([]byte, error) {
	outs, err := d.both(
		func() (string, error) { return d.call("nap") },
		func() (string, error) { return d.call("ask") },
		func() (string, error) { return "", d.run.Sleep(d.ctx, "pause", napTime) },
		func() (string, error) {
			return said(d.run.Approve(d.ctx, "agree", runtime.Question{Text: "Go on?", Within: answerTime}))
		},
	)
	if err != nil {
		return nil, err
	}
	out, err := d.call("charge")
	return fmt.Appendf(nil, "%q%q", outs, out), err
}

// isAboutLease recognises that a claim ends too soon for a request: driving again claims anew.
func isAboutLease(err error) bool { return strings.Contains(err.Error(), "the claim ends before that") }
