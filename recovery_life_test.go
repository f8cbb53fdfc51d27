package wrun_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// scene is what stays of a cell when its process dies: a journal, a world and the time.
type scene struct {
	cell
	t      *testing.T
	kit    *kit
	open   func() journaltest.Store // another handle on the journal
	world  *world
	offset atomic.Int64 // how far the clock was set forward, in nanoseconds
	base   journal.Step // the attempt of the step that is cut off
}

func (s *scene) now() time.Time          { return time.Now().Add(time.Duration(s.offset.Load())) }
func (s *scene) advance(d time.Duration) { s.offset.Add(int64(d)) }

// life is one life of a program, with the moment at which it ends.
type life struct {
	*runtime.Engine
	*mortal
	scene   *scene
	entered map[string]int // times that each tool was entered
	run     *runtime.Run

	at       func(use string, after bool) // called before and after each use of log, fetch and send
	returned func()                       // called when the driver has its answer
	driver   runtime.Driver               // another driver; nil for one call
}

// mortal is a handle on a journal that can die, at once or instead of an append.
type mortal struct {
	journaltest.Store
	instead func(journal.Entry) bool // an entry instead of whose append it dies

	dead atomic.Bool
	busy atomic.Bool // somebody else holds the journal whenever it is read
}

// kill lets go of what the kernel would, and answers nothing any more.
func (m *mortal) kill() {
	m.dead.Store(true)
	if k, ok := m.Store.(interface{ Kill() }); ok {
		k.Kill()
		return
	}
	_ = m.Store.Close() // it is closed again at the end
}

func (m *mortal) alive() error {
	switch {
	case m.dead.Load():
		return fmt.Errorf("%w: it was killed", journal.ErrUnusable)
	case m.busy.Load():
		return journal.ErrBusy
	}
	return nil
}

func (m *mortal) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) error {
	for _, e := range entries {
		if m.instead != nil && m.instead(e) {
			m.kill()
		}
	}
	if m.dead.Load() {
		return m.alive()
	}
	return m.Store.Append(ctx, run, at, entries...)
}

func (m *mortal) List(ctx context.Context, q journal.Query) iter.Seq2[journal.State, error] {
	if err := m.alive(); err != nil {
		return func(yield func(journal.State, error) bool) { yield(journal.State{}, err) }
	}
	return m.Store.List(ctx, q)
}

// counting counts the times that each tool was entered.
type counting struct {
	*sandbox.Sandbox
	mu      sync.Mutex
	entered map[string]int // guarded by mu
}

func (c *counting) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	c.mu.Lock()
	c.entered[inv.Tool]++
	c.mu.Unlock()
	return c.Sandbox.Invoke(ctx, inv, host)
}

