package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// guest is what a tool written as plain Go sees of the host. Its methods unwind the tool as a sandbox does.
type guest struct {
	ctx  context.Context
	host toolabi.HostFunc
	inv  toolabi.Invocation
}

type unwound struct{ err error }

func (g *guest) ask(name, request string) (string, *toolabi.Error) {
	a, err := g.host(g.ctx, name, []byte(request))
	if err != nil {
		panic(unwound{err})
	}
	return string(a.Reply), a.Err
}

// must asks, and fails the tool when the answer is an error.
func (g *guest) must(name, request string) string {
	reply, err := g.ask(name, request)
	if err != nil {
		panic(err)
	}
	return reply
}

type tool func(g *guest, input string) string

// goInvoker enters tools that are Go functions. entered counts the times.
type goInvoker struct {
	tools map[string]tool

	mu      sync.Mutex
	entered map[string]int
}

func (i *goInvoker) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (out toolabi.Outcome, err error) {
	i.mu.Lock()
	i.entered[inv.Tool]++
	i.mu.Unlock()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case unwound:
			out, err = toolabi.Outcome{}, p.err
		case *toolabi.Error:
			out = toolabi.Outcome{Err: toolabi.NewError(toolabi.Failed, p.Error())}
		default:
			panic(p)
		}
	}()
	return toolabi.Outcome{Output: []byte(i.tools[inv.Tool](&guest{ctx, host, inv}, string(inv.Input)))}, nil
}

// world is what the effects of a test happen to. It outlives every process.
type world struct {
	mu       sync.Mutex
	effects  map[string]int      // of each request: how often it took place
	keys     map[string][]string // of each request: the idempotency keys it came with
	drop     int                 // so many requests act, and their reply is lost
	dropOnly string              // when set, only of this request
	during   func(request string)
}

func newWorld() *world { return &world{effects: map[string]int{}, keys: map[string][]string{}} }

func (w *world) count(request string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.effects[request]
}

func (w *world) total() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.effects {
		n += c
	}
	return n
}

func (w *world) send(_ context.Context, c hostfuncs.Call, request []byte) ([]byte, error) {
	if err := c.BeforeSend(); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.effects[string(request)]++
	w.keys[string(request)] = append(w.keys[string(request)], c.Key)
	lost := w.drop > 0 && (w.dropOnly == "" || w.dropOnly == string(request))
	if lost {
		w.drop--
	}
	during := w.during
	w.mu.Unlock()
	if during != nil {
		during(string(request))
	}
	c.Sent(int64(len(request)))
	if lost {
		e := toolabi.NewError(toolabi.Unavailable, "the connection was closed before a reply came")
		e.Effect = toolabi.EffectUnknown
		return nil, e
	}
	return []byte("done " + string(request)), nil
}

// machine is a journal, a world and tools: what stays when a process dies.
type machine struct {
	t     *testing.T
	mem   *journaltest.Mem
	world *world
	tools map[string]tool
	// declare changes what the manifest says of a tool; nil leaves it.
	declare func(*toolabi.Tool)
	grants  hostfuncs.Grants
	reads   int
	mu      sync.Mutex
}

func newMachine(t *testing.T, tools map[string]tool) *machine {
	m := &machine{t: t, mem: journaltest.NewMem(), world: newWorld(), tools: tools}
	journaltest.CheckOnCleanup(t, m.mem)
	return m
}

// rideAlong is how long outcomes wait for the next append in tests: longer than a loaded machine may take between two of
// them, so that the appends of a run are always the same.
const rideAlong = 500 * time.Millisecond

// process is one life of a program.
type process struct {
	*runtime.Engine
	invoker *goInvoker
	store   journaltest.Store
}

// start begins a process whose journal is what wrap makes of a handle.
func (m *machine) start(wrap func(journaltest.Store) journaltest.Store) *process {
	m.t.Helper()
	var store journaltest.Store = m.mem.Handle()
	if wrap != nil {
		store = wrap(store)
	}
	inv := &goInvoker{tools: m.tools, entered: map[string]int{}}
	e, err := runtime.New(runtime.Config{Journal: store, Invoker: inv, Funcs: m.funcs(), RideAlong: rideAlong})
	if err != nil {
		m.t.Fatal(err)
	}
	return &process{Engine: e, invoker: inv, store: store}
}

// process begins a process on a handle, with what change makes of its configuration.
func (m *machine) process(store journaltest.Store, change func(*runtime.Config)) *process {
	m.t.Helper()
	inv := &goInvoker{tools: m.tools, entered: map[string]int{}}
	cfg := runtime.Config{Journal: store, Invoker: inv, Funcs: m.funcs(), RideAlong: rideAlong}
	if change != nil {
		change(&cfg)
	}
	e, err := runtime.New(cfg)
	if err != nil {
		m.t.Fatal(err)
	}
	return &process{Engine: e, invoker: inv, store: store}
}

// sending makes another function of http_send.
func sending(send func(context.Context, hostfuncs.Call, []byte) ([]byte, error)) func(*runtime.Config) {
	return func(c *runtime.Config) { c.Funcs[0].Call = send }
}

