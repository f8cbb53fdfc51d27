package sandbox_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// keeperLimits are those of the sandboxes here: guests that want all there is get less of it, and one whose memory is not what it
// takes it for ends.
var keeperLimits = toolabi.Limits{MemoryBytes: 64 << 20, Fuel: 2 << 30}

// orders are the calls that leave something, one for each way in which a call can end.
var orders = []order{
	{words: "leave"},
	{words: "leave look"},
	{words: "grow leave"},
	{words: "leave fail"},
	{words: "leave status"},
	{words: "leave trap"},
	{words: "grow leave trap"},
	{words: "leave nil"},
	{words: "leave exit"},
	{words: "leave quit"},
	{words: "leave recurse"},
	{words: "leave misuse"},
	{words: "leave flood", limits: toolabi.Limits{OutputBytes: 100_000}},
	{words: "leave hungry", limits: toolabi.Limits{MemoryBytes: 16 << 20}},
	{words: "grow leave", limits: toolabi.Limits{MemoryBytes: 7 << 20}},
	{words: "leave spin", spins: timeIsUp},
	{words: "leave spin", spins: cancelled},
	{words: "leave spin", spins: refused},
	{words: "leave spin", spins: panicked},
	{words: "leave spin", limits: toolabi.Limits{Fuel: 5_000_000}},
	{words: "look", limits: toolabi.Limits{Fuel: 100_000}},
	{words: "look", limits: toolabi.Limits{Fuel: 50}},
}

// looks are the calls that would see something of those before.
var looks = []order{
	{words: "look"},
	{words: "look trap"}, // what is said of it depends on what the host has kept
	{words: "exit"},      // hooks run
	{words: "widen"},
	{words: "look", limits: toolabi.Limits{MemoryBytes: 32 << 20, OutputBytes: 100_000, Fuel: 1 << 40}},
}

// of leaves out what a keeper has no word for.
func (k keeper) of(orders []order) []order {
	return slices.DeleteFunc(slices.Clone(orders), func(o order) bool {
		return slices.ContainsFunc(strings.Fields(o.words), func(w string) bool { return slices.Contains(k.lacks, w) })
	})
}

// cleanTraces are those of calls that were each made in a sandbox of its own, in which nothing was called before: what the same call
// has to come to everywhere.
var cleanTraces = struct {
	sync.Mutex
	known map[cleanCall]trace // guarded by Mutex
}{known: map[cleanCall]trace{}}

type cleanCall struct {
	module toolabi.Digest
	order  order
	moment moment
}

// clean returns what a call comes to in a sandbox of its own.
func (k keeper) clean(t testing.TB, o order, m moment) trace {
	t.Helper()
	cleanTraces.Lock()
	defer cleanTraces.Unlock()
	call := cleanCall{k.digest, o, m}
	want, ok := cleanTraces.known[call]
	if !ok {
		box := keeperBox(t, k)
		want = k.do(context.Background(), box, o, m)
		if err := box.Close(context.Background()); err != nil {
			t.Error(err)
		}
		cleanTraces.known[call] = want
	}
	return want
}

// same makes a call and holds that it comes to what it comes to in a sandbox of its own.
func (k keeper) same(t testing.TB, box *sandbox.Sandbox, o order, m moment) {
	t.Helper()
	want := k.clean(t, o, m)
	if d := k.do(context.Background(), box, o, m).difference(want); d != "" {
		t.Errorf("%s, %q: %s", k.name, o, d)
	}
}

var keeperCode = sync.OnceValue(func() func(testing.TB) string {
	var once sync.Once
	var dir string
	return func(t testing.TB) string { once.Do(func() { dir = wasmtest.CodeCache(t) }); return dir }
})()

