package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

// command is a small program in the making.
type command struct {
	*Module
	write, read, exit uint32
	manifest          toolabi.Manifest
}

const (
	vectorAt = 1024 // a list of one buffer
	resultAt = 1040
	textAt   = 2048
)

func newCommand(c toolabi.Command) *command {
	m := new(Module)
	p := &command{Module: m}
	p.write = m.Import(toolabi.WASIModule, "fd_write", []byte{I32, I32, I32, I32}, i32)
	p.read = m.Import(toolabi.WASIModule, "fd_read", []byte{I32, I32, I32, I32}, i32)
	p.exit = m.Import(toolabi.WASIModule, "proc_exit", i32, nil)
	p.manifest = toolabi.Manifest{Name: "program", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "echo"}}, Command: &c}
	m.Memory(2)
	m.ExportRaw(toolabi.ExportMemory, 2, 0)
	return p
}

// print is code that writes what is at textAt, n bytes of it, and stops with a trap when it cannot.
func (p *command) print(fd, n int32) []byte {
	var code []byte
	for _, part := range [][]byte{
		I32Const(vectorAt), I32Const(textAt), I32Store, I32Const(vectorAt + 4), I32Const(n), I32Store,
		I32Const(fd), I32Const(vectorAt), I32Const(1), I32Const(resultAt), Call(p.write), If, Unreachable, End,
	} {
		code = append(code, part...)
	}
	return code
}

// start adds _start.
func (p *command) start(body ...[]byte) *command {
	p.Export("_start", p.Func(nil, nil, 0, body...))
	return p
}

func (p *command) build(t testing.TB) []byte {
	t.Helper()
	g := guest{Module: p.Module, manifest: p.manifest}
	return g.build(t)
}

// says is a program that writes a text to its standard output and returns.
func says(t testing.TB, c toolabi.Command, text string) []byte {
	p := newCommand(c)
	p.Data(textAt, []byte(text))
	return p.start(p.print(1, int32(len(text)))).build(t)
}

func TestAProgramsOutputIsItsStandardOutput(t *testing.T) {
	for _, tc := range []struct {
		name string
		c    toolabi.Command
		says string
		want string
		code toolabi.Code
		why  string
	}{
		{name: "JSON", says: "{\"a\": 1}\n", want: "{\"a\": 1}\n"},
		{name: "text", c: toolabi.Command{Text: true}, says: "<a> \"b\"\n", want: `"<a> \"b\"\n"`},
		{name: "no text", c: toolabi.Command{Text: true}, want: `""`},
		{name: "not JSON", says: "hello \x1b[31mworld", code: toolabi.Protocol, why: `not JSON: it begins with "hello world"`},
		{name: "two values", says: "1 2", code: toolabi.Protocol, why: "not JSON"},
		{name: "nothing", code: toolabi.Protocol, why: "not JSON: it is empty"},
		{name: "not UTF-8", c: toolabi.Command{Text: true}, says: "ab\xff", code: toolabi.Protocol, why: "not UTF-8 at byte 2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := outcome(t, says(t, tc.c, tc.says), nil)
			if tc.code != 0 {
				wantCode(t, out, tc.code)
				if out.Err != nil && !strings.Contains(out.Err.Message, tc.why) {
					t.Errorf("message is %q, want %q in it", out.Err.Message, tc.why)
				}
				return
			}
			if string(out.Output) != tc.want || out.Err != nil {
				t.Errorf("output is %q, error %v, want %q", out.Output, out.Err, tc.want)
			}
		})
	}
}

