package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// orders are the calls that leave something, one for each way in which a call can end.
var orders = []order{
	{words: "leave"},
	{words: "leave look"},
	{words: "leave ask"},
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
	{words: "leave ask spin", answer: timeIsUp},
	{words: "leave ask spin", answer: cancelled},
	{words: "leave ask spin", answer: refused},
	{words: "leave ask spin", answer: panicked},
	{words: "leave ask spin", limits: toolabi.Limits{Fuel: 5_000_000}},
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

// TestNothingSurvivesACall has each keeper leave something in every place it has, end in every way there is, and look: it sees what
// it sees in a sandbox in which nothing was ever called.
func TestNothingSurvivesACall(t *testing.T) {
	oneByOne(t)
	for _, k := range slices.Concat(languages(t), handmade(t)) {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			box := keeperBox(t, k)
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
// that whatever instances there are go from one to the other. Some of them are cut off at whatever moment they are in.
func TestNothingSurvivesAmongManyCalls(t *testing.T) {
	inLanguages := languages(t)
	keepers := slices.Concat(inLanguages, handmade(t))
	box := keeperBox(t, keepers...)
	calls := 25
	if raced {
		calls = 5
	}
	var wg sync.WaitGroup
	for g := range 8 {
		chance := rand.New(rand.NewPCG(uint64(g), 1))
		wg.Go(func() {
			for range calls {
				k := keepers[chance.IntN(len(keepers))]
				if chance.IntN(2) == 0 {
					k = inLanguages[chance.IntN(len(inLanguages))]
				}
				leaves, sees := k.of(orders), k.of(looks)
				leave := leaves[chance.IntN(len(leaves))]
				if chance.IntN(4) > 0 {
					k.same(t, box, leave, moments[0])
				} else {
					k.cut(box, leave, time.Duration(chance.IntN(int(2*time.Millisecond))))
				}
				for range 2 {
					k.same(t, box, sees[chance.IntN(len(sees))], moments[1])
				}
			}
		})
	}
	wg.Wait()
}

// cut makes a call whose context ends after a time, if the call has not.
func (k keeper) cut(box *sandbox.Sandbox, o order, after time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	k.do(ctx, box, o, moments[0])
}

// TestNothingSurvivesACallThatIsBegunAnew makes calls that grow and have not the room together, so that some are left in the middle and
// begun again, which nobody can see.
func TestNothingSurvivesACallThatIsBegunAnew(t *testing.T) {
	k := languages(t)[2] // which asks its host for nothing: only such calls are
	box, s := open(t, sandbox.Config{Limits: keeperLimits, MemoryBudget: 12 << 20})
	s.add(k.wasm)
	var wg sync.WaitGroup
	var waits atomic.Int32
	for range 8 {
		wg.Go(func() {
			for range 10 {
				for _, o := range []order{{words: "leave grow"}, {words: "look"}} {
					inv := k.invocation(o, moments[0])
					inv.Pause = func() func() { waits.Add(1); return func() {} }
					out, err := box.Invoke(t.Context(), inv, nil)
					if d := (trace{out: out}).difference(k.clean(t, o, moments[0])); d != "" || err != nil {
						t.Errorf("%q: %v %s", o, err, d)
					}
				}
			}
		})
	}
	wg.Wait()
	if waits.Load() == 0 {
		t.Error("there was room for all of them")
	}
}

// TestWhatACallGaveStaysAsItIs holds what calls returned, and what they asked their host, against copies after many other calls.
func TestWhatACallGaveStaysAsItIs(t *testing.T) {
	oneByOne(t)
	k := languages(t)[1]
	box := keeperBox(t, k)
	var given, copies [][]byte
	keep := func(b []byte) { given, copies = append(given, b), append(copies, slices.Clone(b)) }
	for i := range 40 {
		o := []order{{words: "leave look"}, {words: "look"}, {words: "leave trap"}}[i%3]
		out, err := box.Invoke(t.Context(), k.invocation(o, moments[i%2]), func(_ context.Context, _ string, request []byte) (toolabi.Answer, error) {
			keep(request)
			reply := []byte(fmt.Sprint("answer ", i))
			keep(reply)
			return toolabi.Answer{Reply: reply}, nil
		})
		must(t, err)
		keep(out.Output)
		keep(out.Stderr)
	}
	for i := range given {
		if !bytes.Equal(given[i], copies[i]) {
			t.Fatalf("%d of %d: %q has become %q", i, len(given), copies[i], given[i])
		}
	}
}

// TestNothingSurvivesAFirstCallThatFails begins a sandbox with calls that may not get through the start of their module, under limits
// that the next ones do not have.
func TestNothingSurvivesAFirstCallThatFails(t *testing.T) {
	oneByOne(t)
	for _, k := range languages(t) {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			m, err := sandbox.Inspect(k.wasm)
			must(t, err)
			box := keeperBox(t, k)
			k.same(t, box, order{words: "look", limits: toolabi.Limits{Fuel: 50}}, moments[0])
			k.cut(box, looks[0], time.Millisecond)
			k.same(t, box, order{words: "look", limits: toolabi.Limits{MemoryBytes: m.MemoryMin, OutputBytes: 1000}}, moments[0])
			for _, look := range k.of(looks) {
				k.same(t, box, look, moments[1])
			}
		})
	}
}

// TestACallInsideOfAnotherSeesNothingOfIt looks while a call that has left something waits for its host.
func TestACallInsideOfAnotherSeesNothingOfIt(t *testing.T) {
	oneByOne(t)
	for _, k := range slices.Concat(languages(t), handmade(t)) {
		t.Run(k.name, func(t *testing.T) {
			box := keeperBox(t, k)
			looked := 0
			k.same(t, box, order{words: "leave ask"}, moments[0], func() {
				for _, look := range k.of(looks) {
					k.same(t, box, look, moments[1])
					looked++
				}
			})
			if looked == 0 {
				t.Error("the call did not ask its host")
			}
			k.same(t, box, looks[0], moments[1])
		})
	}
}

// TestWhatKeepersLeaveCanBeSeen is the control of the others: in the same call, where everything survives, each place looks
// otherwise once something was left in it.
func TestWhatKeepersLeaveCanBeSeen(t *testing.T) {
	oneByOne(t)
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
	oneByOne(t)
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
