package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// stressCalls is the variable of the environment that says how many calls each goroutine of TestStress makes.
const stressCalls = "WRUN_STRESS_CALLS"

// stressor is one kind of call and what must come of it.
type stressor struct {
	name   string
	module toolabi.Digest
	tool   string
	input  string
	limits toolabi.Limits
	often  int            // among the others
	kill   bool           // its context is cancelled at some moment
	time   time.Duration  // its limit of time
	want   []toolabi.Code // one of which it comes to; 0 is an output
}

var errKilled = errors.New("killed")

// TestStress makes calls of every kind from sixteen goroutines, honest and hostile, ended from inside and from outside, and
// holds that nothing is left of them: no memory, no goroutine, no open file, no mapping, no process.
func TestStress(t *testing.T) {
	if !isolated(t) {
		return
	}
	calls := 200
	if s := os.Getenv(stressCalls); s != "" {
		var err error
		if calls, err = strconv.Atoi(s); err != nil {
			t.Fatalf("%s is %q", stressCalls, s)
		}
	}
	box, kinds := stressors(t)
	stress(t, box, kinds, 50) // what stays for good is there after this
	before := leftovers()
	began := time.Now()
	stress(t, box, kinds, calls)
	after := leftovers()
	t.Logf("16 times %d calls in %v\nbefore %v\nafter  %v", calls, time.Since(began).Round(time.Millisecond), before, after)
	after.hold(t, before)
	if err := box.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// stress makes calls of kinds drawn by chance.
func stress(t *testing.T, box *sandbox.Sandbox, kinds []stressor, calls int) {
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range calls {
				k := kinds[rand.IntN(len(kinds))]
				if err := k.call(box); err != nil {
					t.Errorf("%s: %v", k.name, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// call makes one call and holds what it came to.
func (k stressor) call(box *sandbox.Sandbox) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if k.kill {
		defer time.AfterFunc(time.Duration(rand.IntN(int(2*time.Millisecond))), func() { cancel(errKilled) }).Stop()
	}
	if k.time != 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, k.time, toolabi.NewError(toolabi.LimitTime, "its time is over"))
		defer stop()
	}
	out, err := box.Invoke(ctx, toolabi.Invocation{Module: k.module, Tool: k.tool, Input: []byte(k.input), Limits: k.limits}, hostThatAnswers)
	if k.kill && err == errKilled {
		return nil
	}
	if err != nil {
		return err
	}
	code := toolabi.Code(0)
	if out.Err != nil {
		code = out.Err.Code
	}
	for _, want := range k.want {
		if code == want {
			return nil
		}
	}
	return fmt.Errorf("came to %s, %v", out.Output, out.Err)
}

// stressors returns every kind as often as it is to be drawn.
func stressors(t *testing.T) (*sandbox.Sandbox, []stressor) {
	box, s := open(t, sandbox.Config{CacheDir: CodeCache(t)})
	small := func(change func(g *guest) *guest) toolabi.Digest { return s.add(change(newGuest()).build(t)) }
	loop := s.add(endless(t))
	good := s.add(echo(t))
	asks := s.add(errorOrNothing(t, toolabi.FuncClock, 0))
	exits := newGuest()
	exit := exits.Import(toolabi.WASIModule, "proc_exit", i32, nil)
	exits.invoke(0, I32Const(3), Call(exit))
	written := []toolabi.Code{0}
	var all []stressor
	for _, k := range []stressor{
		{name: "honest", module: good, often: 10, want: written},
		{name: "honest and killed", module: good, often: 5, kill: true, want: written},
		{name: "asks", module: asks, often: 5, want: written},
		{name: "asks and is killed", module: asks, often: 3, kill: true, want: written},
		{name: "endless and killed", module: loop, often: 2, kill: true},
		{name: "out of time", module: loop, often: 1, time: 2 * time.Millisecond, want: []toolabi.Code{toolabi.LimitTime}},
		{name: "out of fuel", module: loop, often: 5, limits: toolabi.Limits{Fuel: 100_000}, want: []toolabi.Code{toolabi.LimitFuel}},
		{name: "tree of calls, out of time", module: s.add(fanOut(t)), often: 1, time: 2 * time.Millisecond, want: []toolabi.Code{toolabi.LimitTime}},
		{name: "traps", module: small(func(g *guest) *guest { return g.invoke(0, Unreachable) }), often: 5, want: []toolabi.Code{toolabi.Trapped}},
		{name: "traps while it starts", often: 3, want: []toolabi.Code{toolabi.Trapped}, module: small(func(g *guest) *guest {
			g.Export(toolabi.ExportInitialize, g.Func(nil, nil, 0, Unreachable))
			return g.invoke(0)
		})},
		{name: "recurses", often: 1, want: []toolabi.Code{toolabi.Trapped}, module: small(func(g *guest) *guest {
			return g.invoke(0, Call(g.Func(nil, nil, 0, Call(g.result+1))))
		})},
		{name: "exits", module: s.add(exits.build(t)), often: 5, want: []toolabi.Code{toolabi.Exited}},
		{name: "out of output", often: 3, limits: toolabi.Limits{OutputBytes: 100}, want: []toolabi.Code{toolabi.LimitOutput}, module: small(func(g *guest) *guest {
			return g.invoke(0, Loop, I32Const(0), I32Const(65536), Call(g.output), I32Eqz, BrIf(0), End)
		})},
		{name: "out of memory", often: 3, limits: toolabi.Limits{MemoryBytes: 1 << 20}, want: []toolabi.Code{toolabi.LimitMemory}, module: small(func(g *guest) *guest {
			return g.invoke(0, Loop, I32Const(1), MemoryGrow, I32Const(-1), I32Eq, I32Eqz, BrIf(0), End, Unreachable)
		})},
		{name: "misuses", often: 3, want: []toolabi.Code{toolabi.Protocol}, module: small(func(g *guest) *guest {
			return g.invoke(0, I32Const(-1), I32Const(-1), Call(g.output), Drop)
		})},
		{name: "Go", module: s.add(everyday(t)), tool: "sum", input: `{"numbers":[1,2,39]}`, often: 1, want: written},
		{name: "Go and killed", module: s.add(everyday(t)), tool: "sum", input: `{"numbers":[1,2,39]}`, often: 1, kill: true, want: written},
	} {
		if k.tool == "" {
			k.tool, k.input = "echo", `{"n":1}`
		}
		if err := box.Prepare(t.Context(), k.module); err != nil {
			t.Fatal(err)
		}
		for range k.often {
			all = append(all, k)
		}
	}
	return box, all
}

// left is what a process has, as far as the system says.
type left struct {
	heap, resident                         int64 // bytes
	goroutines, files, mappings, processes int
}

func (l left) String() string {
	return fmt.Sprintf("heap %.1f MB, resident %.1f MB, %d goroutines, %d files, %d mappings, %d processes",
		float64(l.heap)/(1<<20), float64(l.resident)/(1<<20), l.goroutines, l.files, l.mappings, l.processes)
}

// leftovers collects all memory, gives it back, and returns what there is.
func leftovers() left {
	for range 3 {
		runtime.GC() // what has a cleanup or is in a pool goes in the next ones
	}
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return left{int64(m.HeapAlloc), resident(), runtime.NumGoroutine(), openFiles(), mappings(), processes()}
}

// hold allows for what the runtime of Go keeps for later, which does not grow with the calls.
func (l left) hold(t *testing.T, before left) {
	t.Helper()
	if over := goroutinesOver(before.goroutines); over > 0 {
		t.Errorf("%d goroutines are left", over)
	}
	if l.files > before.files || l.processes > before.processes {
		t.Errorf("%d files and %d processes, there were %d and %d", l.files, l.processes, before.files, before.processes)
	}
	if l.heap > before.heap+2<<20 {
		t.Errorf("the heap has %d bytes, there were %d", l.heap, before.heap)
	}
	if l.mappings > before.mappings+40 {
		t.Errorf("%d mappings, there were %d", l.mappings, before.mappings)
	}
	if !raced && l.resident > before.resident+32<<20 {
		t.Errorf("%d bytes are resident, there were %d", l.resident, before.resident)
	}
}
