package wrun_test

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// kit is what all machines share: the tools, and one sandbox, so that nothing is compiled twice.
type kit struct {
	sandbox *sandbox.Sandbox
	wasm    map[toolabi.Digest][]byte
	byName  map[string]runtime.Module
}

// newKit makes a kit of tools/payments and tools/text, or of guests for tests and other tools by their directory.
func newKit(t *testing.T, guests ...string) *kit {
	t.Helper()
	k := &kit{wasm: map[toolabi.Digest][]byte{}, byName: map[string]runtime.Module{}}
	dirs := []string{"tools/payments", "tools/text"}
	if len(guests) > 0 {
		dirs = nil
	}
	for _, name := range guests {
		if !strings.Contains(name, "/") {
			name = "internal/wasmtest/guests/" + name
		}
		dirs = append(dirs, name)
	}
	for _, dir := range dirs {
		name, wasm := path.Base(dir), wasmtest.Tool(t, dir)
		m, err := sandbox.Inspect(wasm)
		if err != nil {
			t.Fatal(err)
		}
		k.wasm[m.Digest] = wasm
		k.byName[name] = runtime.Module{Name: name, Digest: m.Digest, Manifest: *m.Manifest}
	}
	var err error
	k.sandbox, err = sandbox.New(t.Context(), sandbox.Config{
		CacheDir: wasmtest.CodeCache(t),
		Source:   func(_ context.Context, d toolabi.Digest) ([]byte, error) { return k.wasm[d], nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.sandbox.Close(context.Background()); err != nil {
			t.Errorf("close sandbox: %v", err)
		}
	})
	return k
}

func (k *kit) modules(names ...string) []runtime.Module {
	var ms []runtime.Module
	for _, n := range names {
		ms = append(ms, k.byName[n])
	}
	return ms
}

// machine is a journal's file, a ledger and tools: what stays when a process dies.
type machine struct {
	*kit
	t      *testing.T
	path   string
	ledger *ledger.Server
	shape  shape
	ride   time.Duration
}

func newMachine(t *testing.T, k *kit, s shape, ride time.Duration) *machine {
	t.Helper()
	l, err := ledger.Start(ledger.Config{})
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{kit: k, t: t, path: filepath.Join(t.TempDir(), "journal.db"), ledger: l, shape: s, ride: ride}
	t.Cleanup(func() {
		p := m.start(nil)
		journaltest.Check(t, p.store)
		if err := errors.Join(p.store.Close(), l.Close()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// process is one life of a program.
type process struct {
	*runtime.Engine
	store journaltest.Store
}

// start begins a process whose journal is what wrap makes of a handle.
func (m *machine) start(wrap func(journaltest.Store) journaltest.Store) *process {
	m.t.Helper()
	j, err := boltdb.Create(context.Background(), m.path, boltdb.Options{BusyTimeout: time.Minute})
	if err != nil {
		m.t.Fatal(err)
	}
	var store journaltest.Store = j
	if wrap != nil {
		store = wrap(store)
	}
	e, err := runtime.New(runtime.Config{
		Journal: store, Invoker: m.sandbox, Funcs: hostfuncs.Standard(hostfuncs.Config{}), RideAlong: m.ride,
		Drivers: map[string]runtime.DriverInfo{
			agent.Name: agent.Driver(agent.Config{Connect: agent.Connect(nil)}), call.Name: call.Driver(), plan.Name: plan.Driver(),
		},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return &process{Engine: e, store: store}
}

// drive starts run r if it does not exist, and drives it.
func (m *machine) drive(p *process) (runtime.Result, error) {
	spec := m.shape.spec
	spec.Input = []byte(strings.ReplaceAll(string(spec.Input), "LEDGER", m.ledger.URL()))
	origin, err := hostfuncs.ParseOrigin(m.ledger.URL())
	if err != nil {
		m.t.Fatal(err)
	}
	spec.Grants.HTTP = append(spec.Grants.HTTP, origin)
	if _, err := p.Start(m.t.Context(), "r", spec, m.wasm, true); err != nil {
		return runtime.Result{}, err
	}
	return p.Drive(m.t.Context(), "r", runtime.DriveOptions{})
}

// inDoubt returns the steps of which nobody knows, read from the journal.
func (m *machine) inDoubt(p *process) []journal.Step {
	m.t.Helper()
	for s, err := range p.store.List(m.t.Context(), journal.Query{Run: "r"}) {
		if err != nil {
			m.t.Fatal(err)
		}
		return s.InDoubt()
	}
	return nil
}

// finish drives the run in new processes, and settles what is uncertain from what the ledger knows, until it is closed.
// It returns the last result and how many steps were uncertain.
func (m *machine) finish() (res runtime.Result, uncertain int, err error) {
	m.t.Helper()
	for range 20 {
		p := m.start(nil)
		doubts := m.inDoubt(p)
		res, err = m.drive(p)
		var u *runtime.UncertainError
		if !errors.As(err, &u) {
			if len(doubts) > 0 {
				m.t.Errorf("%v were in doubt, and the run ended with %v", doubts, err)
			}
			if err := p.store.Close(); err != nil {
				m.t.Fatal(err)
			}
			return res, uncertain, err
		}
		uncertain++
		if !slices.Equal(doubts, []journal.Step{u.Step}) {
			m.t.Errorf("%s is called uncertain, the journal has %v", u.Step, doubts)
		}
		if err := errors.Join(p.Resolve(m.t.Context(), "r", u.Step, m.verdict(u.Intent)), p.store.Close()); err != nil {
			m.t.Fatalf("resolve %s: %v", u.Step, err)
		}
	}
	m.t.Fatal("the run does not end")
	return
}

// verdict looks up in the ledger what came of a charge.
func (m *machine) verdict(intent journal.Entry) runtime.Resolution {
	m.t.Helper()
	var req toolabi.HTTPRequest
	var asked struct{ Reference string }
	if err := errors.Join(toolabi.Decode(intent.Body, &req), json.Unmarshal(req.Body, &asked)); err != nil {
		m.t.Fatalf("the request of %s: %v", intent.Step, err)
	}
	for _, c := range m.ledger.Charges() {
		if c.Reference != asked.Reference {
			continue
		}
		text, err := json.Marshal(map[string]any{"status": 201, "body": c})
		if err != nil {
			m.t.Fatal(err)
		}
		reply, err := hostfuncs.ParseSaidReply(text)
		if err != nil {
			m.t.Fatal(err)
		}
		return runtime.Resolution{Happened: true, Reply: reply, By: "test"}
	}
	return runtime.Resolution{Now: true, By: "test"}
}

// results returns the results that are recorded, by step.
func (m *machine) results() map[journal.Step]string {
	m.t.Helper()
	p := m.start(nil)
	defer p.store.Close()
	got := map[journal.Step]string{}
	for e, err := range p.store.Read(m.t.Context(), "r", 0) {
		if errors.Is(err, journal.ErrNotFound) {
			break // the run was never written
		}
		if err != nil {
			m.t.Fatal(err)
		}
		if e.Kind == journal.Result {
			got[e.Step] = string(e.Body)
		}
	}
	return got
}