// start begins a life. What is in the log at its end, and nothing else, is left of it.
func (s *scene) start() *life {
	s.t.Helper()
	l := &life{scene: s, entered: map[string]int{}, mortal: &mortal{Store: s.open()}}
	funcs := hostfuncs.Standard(hostfuncs.Config{Dial: s.world.dial})
	for i, f := range funcs {
		if f.Call != nil {
			funcs[i].Call = func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
				use := used(f.Name, c, req)
				l.reach(use, false)
				if l.dead.Load() {
					return nil, l.alive() // a process that was killed does nothing more
				}
				reply, err := f.Call(ctx, c, req)
				l.reach(use, true)
				return reply, err
			}
		}
	}
	var err error
	l.Engine, err = runtime.New(runtime.Config{
		Journal: l.mortal, Invoker: &counting{Sandbox: s.kit.sandbox, entered: l.entered}, Funcs: funcs,
		Now: s.now, RideAlong: time.Hour, Patience: -1,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return l
}

// used names a use of a function that a life can end at.
func used(name string, c hostfuncs.Call, req []byte) string {
	var said toolabi.LogRequest
	switch {
	case name == toolabi.FuncLog && toolabi.Decode(req, &said) == nil:
		return said.Message
	case name == toolabi.FuncHTTPFetch && bytes.Contains(req, []byte("/read")):
		return "fetch"
	case name == toolabi.FuncHTTPSend:
		return c.Step
	}
	return ""
}

func (l *life) reach(use string, after bool) {
	if l.at != nil {
		l.at(use, after)
	}
}

// tool is the tool that a cell calls.
func (c cell) tool() string {
	name := strings.ReplaceAll(c.promise, " ", "_")
	if strings.HasPrefix(name, "keyed") {
		return "keyed"
	}
	return name
}

// doing is what a tool is told: to be ready in the second attempt only, where that is the one that counts, to say
// something, to use the function, and to say something more.
func (c cell) doing(url string) map[string]any {
	act := map[string]any{"must": c.moment == "failed"}
	switch c.function {
	case "log":
		act["do"], act["what"] = "log", "it"
	case "fetch":
		act["do"], act["what"] = "fetch", url+"/read"
	case "send":
		act["do"], act["what"], act["again"] = "send", url+"/act", true
	case "sleep":
		act["do"] = "sleep"
	case "approve":
		act["do"], act["what"] = "approve", "May it?"
	case "call of its like", "call of once":
		inner := cell{promise: c.sender(), function: "send", moment: c.moment}
		script := inner.doing(url)["script"].([]map[string]any)
		act["do"], act["what"], act["with"] = "call", "recovery."+inner.tool()+"_inner", map[string]any{"script": script[1:2]}
	default:
		act["do"], act["what"] = "log", "itself"
		if c.moment == "failed" {
			act["do"] = "fail"
		}
	}
	script := []map[string]any{{"do": "log", "what": "before"}, act, {"do": "log", "what": "after"}}
	if c.attempt == "after a retry" {
		script = append([]map[string]any{{"do": "fetch", "what": url + "/gate", "must": true}}, script...)
	}
	return map[string]any{"script": script}
}

// step is the attempt of the step that is cut off.
func (c cell) step() journal.Step {
	call := journal.Step("call")
	n := 1
	if c.attempt == "after a retry" {
		call, n = call.At(2), 2
	}
	if c.function == "nothing but itself" {
		return call
	}
	step := call.Child(n)
	// A call that is denied is never inside.
	if c.sender() != "" && c.function != "send" && c.promise != "pure" && (c.promise != "read" || c.function == "call of its like") {
		step = step.Child(1)
	}
	if c.attempt == "after a void" {
		step = step.At(2)
	}
	return step
}

// drive starts the run if it does not exist, drives it in this life, and says how that ended.
func (l *life) drive() (string, error) {
	s := l.scene
	s.t.Helper()
	input, err := json.Marshal(s.doing(s.world.URL))
	if err != nil {
		s.t.Fatal(err)
	}
	origin, err := hostfuncs.ParseOrigin(s.world.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	spec := runtime.Spec{
		Driver: "one call", Input: input, Modules: s.kit.modules("recovery"), Grants: hostfuncs.Grants{HTTP: []string{origin}},
	}
	if _, err := l.Start(s.t.Context(), "r", spec, s.kit.wasm, true); err != nil {
		return "", err
	}
	driver := l.driver
	if driver == nil {
		driver = l.oneCall
	}
	_, err = l.Drive(s.t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}})
	return ending(err), err
}

func (l *life) oneCall(ctx context.Context, r *runtime.Run) ([]byte, error) {
	l.run = r
	out, err := r.Call(ctx, "call", "recovery."+l.scene.tool(), r.Input())
	if l.returned != nil {
		l.returned()
	}
	return out, err
}

// ending is a word for how a drive ended.
func ending(err error) string {
	var uncertain *runtime.UncertainError
	var waits *runtime.WaitingError
	var failed *runtime.FailedError
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, journal.ErrUnusable):
		return "killed"
	case errors.Is(err, journal.ErrBusy):
		return "stopped"
	case errors.As(err, &uncertain):
		return "uncertain"
	case errors.As(err, &waits):
		return "waiting"
	case errors.As(err, &failed):
		return "failed"
	}
	return err.Error()
}

// flushed ends a life when all that it has done is on the disk.
func (l *life) flushed() {
	if err := l.run.Flush(); err != nil {
		l.scene.t.Errorf("flush: %v", err)
	}
	l.kill()
}

// entries returns the log from a position on.
func (s *scene) entries(from uint64) (all []journal.Entry) {
	s.t.Helper()
	store := s.open()
	defer store.Close()
	for e, err := range store.Read(s.t.Context(), "r", from) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// about returns the words for what the log holds of the step that is cut off, from a position on.
func (s *scene) about(from uint64) string {
	var words []string
	for _, e := range s.entries(from) {
		if e.Step.WithoutAttempts() != s.base.WithoutAttempts() || e.Kind == journal.Created {
			continue
		}
		word := e.Kind.String()
		switch {
		case e.Kind == journal.Record:
			word = e.Name
		case e.Kind == journal.Result && e.Outcome == journal.Denied:
			word = "denied"
		case e.Kind == journal.Result && e.Outcome != journal.OK:
			word = "failed"
		}
		if e.Step != s.base {
			word = ">" + word
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// keys counts the different keys under which something was announced.
func (s *scene) keys() int {
	keys := map[string]bool{}
	for _, e := range s.entries(0) {
		if e.Kind == journal.Intent && e.Name == toolabi.FuncHTTPSend {
			keys[e.Key] = true
		}
	}
	if keys[""] {
		s.t.Error("an effect was announced without a key")
	}
	return len(keys)
}
