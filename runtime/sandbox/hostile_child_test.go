package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/wasmtest/hostile"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// The environment of the process that runs a case: its name, and the file for the report.
const (
	childCase   = "WRUN_TEST_HOSTILE"
	childReport = "WRUN_TEST_HOSTILE_REPORT"
)

// hostileReport is what became of a case and of the process that ran it.
type hostileReport struct {
	Results    []hostileResult
	Kept       []hostileResult // from a cache that knows the modules; not where they are there for what compiling takes
	Memory     int64           // bytes over what there was before, at the peak
	Collection time.Duration   // how long half of the collections of memory took at most: one may have to wait for the machine
	Calm       time.Duration   // the same before there was anything hostile
	Honest     int             // calls of the honest module beside it
	HonestErr  string
	Goroutines int // that are left
	Files      int // that are left open
}

// hostileResult is what one module came to.
type hostileResult struct {
	Kind    sandbox.LoadKind
	Code    toolabi.Code
	Fault   bool // an error that is neither
	Message string
	Output  string
	Took    time.Duration
}

func (r hostileResult) String() string {
	switch {
	case r.Kind != 0:
		return fmt.Sprintf("LoadError %v: %s", r.Kind, r.Message)
	case r.Code != 0:
		return fmt.Sprintf("outcome %v: %s", r.Code, r.Message)
	case r.Fault:
		return "fault: " + r.Message
	}
	return "output " + r.Output
}

