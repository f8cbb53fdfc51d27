package interleave

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

const runID = "r"

func sendsFor([]byte) time.Duration { return sendTimeout }

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
	{name: "the driver's own effects", drive: ownEffects, tools: []tool{charge}},
	{name: "the driver's own effects beside calls", drive: ownBeside, tools: []tool{charge, keyedTool}},
}

var (
	charge = tool{toolabi.Tool{Name: "charge", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime)}, onlyOnce, func(g *guest) (string, error) {
		read, err := g.read()
		if err != nil {
			return "", err
		}
		return g.sendAll(read, "a", "b")
	}}
	keyedTool = tool{toolabi.Tool{Name: "keyed", Idempotency: toolabi.Keyed, KeyTTLMS: ms(keyTTL)}, keyed, func(g *guest) (string, error) {
		read, err := g.read()
		if err != nil {
			return "", err
		}
		return g.sendAll(read, "k")
	}}
	idem = tool{toolabi.Tool{Name: "idem", Idempotency: toolabi.Idempotent}, repeatable, func(g *guest) (string, error) {
		return g.sendAll("", "i", "j")
	}}
	stubborn      = tool{toolabi.Tool{Name: "stubborn", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime)}, onlyOnce, tryAgain}
	stubbornKeyed = tool{toolabi.Tool{Name: "stubborn_keyed", Idempotency: toolabi.Keyed, KeyTTLMS: ms(keyTTL)}, keyed, tryAgain}
)

// patient is the policy of tools that are tried again: the second pause can be one for which the run is suspended.
var patient = toolabi.RetryPolicy{Attempts: 3, BackoffMS: ms(8 * time.Second)}

var (
	retried      = tool{toolabi.Tool{Name: "retried", Idempotency: toolabi.NonIdempotent, SettleMS: ms(settleTime), Retry: patient}, onlyOnce, unsteady}
	retriedKeyed = tool{toolabi.Tool{Name: "retried_keyed", Idempotency: toolabi.Keyed, KeyTTLMS: ms(keyTTL), Retry: patient}, keyed, unsteady}
)

// unsteady fails at times before its effect, between two and after both, and always says that it may be tried again.
func unsteady(g *guest) (string, error) {
	for _, op := range []string{"r", "t"} {
		read, err := g.read()
		if err != nil {
			return "", err
		}
		if strings.HasSuffix(read, "3") || strings.HasSuffix(read, "7") {
			return "", &toolabi.Error{Code: toolabi.Unavailable, Message: "not at " + read, Retry: toolabi.RetrySafe}
		}
		if _, err := g.send(op, ""); err != nil {
			return "", again(err)
		}
	}
	return "sent", nil
}

// again says of whatever a tool failed with that it may be tried again.
func again(err error) error {
	var told *toolabi.Error
	if errors.As(err, &told) {
		c := *told
		c.Retry = toolabi.RetrySafe
		return &c
	}
	return err
}

func ms(d time.Duration) uint64 { return uint64(d.Milliseconds()) }

// sendAll sends one operation after the other, and fails with the first that fails.
func (g *guest) sendAll(read string, ops ...string) (string, error) {
	var replies []string
	for _, op := range ops {
		reply, err := g.send(op, read)
		if err != nil {
			return "", err
		}
		replies = append(replies, reply)
	}
	return strings.Join(replies, ", "), nil
}

// tryAgain sends again what it is told has failed, unless it is told that it took place.
func tryAgain(g *guest) (reply string, err error) {
	for range 3 {
		reply, err = g.send("s", "")
		var told *toolabi.Error
		if err == nil || !errors.As(err, &told) || told.Effect == toolabi.EffectApplied {
			break
		}
	}
	return reply, err
}

func (s *scenario) tool(name string) tool {
	return s.tools[slices.IndexFunc(s.tools, func(t tool) bool { return t.Name == name })]
}

func (s *scenario) promise(tool string) promise { return s.tool(tool).promise }

func (s *scenario) spec() (runtime.Spec, map[toolabi.Digest][]byte) {
	wasm := []byte("module m")
	m := toolabi.Manifest{Name: "m", Version: "1.0.0"}
	for _, t := range s.tools {
		m.Tools = append(m.Tools, t.Tool)
	}
	d := toolabi.DigestOf(wasm)
	spec := runtime.Spec{
		Driver: "explored", Input: []byte(`{}`), Modules: []runtime.Module{{Name: "m", Digest: d, Manifest: m}},
		Limits: toolabi.Limits{TimeoutMS: ms(24 * time.Hour)},
	}
	return spec, map[toolabi.Digest][]byte{d: wasm}
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
	out, err := d.run.Call(d.ctx, journal.Step(name), "m."+name, []byte(`"`+name+`"`))
	return said(out, err)
}

// do does an effect of the driver's own.
func (d *drive) do(name string, class toolabi.Class) (string, error) {
	if d.t.pause(d.p, waiter{at: atStep, step: name}) == dead {
		return "", errDead
	}
	is := onlyOnce
	if class == toolabi.Effect {
		is = repeatable
	}
	out, err := d.run.Do(d.ctx, journal.Step(name), runtime.Act{
		Name: "own", Request: []byte(name), Class: class, Timeout: sendTimeout,
		Do: func(ctx context.Context, a runtime.Attempt) ([]byte, error) {
			return d.t.send(ctx, d.p, request{step: journal.Step(name), body: name, key: a.Key, promise: is, beforeSend: a.BeforeSend})
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

// isAboutLease recognises that a claim ends too soon for a request: driving again claims anew.
func isAboutLease(err error) bool { return strings.Contains(err.Error(), "the claim ends before that") }