// TestAProgramReadsItsInput lets the input through, by way of memory.
func TestAProgramReadsItsInput(t *testing.T) {
	p := newCommand(toolabi.Command{})
	read := func() (code []byte) {
		for _, part := range [][]byte{
			I32Const(vectorAt), I32Const(textAt), I32Store, I32Const(vectorAt + 4), I32Const(4096), I32Store,
			I32Const(0), I32Const(vectorAt), I32Const(1), I32Const(resultAt), Call(p.read), If, Unreachable, End,
		} {
			code = append(code, part...)
		}
		return code
	}
	must := func(n int32) []byte {
		var code []byte
		for _, part := range [][]byte{I32Const(resultAt), I32Load, I32Const(n), I32Eq, I32Eqz, If, Unreachable, End} {
			code = append(code, part...)
		}
		return code
	}
	wasm := p.start(read(), must(9), p.print(1, 9), read(), must(0)).build(t)
	out, err := call(t, wasm, `{"a":[1]}`, nil)
	if err != nil || string(out.Output) != `{"a":[1]}` {
		t.Errorf("output is %s, error %v, %v", out.Output, out.Err, err)
	}
}

// A stack trace follows the line that says why.
func TestAnExitSaysTheLineThatMostLikelyTellsWhy(t *testing.T) {
	for text, want := range map[string]string{
		"reading\nno such file\n": "status 2: no such file",
		"panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:60 +0xb6\n": "status 2: panic: boom",
		"thread 'main' panicked at src/main.rs:2:5:\nboom\n":                            "status 2: thread 'main' panicked at src/main.rs:2:5:",
		"": "status 2",
	} {
		p := newCommand(toolabi.Command{})
		p.Data(textAt, []byte(text))
		out := outcome(t, p.start(p.print(2, int32(len(text))), append(I32Const(2), Call(p.exit)...)).build(t), nil)
		if wantCode(t, out, toolabi.Exited); out.Err != nil && !strings.HasSuffix(out.Err.Message, want) {
			t.Errorf("%q: message is %q, want %q at its end", text, out.Err.Message, want)
		}
	}
}

func TestHowAProgramEnds(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(p *command) []byte
		code toolabi.Code
		says string
	}{
		{"exit with 0", func(p *command) []byte { return append(I32Const(0), Call(p.exit)...) }, 0, ""},
		{"exit with 3", func(p *command) []byte { return append(I32Const(3), Call(p.exit)...) }, toolabi.Exited, "status 3: 123"},
		{"exit with the largest status", func(p *command) []byte { return append(I32Const(-1), Call(p.exit)...) }, toolabi.Exited, "status 4294967295"},
		{"trap", func(*command) []byte { return Unreachable }, toolabi.Trapped, "unreachable"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newCommand(toolabi.Command{})
			p.Data(textAt, []byte("123"))
			out := outcome(t, p.start(p.print(1, 3), p.print(2, 3), tc.end(p)).build(t), nil)
			if string(out.Stderr) != "123" {
				t.Errorf("standard error is %q", out.Stderr)
			}
			if tc.code == 0 {
				if string(out.Output) != "123" || out.Err != nil {
					t.Errorf("output is %q, error %v", out.Output, out.Err)
				}
				return
			}
			wantCode(t, out, tc.code)
			if !strings.Contains(out.Err.Message, tc.says) || out.Err.Effect != toolabi.EffectNone {
				t.Errorf("error is %+v, want %q in it and no effect", out.Err, tc.says)
			}
		})
	}
}

func TestAProgramThatWritesTooMuchFails(t *testing.T) {
	p := newCommand(toolabi.Command{Text: true})
	box, s := open(t, sandbox.Config{})
	d := s.add(p.start(p.print(1, 100)).build(t))
	ignores := newCommand(toolabi.Command{})
	ignores.Data(textAt, []byte("1234567890"))
	quiet := ignores.print(1, 60)
	quiet = append(quiet[:len(quiet)-len(If)-len(Unreachable)-len(End)], Drop...)
	ignoring := s.add(ignores.start(ignores.print(1, 10), quiet).build(t))
	for _, tc := range []struct {
		d     toolabi.Digest
		limit uint64
		why   string
	}{
		{d, 99, "the bytes themselves"},
		{d, 300, "100 NULs, of six bytes each in JSON"},
		{ignoring, 50, "the program goes on as if nothing were"},
	} {
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: tc.d, Tool: "echo", Limits: toolabi.Limits{OutputBytes: tc.limit}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(tc.why)
		wantCode(t, out, toolabi.LimitOutput)
	}
}

