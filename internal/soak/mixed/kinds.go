package mixed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// temper is what a kind of call is drawn for.
type temper uint8

const (
	honest temper = 1 << iota
	nasty
	// large calls do not fit into a tight budget.
	large
)

// kind is one kind of call.
type kind struct {
	name   string
	often  int // among the others of its phase
	temper temper
	// module is nil for a newcomer, which the world chooses.
	module *toolabi.Digest
	// make draws a call. Module, limits and randomness need not be set.
	make func(r *rand.Rand) request
	// limits and time are those of every call of the kind.
	limits toolabi.Limits
	time   time.Duration
	// killed calls are given up at some moment before that; 0 for none.
	killed time.Duration
}

// request is one call and what it has to come to.
type request struct {
	toolabi.Invocation
	// want is the output, when it is not nil.
	want []byte
	// says is the code of the error; 0 for none, and then there is an output.
	says toolabi.Code
	// alsoSays is part of the error's message.
	alsoSays string
	// tail is what the standard output ends with.
	tail []byte
	// answer is what host functions answer with.
	answer []byte
	// same is not "" for calls that have to be the same in every respect whenever they are made: their output and their fuel.
	same string
}

// errKilled is the cause of a context that is cancelled in the middle.
var errKilled = errors.New("killed in the middle")

// letters are what texts are made of: enough of them, no two pieces alike.
var letters = func() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 3<<20)
	for i := range b {
		b[i] = 'a' + byte(r.Uint32()%26)
	}
	return b
}()

// text is a text that no other call has, from least to most bytes long, and shorter ones more often.
func text(r *rand.Rand, least, most int) []byte {
	n := least
	for n < most/2 && r.IntN(3) > 0 {
		n *= 2
	}
	n += r.IntN(n)
	n = min(n, most)
	at := r.IntN(len(letters) - n)
	return append(fmt.Appendf(nil, "%016x", r.Uint64()), letters[at:at+n-16]...)
}

// quoted is a text as JSON.
func quoted(text []byte) []byte { return append(append([]byte{'"'}, text...), '"') }

// echoed is a call that returns its input.
func echoed(least, most int) func(*rand.Rand) request {
	return func(r *rand.Rand) request {
		in := quoted(text(r, least, most))
		return request{Invocation: toolabi.Invocation{Tool: toolName, Input: in}, want: in}
	}
}

// ends is a call of a small module that ends badly.
func ends(code toolabi.Code, says string) func(*rand.Rand) request {
	return func(r *rand.Rand) request {
		return request{Invocation: toolabi.Invocation{Tool: toolName, Input: quoted(text(r, 100, 10_000))}, says: code, alsoSays: says}
	}
}

// makeKinds puts all modules on the shelf and returns what can be called.
func makeKinds(s *shelf) ([]kind, error) {
	kinds := smallKinds(s)
	for _, more := range []func(*shelf) ([]kind, error){goKinds, programKinds} {
		k, err := more(s)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, k...)
	}
	return kinds, nil
}

