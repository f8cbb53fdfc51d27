package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	lacks      []string                  // words that it does not know
	hidden     []string                  // places where a call does not see what it left itself
	worldly    []string                  // places that show what the invocation says
}

// quoted is the input of guests that read words.
func quoted(words string) string { return `"` + words + `"` }

// languages returns the guests that were written in some.
func languages(t testing.TB) []keeper {
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
		{name: "Go", wasm: wasmtest.Tool(t, "internal/wasmtest/guests/keeper_go"), lacks: []string{"status"},
			hidden: []string{"asked", "buffer", "folder"}, worldly: []string{"clock", "random", "stderr"}},
		{name: "C", wasm: committed("keeper_c"), hidden: []string{"folder", "stack pointer"}, worldly: []string{"clock", "random"}},
		{name: "Rust", wasm: committed("keeper_rust"), hidden: []string{"asked"}, worldly: []string{"clock", "random state"}},
	}
	for i := range list {
		list[i].tool, list[i].digest, list[i].input = "keep", toolabi.DigestOf(list[i].wasm), quoted
	}
	return list
}

// order is one call of a keeper: what it is told, and what its host does once it says that it spins.
type order struct {
	words  string
	limits toolabi.Limits
	spins  spins
}

// spins is what a host does to a guest that would go on for ever.
type spins uint8

const (
	never     spins = iota
	timeIsUp        // the context ends with an error for the tool
	cancelled       // the context ends with another cause
	refused         // the host function fails
	panicked        // the host function panics
)

// String tells orders apart.
func (o order) String() string {
	s := o.words
	if o.spins != never {
		s += ", " + [...]string{timeIsUp: "time is up", cancelled: "cancelled", refused: "refused", panicked: "panicked"}[o.spins]
	}
	if o.limits != (toolabi.Limits{}) {
		s += fmt.Sprintf(", %+v", o.limits)
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

// do makes one call.
func (k keeper) do(ctx context.Context, box *sandbox.Sandbox, o order, m moment) trace {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var asked strings.Builder
	out, err := box.Invoke(ctx, k.invocation(o, m), o.host(&asked, cancel, m))
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
func (o order) host(asked *strings.Builder, cancel context.CancelCauseFunc, m moment) toolabi.HostFunc {
	return func(_ context.Context, name string, request []byte) (toolabi.Answer, error) {
		fmt.Fprintf(asked, "%s %x\n", name, request)
		if name == toolabi.FuncClock { // it spins from here on
			switch o.spins {
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
	differs("error of the tool", fmt.Sprint(t.out.Err), fmt.Sprint(want.out.Err))
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
