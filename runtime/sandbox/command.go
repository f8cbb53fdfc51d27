package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/runtime/sandbox/wasm"
	"github.com/wrun-dev/wrun/toolabi"
)

// exportStart is where a program begins.
const exportStart = "_start"

// program is what a call of a program of WASI preview 1 has beside what every call has. A nil program is none.
type program struct {
	args  []string
	input []byte // what is left of its standard input
	text  bool   // its standard output is text
	files files
}

// becomeProgram makes a call one of a program, or says why it is not entered.
func (c *call) becomeProgram(m *toolabi.Manifest, inv toolabi.Invocation) *toolabi.Error {
	p := &program{args: append([]string{m.Name}, m.Command.Args...), input: inv.Input, text: m.Command.Text}
	if err := p.files.mount(m.Command.Dirs, inv.Mounts); err != nil {
		p.close()
		return err
	}
	c.program, c.input, c.asked = p, nil, len(inv.Mounts) > 0
	return nil
}

// argv returns the program's name and its arguments.
func (p *program) argv() []string {
	if p == nil {
		return nil
	}
	return p.args
}

// close closes whatever the program has open.
func (p *program) close() {
	if p != nil {
		p.files.close()
	}
}

// runProgram takes a program from nothing to its end. Nothing of it runs before _start, so the call's clock and randomness
// are there from the beginning. The context carries the call.
func (s *Sandbox) runProgram(ctx context.Context, m *module, c *call, inv toolabi.Invocation) (status uint32, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("run module %s: %v", m.info.Digest.Short(), r)
		}
	}()
	i, err := m.engine.instantiate(ctx, m.compiled, c.memory, exportStart)
	if err != nil {
		return 0, err
	}
	c.instance = i
	defer func() { c.fuel.settle(wasm.Gauge(i.gauge.Get())) }()
	c.begin(i, inv)
	return 0, i.entry.CallWithStack(ctx, nil)
}

// programEnded returns what a program comes to that returned from _start or left through proc_exit.
func (c *call) programEnded() toolabi.Outcome {
	if c.exit != nil && *c.exit != 0 {
		message := fmt.Sprintf("the program exited with status %d", *c.exit)
		said := c.stdio.text()
		if line := cmp.Or(panicLine(said), lastLine(said)); line != "" {
			message += ": " + toolabi.CutText(line, 500)
		}
		e := toolabi.NewError(toolabi.Exited, message)
		e.Detail = fmt.Sprintf("status %d", *c.exit)
		return c.failed(e)
	}
	if c.outputRefused {
		return c.failed(nil)
	}
	out := c.output
	switch {
	case c.program.text && !utf8.Valid(out):
		return c.failed(toolabi.NewError(toolabi.Protocol, fmt.Sprintf("the program's standard output is not UTF-8 at byte %d; its manifest says that it is text", invalidAt(out))))
	case c.program.text:
		if c.outputRefused = jsonLength(out) > c.outputMax; c.outputRefused {
			return c.failed(nil)
		}
		out = jsonString(out)
	case !json.Valid(out):
		return c.failed(toolabi.NewError(toolabi.Protocol, "the program's standard output is not JSON"+beginning(out)+`; with "text" in its manifest it need not be`))
	}
	return toolabi.Outcome{Output: out}
}

// blame adds to an error what the program had done to its directories by then: that is known, however it ended.
func (p *program) blame(e *toolabi.Error) *toolabi.Error {
	if e == nil || p == nil || !p.files.changed {
		return e
	}
	told := *e
	told.Effect = toolabi.EffectApplied
	return &told
}

func beginning(out []byte) string {
	if len(bytes.TrimSpace(out)) == 0 {
		return ": it is empty"
	}
	return fmt.Sprintf(": it begins with %q", toolabi.CleanLine(string(out[:min(len(out), 240)]), 120))
}

func jsonString(text []byte) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(string(text)) // a string can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// jsonLength returns how long the text is as a JSON string, in bytes.
func jsonLength(text []byte) int {
	n := len(`""`)
	for _, r := range string(text) {
		switch {
		case strings.ContainsRune("\"\\\n\r\t\b\f", r):
			n += 2
		case r < ' ', r == '\u2028', r == '\u2029':
			n += 6
		default:
			n += utf8.RuneLen(r)
		}
	}
	return n
}

func invalidAt(text []byte) int {
	at := 0
	for r, n := utf8.DecodeRune(text); n > 0 && (r != utf8.RuneError || n > 1); r, n = utf8.DecodeRune(text[at:]) {
		at += n
	}
	return at
}

// lastLine returns the last line that says something.
func lastLine(text []byte) string {
	s := strings.TrimSpace(string(text))
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// checkProgram judges the exports of a program.
func checkProgram(b *wasm.Module) error {
	if b.HasStart {
		return refuse(ABI, "it has a start section, which would run before the call's bounds are set; a program begins in %s", exportStart)
	}
	if err := checkMemory(b, "a program"); err != nil {
		return err
	}
	e, ok := b.Export(exportStart)
	if !ok || e.Kind != wasm.KindFunc {
		return refuse(ABI, "its manifest has command, and it does not export a function %s: a program does; a module of ABI 1 needs no command", exportStart)
	}
	if t, _ := b.TypeOf(e.Index); t.String() != signature("", "") {
		return refuse(ABI, "it exports %s as %s, and a program as %s", exportStart, t, signature("", ""))
	}
	if _, ok := b.Export(toolabi.ExportInitialize); ok {
		return refuse(ABI, "it exports both %s and %s: a module is a program or a library", exportStart, toolabi.ExportInitialize)
	}
	return nil
}

// checkProgramImports refuses what is not WASI.
func checkProgramImports(b *wasm.Module) error {
	for _, i := range b.Imports {
		if i.Module != toolabi.WASIModule {
			return refuse(Import, "it imports %s.%s; a program can import from %s only", quote(i.Module), quote(i.Name), toolabi.WASIModule)
		}
	}
	return checkImports(b)
}