func smallKinds(s *shelf) []kind {
	echo, grown, table, loop := s.add(echoes()), s.add(grows(320)), s.add(tables()), s.add(spins())
	asking, printing := s.add(asks()), s.add(prints())
	timeLimit, fuel := toolabi.LimitTime, toolabi.Limits{Fuel: 100_000}
	return []kind{
		{name: "echo", often: 20, temper: honest, module: echo, make: echoed(100, 1<<20)},
		{name: "echo of always the same", often: 5, temper: honest, module: echo, make: func(*rand.Rand) request {
			return request{Invocation: toolabi.Invocation{Tool: toolName, Input: []byte(`"same"`)}, want: []byte(`"same"`), same: "echo"}
		}},
		{name: "echo, killed", often: 5, temper: honest | nasty, module: echo, make: echoed(100, 1<<20), killed: time.Millisecond},
		{name: "newcomer", often: 3, temper: honest, make: echoed(100, 1000)},
		{name: "starts", often: 10, temper: honest, module: s.add(starts()), make: echoed(100, 10_000)},
		{name: "table", often: 5, temper: honest, module: table, make: echoed(100, 10_000)},
		{name: "table, killed", often: 2, temper: nasty, module: table, make: echoed(100, 10_000), killed: time.Millisecond},
		{name: "segments", often: 5, temper: honest, module: s.add(segments()), make: echoed(100, 10_000)},
		{name: "grows by 20 MB", often: 3, temper: honest | nasty, module: grown, make: echoed(100, 10_000)},
		{name: "grows by 60 MB", often: 1, temper: honest | nasty | large, module: s.add(grows(960)), make: echoed(100, 10_000)},
		{name: "grows, killed", often: 2, temper: nasty, module: grown, make: echoed(100, 10_000), killed: 10 * time.Millisecond},
		{name: "asks", often: 10, temper: honest, module: asking, make: answered},
		{name: "asks, killed", often: 3, temper: nasty, module: asking, make: answered, killed: time.Millisecond},
		{name: "prints", often: 5, temper: honest, module: printing, make: printed},
		{name: "traps", often: 5, temper: honest | nasty, module: s.add(traps()), make: ends(toolabi.Trapped, "unreachable")},
		{name: "traps at first", often: 2, temper: nasty, module: s.add(trapsAtFirst()), make: ends(toolabi.Trapped, "unreachable")},
		{name: "recurses", often: 1, temper: nasty, module: s.add(recurses()), make: ends(toolabi.Trapped, "stack overflow")},
		{name: "exits", often: 5, temper: honest | nasty, module: s.add(exits()), make: ends(toolabi.Exited, "status 3")},
		{name: "misuses", often: 3, temper: nasty, module: s.add(misuses()), make: ends(toolabi.Protocol, "not in memory")},
		{name: "floods", often: 2, temper: nasty, module: s.add(floods()), make: ends(toolabi.LimitOutput, "1000000 bytes"), limits: toolabi.Limits{OutputBytes: 1_000_000}},
		{name: "hungry", often: 3, temper: honest | nasty, module: s.add(hungry(1)), make: ends(toolabi.LimitMemory, "8388608 bytes"), limits: toolabi.Limits{MemoryBytes: 8 << 20}},
		{name: "hungry for more", often: 1, temper: nasty | large, module: s.add(hungry(64)), make: ends(toolabi.LimitMemory, "67108864 bytes"), limits: toolabi.Limits{MemoryBytes: 64 << 20}},
		{name: "out of time", often: 1, temper: honest | nasty, module: loop, make: ends(timeLimit, ""), time: 5 * time.Millisecond},
		{name: "out of fuel", often: 3, temper: honest | nasty, module: loop, make: ends(toolabi.LimitFuel, ""), limits: fuel},
		{name: "endless, killed", often: 2, temper: nasty, module: loop, make: ends(timeLimit, ""), killed: 10 * time.Millisecond, time: time.Minute},
	}
}

// answered is a call that returns what the host says.
func answered(r *rand.Rand) request {
	in, out := []byte("0"), quoted(text(r, 100, 1<<20))
	reply, err := toolabi.Encode(toolabi.Reply{Output: out})
	if err != nil {
		panic(err) // our own reply
	}
	return request{Invocation: toolabi.Invocation{Tool: toolName, Input: in}, want: out, answer: reply}
}

// printed is a call that prints what it returns.
func printed(r *rand.Rand) request {
	in := echoed(300, 50_000)(r)
	in.tail = in.Input
	return in
}

// goKinds are tools written with the SDK.
func goKinds(s *shelf) ([]kind, error) {
	t, err := s.tool("text", "tools/text")
	if err != nil {
		return nil, err
	}
	e, err := s.tool("everyday", "internal/wasmtest/guests/everyday")
	if err != nil {
		return nil, err
	}
	if _, err := s.tool("flows", "internal/wasmtest/guests/flows"); err != nil {
		return nil, err
	}
	bad := func(tool string, code toolabi.Code, says string) func(*rand.Rand) request {
		return func(*rand.Rand) request {
			return request{Invocation: toolabi.Invocation{Tool: tool, Input: []byte("{}")}, says: code, alsoSays: says}
		}
	}
	return []kind{
		{name: "Go upper", often: 6, temper: honest, module: t, make: upper},
		{name: "Go upper, killed", often: 2, temper: honest | nasty, module: t, make: upper, killed: 20 * time.Millisecond},
		{name: "Go fails", often: 3, temper: honest | nasty, module: t, make: fails},
		{name: "Go sum", often: 4, temper: honest, module: e, make: sum},
		{name: "Go observes", often: 2, temper: honest, module: e, make: observes},
		{name: "Go fetches", often: 3, temper: honest, module: e, make: fetches},
		{name: "Go nests", often: 1, temper: honest, module: e, make: func(r *rand.Rand) request {
			in := fmt.Appendf(nil, `{"depth":%d}`, 1+r.IntN(2000))
			return request{Invocation: toolabi.Invocation{Tool: "nested", Input: in}, want: in}
		}},
		{name: "Go panics", often: 1, temper: nasty, module: e, make: bad("panics", toolabi.Trapped, "panic: as it was told")},
		{name: "Go exits", often: 1, temper: nasty, module: e, make: bad("exits", toolabi.Exited, "status 3")},
		{name: "Go hungry", often: 1, temper: nasty, module: e, make: bad("hungry", toolabi.LimitMemory, "33554432 bytes"), limits: toolabi.Limits{MemoryBytes: 32 << 20}},
		{name: "Go out of time", often: 1, temper: nasty, module: e, make: bad("spins", toolabi.LimitTime, ""), time: 10 * time.Millisecond},
		{name: "Go out of fuel", often: 1, temper: nasty, module: e, make: bad("spins", toolabi.LimitFuel, ""), limits: toolabi.Limits{Fuel: 1_000_000}},
	}, nil
}