func TestWhatIsNoProgramIsRefused(t *testing.T) {
	ok := func() *command { return newCommand(toolabi.Command{}) }
	for _, tc := range []struct {
		name string
		p    *command
		kind sandbox.LoadKind
		says string
	}{
		{"no _start", ok(), sandbox.ABI, "does not export a function _start"},
		{"_start with a result", func() *command { p := ok(); p.Export("_start", p.Func(nil, i32, 0, I32Const(0))); return p }(), sandbox.ABI, "exports _start as"},
		{"_start that is a memory", func() *command { p := ok(); p.ExportRaw("_start", 2, 0); return p }(), sandbox.ABI, "does not export a function _start"},
		{"_initialize too", func() *command { p := ok().start(); p.Export("_initialize", p.Func(nil, nil, 0)); return p }(), sandbox.ABI, "a program or a library"},
		{"a start section", func() *command { p := ok().start(); p.Start(p.Func(nil, nil, 0)); return p }(), sandbox.ABI, "start section"},
		{"two memories", func() *command { p := ok().start(); p.Memory(1); return p }(), sandbox.ABI, "2 memories"},
		{"a host function", func() *command {
			p := &command{Module: new(Module)}
			p.Import(toolabi.ImportModule, "log", i32s, i64)
			p.manifest = ok().manifest
			p.Memory(1)
			p.ExportRaw(toolabi.ExportMemory, 2, 0)
			return p.start()
		}(), sandbox.Import, "a program can import from"},
		{"a wrong signature", func() *command {
			p := &command{Module: new(Module)}
			p.Import(toolabi.WASIModule, "fd_write", i32, i32)
			p.manifest = ok().manifest
			p.Memory(1)
			p.ExportRaw(toolabi.ExportMemory, 2, 0)
			return p.start()
		}(), sandbox.Import, "fd_write as"},
		{"capabilities", func() *command {
			p := ok().start()
			p.manifest.Capabilities = []toolabi.Capability{{Name: toolabi.FuncHTTPSend, Reason: "to try"}}
			return p
		}(), sandbox.BadManifest, "no host functions"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := sandbox.Inspect(tc.p.build(t))
			var l *sandbox.LoadError
			if !errors.As(err, &l) || l.Kind != tc.kind || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error is %v, want %s with %q", err, tc.kind, tc.says)
			}
		})
	}
}

func TestAProgramWithoutAManifestIsToldWhatItNeeds(t *testing.T) {
	p := newCommand(toolabi.Command{}).start()
	_, err := sandbox.Inspect(p.Bytes())
	if err == nil || !strings.Contains(err.Error(), "wrun tool wrap") {
		t.Errorf("error is %v, want the command that attaches a manifest", err)
	}
}