// keeperBox opens a sandbox that its caller closes.
func keeperBox(t testing.TB, keepers ...keeper) *sandbox.Sandbox {
	t.Helper()
	s := shelf{}
	for _, k := range keepers {
		s.add(k.wasm)
	}
	box, err := sandbox.New(context.Background(), sandbox.Config{Source: s.source, CacheDir: keeperCode(t), Limits: keeperLimits})
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// TestNothingSurvivesACall has each keeper leave something in every place it has, end in every way there is, and look: it sees what
// it sees in a sandbox in which nothing was ever called.
func TestNothingSurvivesACall(t *testing.T) {
	for _, k := range slices.Concat(languages(t), handmade(t)) {
		t.Run(k.name, func(t *testing.T) {
			box := keeperBox(t, k)
			defer box.Close(context.Background())
			others := k.of(looks[1:])
			for i, o := range k.of(orders) {
				t.Run(o.String(), func(t *testing.T) {
					for _, look := range []order{looks[0], others[i%len(others)]} {
						k.same(t, box, o, moments[0])
						k.same(t, box, look, moments[1])
					}
				})
			}
		})
	}
}

// TestNothingSurvivesAmongManyCalls makes calls of all keepers from eight goroutines in one sandbox, in an order that chance gives, so
// that whatever instances there are go from one to the other.
func TestNothingSurvivesAmongManyCalls(t *testing.T) {
	keepers := slices.Concat(languages(t), handmade(t))
	box := keeperBox(t, keepers...)
	defer box.Close(context.Background())
	var wg sync.WaitGroup
	for g := range 8 {
		chance := rand.New(rand.NewPCG(uint64(g), 1))
		wg.Go(func() {
			for range 25 {
				k := keepers[chance.IntN(len(keepers))]
				if chance.IntN(2) == 0 {
					k = keepers[chance.IntN(3)] // in a language
				}
				leaves, sees := k.of(orders), k.of(looks)
				k.same(t, box, leaves[chance.IntN(len(leaves))], moments[0])
				for range 2 {
					k.same(t, box, sees[chance.IntN(len(sees))], moments[1])
				}
			}
		})
	}
	wg.Wait()
}

// TestACallInsideOfAnotherSeesNothingOfIt looks while a call that has left something waits for its host.
func TestACallInsideOfAnotherSeesNothingOfIt(t *testing.T) {
	for _, k := range slices.Concat(languages(t), handmade(t)) {
		t.Run(k.name, func(t *testing.T) {
			box := keeperBox(t, k)
			defer box.Close(context.Background())
			outer := order{words: "leave spin", spins: refused}
			inv := k.invocation(outer, moments[0])
			_, err := box.Invoke(t.Context(), inv, func(ctx context.Context, name string, _ []byte) (toolabi.Answer, error) {
				if name != toolabi.FuncClock {
					return toolabi.Answer{}, nil
				}
				for _, look := range k.of(looks) {
					k.same(t, box, look, moments[1])
				}
				return toolabi.Answer{}, errRefused
			})
			if err != errRefused {
				t.Errorf("the outer call came to %v, want %v", err, errRefused)
			}
			k.same(t, box, looks[0], moments[1])
		})
	}
}

// TestWhatKeepersLeaveCanBeSeen is the control of the others: in the same call, where everything survives, each place looks
// otherwise once something was left in it.
func TestWhatKeepersLeaveCanBeSeen(t *testing.T) {
	const m = 1
	for _, k := range languages(t) {
		before, after := k.clean(t, order{words: "look"}, moments[m]).fields(), k.clean(t, order{words: "leave look"}, moments[m]).fields()
		for name := range before {
			if (before[name] == after[name]) != slices.Contains(k.hidden, name) {
				t.Errorf("%s, %s: %.200s, and when something was left there %.200s", k.name, name, before[name], after[name])
			}
		}
		if len(before) < 16 {
			t.Errorf("%s sees %d places", k.name, len(before))
		}
	}
	for _, k := range handmade(t) {
		differ := slices.ContainsFunc([]string{"look", "look trap"}, func(words string) bool {
			before, after := k.clean(t, order{words: words}, moments[m]), k.clean(t, order{words: "leave " + words}, moments[m])
			before.out.Fuel, after.out.Fuel = 0, 0
			return before.difference(after) != ""
		})
		if !differ && !slices.Contains(k.hidden, k.name) {
			t.Errorf("%s: nothing is seen of what was left", k.name)
		}
	}
}

// TestOnlyTheInvocationIsSeen holds that what differs between two clean calls is what their invocations say: clock and randomness,
// and memory, where they are.
func TestOnlyTheInvocationIsSeen(t *testing.T) {
	for _, k := range languages(t) {
		one, two := k.clean(t, looks[0], moments[0]).fields(), k.clean(t, looks[0], moments[1]).fields()
		var differ []string
		for name := range one {
			if one[name] != two[name] {
				differ = append(differ, name)
			}
		}
		slices.Sort(differ)
		if !slices.Equal(differ, k.worldly) {
			t.Errorf("%s: %q differ, want %q", k.name, differ, k.worldly)
		}
	}
}