func (m *machine) funcs() []hostfuncs.Func {
	read := func(context.Context, hostfuncs.Call, []byte) ([]byte, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.reads++
		return fmt.Appendf(nil, "read %d", m.reads), nil
	}
	said := func(_ context.Context, c hostfuncs.Call, request []byte) ([]byte, error) {
		if c.Log != nil {
			c.Log(toolabi.LevelInfo, string(request))
		}
		return nil, nil
	}
	asText := func(b []byte) ([]byte, error) { return json.Marshal(string(b)) }
	ofText := func(b []byte) ([]byte, error) {
		var s string
		err := json.Unmarshal(b, &s)
		return []byte(s), err
	}
	funcs := []hostfuncs.Func{
		{Name: toolabi.FuncHTTPSend, Class: toolabi.Once, Call: m.world.send, ShowRequest: asText, ShowReply: asText, ParseReply: ofText},
		{Name: toolabi.FuncClock, Class: toolabi.Read, Call: read},
		{Name: toolabi.FuncLog, Class: toolabi.Free, Call: said},
	}
	for _, f := range hostfuncs.Standard(hostfuncs.Config{}) {
		if f.Class == toolabi.Wait || f.Class == toolabi.Call || keeps(f.Name) {
			funcs = append(funcs, f)
		}
	}
	return funcs
}

// keeps says whether a function is one of stores or artifacts.
func keeps(name string) bool {
	return strings.HasPrefix(name, "kv_") || strings.HasPrefix(name, "artifact_")
}

// spec names every tool of the machine in a module "m"; names that begin with "keyed" or "idem" or "read" declare so.
func (m *machine) spec(input string) (runtime.Spec, map[toolabi.Digest][]byte) {
	wasm := []byte("module m")
	manifest := toolabi.Manifest{Name: "m", Version: "1.0.0"}
	for _, name := range slices.Sorted(maps.Keys(m.tools)) {
		t := toolabi.Tool{Name: name}
		switch {
		case strings.HasPrefix(name, "keyed"):
			t.Idempotency, t.KeyTTLMS = toolabi.Keyed, 3_600_000
		case strings.HasPrefix(name, "idem"):
			t.Idempotency = toolabi.Idempotent
		case strings.HasPrefix(name, "read"):
			t.Idempotency = toolabi.ReadOnly
		case strings.HasPrefix(name, "pure"):
			t.Idempotency = toolabi.Pure
		}
		if m.declare != nil {
			m.declare(&t)
		}
		manifest.Tools = append(manifest.Tools, t)
	}
	d := toolabi.DigestOf(wasm)
	s := runtime.Spec{
		Driver: "test", Input: []byte(input), Grants: m.grants,
		Modules: []runtime.Module{{Name: "m", Digest: d, Manifest: manifest}},
	}
	return s, map[toolabi.Digest][]byte{d: wasm}
}

// drive starts run r if it does not exist, and drives it.
func (m *machine) drive(p *process, driver runtime.Driver) (runtime.Result, error) {
	spec, modules := m.spec(`{}`)
	if _, err := p.Start(m.t.Context(), "r", spec, modules, true); err != nil {
		return runtime.Result{}, err
	}
	return p.Drive(m.t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: driver}})
}

// finish drives the run in new processes, and settles what is uncertain from what the world knows, until it is closed.
// It returns the last result and how many steps were uncertain.
func (m *machine) finish(driver runtime.Driver) (res runtime.Result, uncertain int, err error) {
	m.t.Helper()
	for range 20 {
		p := m.start(nil)
		res, err = m.drive(p, driver)
		var u *runtime.UncertainError
		if !errors.As(err, &u) {
			p.store.Close()
			return res, uncertain, err
		}
		uncertain++
		n := m.world.count(string(u.Intent.Body))
		say := runtime.Resolution{Happened: n > 0, Reply: []byte("done " + string(u.Intent.Body)), Now: true, By: "test"}
		if err := p.Resolve(m.t.Context(), "r", u.Step, say); err != nil {
			m.t.Fatalf("resolve %s: %v", u.Step, err)
		}
		p.store.Close()
	}
	m.t.Fatal("the run does not end")
	return
}

// log returns the run's log as one word for each entry, with its step.
func (m *machine) log() []string {
	m.t.Helper()
	var words []string
	for e, err := range m.mem.Read(m.t.Context(), "r", 0) {
		if err != nil {
			m.t.Fatal(err)
		}
		w := e.Kind.String()
		if e.Step != "" {
			w += " " + string(e.Step)
		}
		words = append(words, w)
	}
	return words
}

func steps(calls ...string) runtime.Driver {
	return func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		var outs []string
		for i, c := range calls {
			out, err := r.Call(ctx, journal.Step(fmt.Sprintf("s%d", i+1)), "m."+c, []byte(`{}`))
			if err != nil {
				return nil, err
			}
			outs = append(outs, string(out))
		}
		return []byte(`[` + strings.Join(outs, ",") + `]`), nil
	}
}