func TestAGoProgramSeesNothingButItsInvocation(t *testing.T) {
	box, s := open(t, sandbox.Config{CacheDir: CodeCache(t)})
	d := s.add(wrap(t, Command(t, "internal/wasmtest/guests/observer"), toolabi.Command{Args: []string{"-x", "two words"}}))
	started := time.Date(2031, 5, 6, 7, 8, 9, 10, time.UTC)
	run := func(seed byte) string {
		t.Helper()
		out, err := box.Invoke(t.Context(), toolabi.Invocation{Module: d, Tool: "run", Input: []byte(`{"in":1}`), Seed: [32]byte{seed}, Started: started.UnixNano()}, nil)
		if err != nil || out.Err != nil {
			t.Fatal(err, out.Err, string(out.Stderr))
		}
		return string(out.Output)
	}
	first := run(7)
	if again := run(7); again != first {
		t.Errorf("the same invocation gave two outcomes:\n%s\n%s", first, again)
	}
	if other := run(8); other == first {
		t.Error("another seed gave the same randomness")
	}
	var got struct {
		Now        time.Time
		Slept      time.Duration
		Args, Env  []string
		Opened, In string
	}
	if err := json.Unmarshal([]byte(first), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Now.Equal(started) || got.Slept < 90*time.Minute || got.Slept > 91*time.Minute {
		t.Errorf("the clock began at %v and a sleep of 90 minutes took %v", got.Now, got.Slept)
	}
	if strings.Join(got.Args, "|") != "observed|-x|two words" || len(got.Env) != 0 || got.In != `{"in":1}` {
		t.Errorf("arguments are %q, environment %q, input %q", got.Args, got.Env, got.In)
	}
	if got.Opened == "" {
		t.Error("a file could be opened without a directory")
	}
}

// wrap attaches a manifest of one tool, run, to a program.
func wrap(t testing.TB, program []byte, c toolabi.Command) []byte {
	t.Helper()
	wasm, err := sandbox.AttachManifest(program, &toolabi.Manifest{
		Name: "observed", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "run"}}, Command: &c,
	})
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

func TestAProgramThatNeverEndsReachesItsLimit(t *testing.T) {
	p := newCommand(toolabi.Command{})
	wasm := p.start(Loop, Br(0), End).build(t)
	box, s := open(t, sandbox.Config{})
	fueled, err := box.Invoke(t.Context(), toolabi.Invocation{Module: s.add(wasm), Tool: "echo", Limits: toolabi.Limits{Fuel: 1_000_000}}, nil)
	must(t, err)
	wantCode(t, fueled, toolabi.LimitFuel)
	if fueled.Fuel < 1_000_000 {
		t.Errorf("it used %d units of fuel", fueled.Fuel)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	limit := toolabi.NewError(toolabi.LimitTime, "enough")
	time.AfterFunc(50*time.Millisecond, func() { cancel(limit) })
	out, err := box.Invoke(ctx, toolabi.Invocation{Module: s.add(wasm), Tool: "echo"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantCode(t, out, toolabi.LimitTime)
}

// TestAFunctionOfWASIDoesNotOutliveTheCall has a program that draws all of its memory full again and again: few instructions,
// and much work for the host.
func TestAFunctionOfWASIDoesNotOutliveTheCall(t *testing.T) {
	p := &command{Module: new(Module)}
	random := p.Import(toolabi.WASIModule, "random_get", i32s, i32)
	p.manifest = newCommand(toolabi.Command{}).manifest
	p.Memory(1024)
	p.ExportRaw(toolabi.ExportMemory, 2, 0)
	wasm := p.start(Loop, I32Const(0), I32Const(64<<20-1), Call(random), Drop, Br(0), End).build(t)
	box, s := open(t, sandbox.Config{})
	d := s.add(wasm)
	must(t, box.Prepare(t.Context(), d))
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(toolabi.NewError(toolabi.LimitTime, "enough")) })
	out, err := box.Invoke(ctx, toolabi.Invocation{Module: d, Tool: "echo"}, nil)
	must(t, err)
	wantCode(t, out, toolabi.LimitTime)
	if out.Fuel > 10_000 { // the host has its turn after 32,768 units at the latest, which is thousands of draws
		t.Errorf("it went on for %d units of fuel", out.Fuel)
	}
}

func BenchmarkProgram(b *testing.B) {
	box, s := open(b, sandbox.Config{})
	d := s.add(says(b, toolabi.Command{}, "1"))
	for b.Loop() {
		if out, err := box.Invoke(b.Context(), toolabi.Invocation{Module: d, Tool: "echo", Input: []byte("1")}, nil); err != nil || out.Err != nil {
			b.Fatal(err, out.Err)
		}
	}
}
