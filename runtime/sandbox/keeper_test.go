package sandbox_test

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

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// keeper is a guest that tries to leave something behind for the next call, and looks for what earlier ones have left.
type keeper struct {
	name, tool string
	wasm       []byte
	digest     toolabi.Digest
	input      func(words string) string // that tells it what to do
	lacks      []string                  // words that it does not know, or that end it as another does
	hidden     []string                  // places where a call does not see what it left itself
	worldly    []string                  // places that show what the invocation says
}

// quoted is the input of guests that read words.
func quoted(words string) string { return `"` + words + `"` }

var languagesOnce struct {
	sync.Once
	list []keeper
}

// languages returns the guests that were written in some: Go, C and Rust.
func languages(t testing.TB) []keeper {
	t.Helper()
	languagesOnce.Do(func() { languagesOnce.list = buildLanguages(t) })
	if languagesOnce.list == nil {
		t.Fatal("the guests could not be built; another test says why")
	}
	return languagesOnce.list
}

func buildLanguages(t testing.TB) []keeper {
	t.Helper()
	committed := func(name string) []byte {
		wasm, err := sandbox.AttachManifest(wasmtest.Committed(t, "internal/wasmtest/guests/"+name), &toolabi.Manifest{
			Name: "keeper", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "keep"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return wasm
	}
	list := []keeper{
		{name: "Go", wasm: wasmtest.Tool(t, "internal/wasmtest/guests/keeper_go"), lacks: []string{"status", "nil", "quit"},
			hidden: []string{"asked", "buffer", "folder"}, worldly: []string{"clock", "random", "stderr"}},
		{name: "C", wasm: committed("keeper_c"), hidden: []string{"folder", "stack pointer"}, worldly: []string{"clock", "random"}},
		{name: "Rust", wasm: committed("keeper_rust"), hidden: []string{"asked"}, worldly: []string{"clock", "random state"}},
	}
	for i := range list {
		list[i].tool, list[i].digest, list[i].input = "keep", toolabi.DigestOf(list[i].wasm), quoted
	}
	return list
}

// order is one call of a keeper: what it is told, and what its host does when it is asked for the time.
type order struct {
	words  string
	limits toolabi.Limits
	answer answer
}

// of leaves out the orders that a keeper has no words for.
func (k keeper) of(orders []order) []order {
	return slices.DeleteFunc(slices.Clone(orders), func(o order) bool {
		return slices.ContainsFunc(strings.Fields(o.words), func(w string) bool { return slices.Contains(k.lacks, w) })
	})
}

// answer is what the host does to a guest that asks for the time.
type answer uint8

const (
	answered  answer = iota
	timeIsUp         // the context ends with an error for the tool
	cancelled        // the context ends with another cause
	refused          // the host function fails
	panicked         // the host function panics
)

// String tells orders apart.
func (o order) String() string {
	s := o.words + [...]string{"", ", time is up", ", cancelled", ", refused", ", panicked"}[o.answer]
	for _, l := range []struct {
		name string
		n    uint64
	}{{"memory", o.limits.MemoryBytes}, {"output", o.limits.OutputBytes}, {"fuel", o.limits.Fuel}} {
		if l.n != 0 {
			s += fmt.Sprintf(", %d of %s", l.n, l.name)
		}
	}
	return s
}

// moment is what an invocation says beside the order: when it is, and how its dice fall.
type moment struct {
	seed    byte
	started int64
}

var moments = []moment{{1, 1_900_000_000_000_000_000}, {2, 1_700_000_000_123_456_789}}

// trace is all that can be seen of a call from outside.
type trace struct {
	out   toolabi.Outcome
	err   string
	asked string // what host functions it used
}

var errCancelled, errRefused = errors.New("cancelled"), errors.New("the host function fails")

// do makes one call. What is to be done while it waits for its host is done when it asks for the time.
func (k keeper) do(ctx context.Context, box *sandbox.Sandbox, o order, m moment, meanwhile ...func()) trace {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var asked strings.Builder
	out, err := box.Invoke(ctx, k.invocation(o, m), o.host(&asked, cancel, m, meanwhile...))
	t := trace{out: out, asked: asked.String()}
	if err != nil {
		t.err = err.Error()
	}
	return t
}

func (k keeper) invocation(o order, m moment) toolabi.Invocation {
	return toolabi.Invocation{
		Module: k.digest, Tool: k.tool, Input: []byte(k.input(o.words)), Started: m.started, Seed: [32]byte{m.seed}, Limits: o.limits,
	}
}

// host answers every function with the same, and writes down what it was asked.
func (o order) host(asked *strings.Builder, cancel context.CancelCauseFunc, m moment, meanwhile ...func()) toolabi.HostFunc {
	return func(_ context.Context, name string, request []byte) (toolabi.Answer, error) {
		fmt.Fprintf(asked, "%s %x\n", name, request)
		if name == toolabi.FuncClock {
			for _, do := range meanwhile {
				do()
			}
			switch o.answer {
			case timeIsUp:
				cancel(toolabi.NewError(toolabi.LimitTime, "time is up"))
			case cancelled:
				cancel(errCancelled)
			case refused:
				return toolabi.Answer{}, errRefused
			case panicked:
				panic("the host function panics")
			}
		}
		return toolabi.Answer{Reply: []byte("what the host keeps for the guest"), At: m.started + 7}, nil
	}
}

// difference says in what a call was not as it should be, "" when it was.
func (t trace) difference(want trace) string {
	var all []string
	differs := func(what, got, want string) {
		if got != want {
			all = append(all, fmt.Sprintf("%s is %s, want %s", what, toolabi.CutText(got, 300), toolabi.CutText(want, 300)))
		}
	}
	differs("error of the host", t.err, want.err)
	differs("error of the tool", whole(t.out.Err), whole(want.out.Err))
	differs("fuel", fmt.Sprint(t.out.Fuel), fmt.Sprint(want.out.Fuel))
	differs("whether it was entered", fmt.Sprint(!t.out.Unentered), fmt.Sprint(!want.out.Unentered))
	got, wanted := t.fields(), want.fields()
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if g, w := apart(got[name], wanted[name]); len(g) > 0 {
			differs(name, fmt.Sprint(g), fmt.Sprint(w))
		}
	}
	if len(all) == 0 {
		differs("output", string(t.out.Output), string(want.out.Output))
		differs("what it said", string(t.out.Stderr), string(want.out.Stderr))
	}
	return strings.Join(all, "\n")
}

// whole shows all fields of an error.
func whole(e *toolabi.Error) string {
	if e == nil {
		return "none"
	}
	return fmt.Sprintf("%+v", *e)
}

// fields are the report in an output, with what was said beside it.
func (t trace) fields() map[string]string {
	var f map[string]any
	_ = json.Unmarshal(t.out.Output, &f)
	fields := map[string]string{"stderr": string(t.out.Stderr), "asked": t.asked}
	for name, v := range f {
		fields[name] = fmt.Sprint(v)
	}
	return fields
}

// apart returns those words of two texts that differ, with their numbers.
func apart(got, want string) (g, w map[int]string) {
	have, wants := strings.Fields(got), strings.Fields(want)
	g, w = map[int]string{}, map[int]string{}
	for i := range max(len(have), len(wants)) {
		if i >= len(have) || i >= len(wants) || have[i] != wants[i] {
			g[i], w[i] = at(have, i), at(wants, i)
		}
	}
	return g, w
}

func at(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}