func upper(r *rand.Rand) request {
	in := text(r, 100, 1<<20)
	return request{
		Invocation: toolabi.Invocation{Tool: "upper", Input: fmt.Appendf(nil, `{"text":"%s"}`, in)},
		want:       fmt.Appendf(nil, `{"text":"%s"}`, bytes.ToUpper(in)),
	}
}

func fails(r *rand.Rand) request {
	detail := string(text(r, 32, 50))
	return request{Invocation: toolabi.Invocation{Tool: "fail", Input: fmt.Appendf(nil, `{"detail":%q,"message":"said %s"}`, detail, detail)}, says: toolabi.Failed, alsoSays: "said " + detail}
}

func sum(r *rand.Rand) request {
	var total int64
	numbers := make([]int64, 10+r.IntN(1<<r.IntN(14)))
	for i := range numbers {
		numbers[i] = r.Int64N(1 << 40)
		total += numbers[i]
	}
	in, err := json.Marshal(map[string]any{"numbers": numbers})
	if err != nil {
		panic(err) // numbers can be written
	}
	return request{Invocation: toolabi.Invocation{Tool: "sum", Input: in}, want: fmt.Appendf(nil, `{"total":%d}`, total)}
}

// observes is one of four calls that each see the same whenever they are made.
func observes(r *rand.Rand) request {
	n := r.IntN(4)
	return request{
		Invocation: toolabi.Invocation{Tool: "observe", Input: []byte("{}"), Started: int64(n+1) * 1e18, Seed: [32]byte{byte(n)}},
		same:       fmt.Sprintf("observe %d", n),
	}
}

func fetches(r *rand.Rand) request {
	body := text(r, 100, 300_000)
	reply, err := toolabi.Encode(toolabi.HTTPReply{Status: 200, Body: body})
	if err != nil {
		panic(err) // our own reply
	}
	return request{
		Invocation: toolabi.Invocation{Tool: "fetch", Input: []byte("{}")}, answer: reply,
		want: fmt.Appendf(nil, `{"status":200,"body":"%s"}`, body),
	}
}

// programKinds are programs of WASI: one that reads its standard input, and one that reads a directory.
func programKinds(s *shelf) ([]kind, error) {
	program, err := wasmtest.MakeCommand("internal/wasmtest/guests/words")
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.dir, "words")
	const n = 5000
	err = errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "f"), []byte(strings.Repeat("word ", n)), 0o600))
	if err != nil {
		return nil, err
	}
	add := func(c toolabi.Command) (*toolabi.Digest, error) {
		c.Text = true
		wasm, err := sandbox.AttachManifest(program, &toolabi.Manifest{Name: "words", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "run"}}, Command: &c})
		return s.add(wasm), err
	}
	input, err := add(toolabi.Command{})
	if err != nil {
		return nil, err
	}
	file, err := add(toolabi.Command{Args: []string{"/data/f"}, Dirs: []toolabi.Dir{{Name: "data", Path: "/data", Reason: "to count"}}})
	if err != nil {
		return nil, err
	}
	return []kind{
		{name: "program", often: 3, temper: honest, module: input, make: func(r *rand.Rand) request {
			n := 20 + r.IntN(1<<r.IntN(17))
			return request{Invocation: toolabi.Invocation{Tool: "run", Input: bytes.Repeat([]byte("word "), n)}, want: fmt.Appendf(nil, `"%d -\n"`, n)}
		}},
		{name: "program with a directory", often: 2, temper: honest | nasty, module: file, killed: 50 * time.Millisecond, make: func(*rand.Rand) request {
			mount := toolabi.Mount{Name: "data", Path: dir}
			return request{Invocation: toolabi.Invocation{Tool: "run", Input: []byte("null"), Mounts: []toolabi.Mount{mount}}, want: fmt.Appendf(nil, `"%d /data/f\n"`, n)}
		}},
	}, nil
}