// TestHostileChild runs one case for TestHostileModules.
func TestHostileChild(t *testing.T) {
	name := os.Getenv(childCase)
	if name == "" {
		t.Skip("a part of TestHostileModules")
	}
	for _, c := range hostile.Cases() {
		if c.Name != name {
			continue
		}
		b, err := json.Marshal(runCase(t, c))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(os.Getenv(childReport), b, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no case %s", name)
}

// runCase runs the modules of a case one after the other beside honest calls.
func runCase(t *testing.T, c hostile.Case) (r hostileReport) {
	modules := c.Modules()
	quiet := honestSandbox(t, sandbox.Config{}) // once before, so that what is there for good is there
	quiet.close(t)
	resetPeak(t) // opens what Go needs for files of this kind
	goroutines, files := runtime.NumGoroutine(), openFiles()
	cfg := sandbox.Config{}
	if c.Compile {
		cfg.Compiler, cfg.CompileTimeout, cfg.CompileMemory = self(t, "compile-module"), compileTime, compileMemory
		if c.Want.Says != "" { // it has to come to that, on a slow machine too
			cfg.CompileTimeout *= times
		}
	}
	h := honestSandbox(t, cfg)
	r.Calm = h.calm(t)
	debug.FreeOSMemory()
	resetPeak(t)
	before := peak()
	stop := h.serve(&r)
	for _, wasm := range modules {
		r.Results = append(r.Results, h.hostile(c, wasm))
	}
	stop()
	r.Memory = peak() - before
	h.close(t)
	if !c.Compile {
		r.Kept = runKept(t, c, modules)
	}
	r.Goroutines, r.Files = goroutinesOver(goroutines), openFiles()-files
	return r
}

// runKept runs the modules of a case with code that was compiled before, in a sandbox that does not read theirs.
func runKept(t *testing.T, c hostile.Case, modules [][]byte) (results []hostileResult) {
	cfg := sandbox.Config{CacheDir: cacheFor(t)}
	first := honestSandbox(t, cfg)
	for _, wasm := range modules {
		_ = first.box.Prepare(context.Background(), first.add(wasm)) // what is refused is refused again
	}
	first.close(t)
	h := honestSandbox(t, cfg)
	defer h.close(t)
	for _, wasm := range modules {
		results = append(results, h.hostile(c, wasm))
	}
	return results
}

// goroutinesOver returns how many goroutines there are over n. One that has been told to end may not have ended yet; each
// turn lets others run.
func goroutinesOver(n int) int {
	for range 1_000_000 {
		if runtime.NumGoroutine() <= n {
			return 0
		}
		runtime.Gosched()
	}
	return runtime.NumGoroutine() - n
}

// honest is a sandbox with an honest module.
type honest struct {
	box   *sandbox.Sandbox
	shelf *sync.Map
	echo  toolabi.Digest
}

func honestSandbox(t *testing.T, cfg sandbox.Config) *honest {
	h := &honest{shelf: new(sync.Map)}
	cfg.Limits.MemoryBytes = hostile.Memory
	cfg.Source = func(_ context.Context, d toolabi.Digest) ([]byte, error) {
		wasm, _ := h.shelf.Load(d)
		return wasm.([]byte), nil
	}
	var err error
	h.box, err = sandbox.New(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	h.echo = h.add(echo(t))
	if err := h.call(); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *honest) add(wasm []byte) toolabi.Digest {
	d := toolabi.DigestOf(wasm)
	h.shelf.Store(d, wasm)
	return d
}

func (h *honest) close(t *testing.T) {
	if err := h.box.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func (h *honest) call() error {
	out, err := h.box.Invoke(context.Background(), toolabi.Invocation{Module: h.echo, Tool: "echo", Input: []byte(`{"n":1}`)}, nil)
	if err == nil && string(out.Output) != `{"n":1}` {
		err = fmt.Errorf("the honest module answered %s, %v", out.Output, out.Err)
	}
	return err
}

// serve calls the honest module and collects memory until stop is called, which waits for both and completes the report.
// Each is done at least once.
func (h *honest) serve(r *hostileReport) (stop func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	until := func(do func() bool) {
		wg.Go(func() {
			tick := time.NewTicker(2 * time.Millisecond)
			defer tick.Stop()
			for do() {
				select {
				case <-over:
					return
				case <-tick.C:
				}
			}
		})
	}
	until(func() bool {
		err := h.call()
		if err != nil {
			r.HonestErr = err.Error()
		}
		r.Honest++
		return err == nil
	})
	var collections []time.Duration
	until(func() bool {
		collections = append(collections, collect())
		return true
	})
	return func() {
		close(over)
		wg.Wait()
		r.Collection = median(collections)
	}
}

// calm is how long half of the collections of memory take at most where there is nothing but honest calls.
func (h *honest) calm(t *testing.T) time.Duration {
	var collections []time.Duration
	for range 20 {
		if err := h.call(); err != nil {
			t.Fatal(err)
		}
		collections = append(collections, collect())
	}
	return median(collections)
}

func collect() time.Duration {
	began := time.Now()
	runtime.GC()
	return time.Since(began)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// hostile runs one module.
func (h *honest) hostile(c hostile.Case, wasm []byte) (r hostileResult) {
	ctx := context.Background()
	if c.Timeout != 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Timeout, toolabi.NewError(toolabi.LimitTime, "its time is over"))
		defer cancel()
	}
	inv := toolabi.Invocation{Module: h.add(wasm), Tool: hostile.ToolName, Input: []byte("{}"), Limits: toolabi.Limits{Fuel: c.Fuel}}
	began := time.Now()
	out, err := h.box.Invoke(ctx, inv, hostFor(c.Host))
	r.Took = time.Since(began)
	var load *sandbox.LoadError
	switch {
	case errors.As(err, &load):
		r.Kind, r.Message = load.Kind, load.Error()
	case err != nil:
		r.Fault, r.Message = true, err.Error()
	case out.Err != nil:
		r.Code, r.Message = out.Err.Code, out.Err.Message
	}
	r.Output = string(out.Output)
	return r
}

// hostFor is a host's functions as a case wants them.
func hostFor(h hostile.Host) toolabi.HostFunc {
	flood := make([]byte, 0)
	if h == hostile.Floods {
		flood = make([]byte, toolabi.MaxOutput)
	}
	return func(ctx context.Context, _ string, _ []byte) (toolabi.Answer, error) {
		switch h {
		case hostile.Panics:
			panic("a host function went wrong")
		case hostile.Waits:
			<-ctx.Done()
			return toolabi.Answer{}, context.Cause(ctx)
		}
		return toolabi.Answer{Reply: flood}, nil
	}
}
