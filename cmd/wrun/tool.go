package main

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/internal/authority"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

func newTool(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "tool",
		Short: "Make tools and build them, look at modules, and add those that you trust",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, verb := range []func(*app) *cobra.Command{newToolNew, newToolBuild, newToolDev, newToolPackage, newToolWrap, newToolInspect, newToolAdd, newToolList, newToolRemove, newToolDiff} {
		c.AddCommand(a.verb(verb(a)))
	}
	return c
}

func newToolInspect(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE|NAME",
		Short: "Show what a module is and what it could do, without running any of it",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := a.inspect(args[0])
			if err != nil {
				return err
			}
			if a.json {
				return a.line(moduleLine(m))
			}
			return a.printf("%s", describeModule(m))
		},
	}
}

// inspect reads a module, by its file or by the name of a tool that was added, and says what it is.
func (a *app) inspect(word string) (*sandbox.Module, error) {
	if !isModuleFile(word) {
		found, err := a.findModule(word)
		return found.info, err
	}
	wasm, err := readModule(word)
	if err != nil {
		return nil, err
	}
	m, err := sandbox.Inspect(wasm)
	return m, named(err, word)
}

// describeModule says for people all that a module says of itself.
func describeModule(m *sandbox.Module) string {
	var b strings.Builder
	describeHead(&b, m)
	fmt.Fprintf(&b, "size     %d bytes\n", m.Size)
	if m.Manifest.Command != nil {
		describeCommand(&b, m.Manifest.Command)
	}
	for _, t := range m.Manifest.Tools {
		describeTool(&b, t)
	}
	b.WriteString("\n")
	describeWants(&b, m.Manifest)
	if m.Manifest.Command != nil {
		fmt.Fprintf(&b, "wasi     %s\n", orNone(m.WASI))
		if len(m.UnlistedWASI) > 0 {
			fmt.Fprintf(&b, "inert    %s (linked, and always refused)\n", strings.Join(m.UnlistedWASI, " "))
		}
		return b.String()
	}
	fmt.Fprintf(&b, "imports  %s\n", orNone(m.Functions))
	fmt.Fprintf(&b, "wasi     %s\n", orNone(m.WASI))
	if len(m.UnlistedWASI) > 0 {
		fmt.Fprintf(&b, "inert    %s (linked, and always answer ENOSYS)\n", strings.Join(m.UnlistedWASI, " "))
	}
	return b.String()
}

// describeForGrants says of a module what its grants are decided on: what its tools promise and what it asks for, without what only
// matters to those who call it.
func describeForGrants(m *sandbox.Module) string {
	var b strings.Builder
	describeHead(&b, m)
	if m.Manifest.Command != nil {
		describeCommand(&b, m.Manifest.Command)
	}
	b.WriteString("\n")
	for _, t := range m.Manifest.Tools {
		fmt.Fprintf(&b, "tool     %s (%s)", t.Name, t.Declared())
		if words := toolWords(t); words != "" {
			b.WriteString(": " + cutLine(words, 300))
		}
		b.WriteString("\n")
		if t.Description != "" {
			fmt.Fprintf(&b, "         %s\n", cutLine(t.Description, 160))
		}
	}
	b.WriteString("\n")
	describeWants(&b, m.Manifest)
	return b.String()
}

// cutLine is what an author wrote, on one line of at most max bytes. What is left out does not go unsaid.
func cutLine(s string, max int) string {
	line := toolabi.CleanLine(s, max)
	if len(s) > max {
		line += fmt.Sprintf(" … (%d bytes in all)", len(s))
	}
	return line
}

func describeHead(b *strings.Builder, m *sandbox.Module) {
	fmt.Fprintf(b, "module   %s %s\n", m.Manifest.Name, m.Manifest.Version)
	if m.Manifest.Description != "" {
		fmt.Fprintf(b, "about    %s\n", cutLine(m.Manifest.Description, 500))
	}
	fmt.Fprintf(b, "digest   %s\n", m.Digest)
	if l := limitWords(m.Manifest.Limits); l != "" {
		fmt.Fprintf(b, "limits   %s\n", l)
	}
}

// describeWants says what a module asks for, with the author's reasons.
func describeWants(b *strings.Builder, m *toolabi.Manifest) {
	if m.Command != nil {
		describeDirs(b, m.Command)
		return
	}
	for _, c := range m.Capabilities {
		fmt.Fprintf(b, "wants    %s, %s\n", c.Name, cutLine(c.Reason, 500))
		for _, t := range c.Targets {
			fmt.Fprintf(b, "         %s\n", cutLine(authority.TargetWords(c.Name, t), 500))
		}
		if len(c.Secrets) > 0 {
			fmt.Fprintf(b, "         with secret %s\n", strings.Join(c.Secrets, ", "))
		}
	}
	if len(m.Capabilities) == 0 {
		b.WriteString("wants    nothing\n")
	}
}

func describeTool(b *strings.Builder, t toolabi.Tool) {
	fmt.Fprintf(b, "\ntool     %s (%s)\n", t.Name, t.Declared())
	for _, line := range []struct{ name, text string }{
		{"about", t.Description}, {"says", toolWords(t)}, {"input", string(t.Input)}, {"output", string(t.Output)},
	} {
		if line.text != "" {
			fmt.Fprintf(b, "%-8s %s\n", line.name, cutLine(line.text, 500))
		}
	}
}

// toolWords are what a manifest says of the calls of a tool beside its promise.
func toolWords(t toolabi.Tool) string {
	var words []string
	for _, w := range []struct {
		said bool
		text string
	}{
		{t.Approval, "a person has to agree"},
		{t.Destructive, "cannot be undone"},
		{t.TimeoutMS != 0, "timeout " + milliseconds(t.TimeoutMS)},
		{t.KeyTTLMS != 0, "keys are remembered for " + milliseconds(t.KeyTTLMS)},
		{t.Retry.Attempts > 1, fmt.Sprintf("up to %d attempts", t.Retry.Attempts)},
		{t.Lookup != "", "looked up with " + t.Lookup},
		{t.Compensate != "", "undone with " + t.Compensate},
	} {
		if w.said {
			words = append(words, w.text)
		}
	}
	return strings.Join(words, "; ")
}

// limitWords are the limits that are set.
func limitWords(l toolabi.Limits) string {
	var words []string
	if l.TimeoutMS != 0 {
		words = append(words, "timeout "+milliseconds(l.TimeoutMS))
	}
	if l.MemoryBytes != 0 {
		words = append(words, fmt.Sprintf("memory %d bytes", l.MemoryBytes))
	}
	if l.OutputBytes != 0 {
		words = append(words, fmt.Sprintf("output %d bytes", l.OutputBytes))
	}
	if l.Fuel != 0 {
		words = append(words, fmt.Sprintf("fuel %d", l.Fuel))
	}
	return strings.Join(words, ", ")
}

func milliseconds(n uint64) string { return (time.Duration(n) * time.Millisecond).String() }

// describeCommand says how a program is run, with all of its arguments.
func describeCommand(b *strings.Builder, c *toolabi.Command) {
	fmt.Fprintf(b, "mode     program of WASI preview 1: input on standard input, output on standard output%s\n", map[bool]string{true: " as text"}[c.Text])
	var args strings.Builder
	for _, arg := range c.Args {
		fmt.Fprintf(&args, " %q", arg)
	}
	if args.Len() > 0 {
		fmt.Fprintf(b, "args    %s\n", args.String())
	}
}

// describeDirs says which directories a program wants.
func describeDirs(b *strings.Builder, c *toolabi.Command) {
	for _, d := range c.Dirs {
		what := "to read"
		if d.Write {
			what = "to read and change"
		}
		fmt.Fprintf(b, "wants    directory %s at %s, %s: %s\n", d.Name, cutLine(d.Path, 500), what, cutLine(d.Reason, 500))
	}
	if len(c.Dirs) == 0 {
		b.WriteString("wants    no directories\n")
	}
}

func toolNames(m *toolabi.Manifest) []string {
	names := make([]string, 0, len(m.Tools))
	for _, t := range m.Tools {
		names = append(names, t.Name)
	}
	return names
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}

// moduleLine is a module as --json shows it.
func moduleLine(m *sandbox.Module) map[string]any {
	tools := make([]map[string]any, 0, len(m.Manifest.Tools))
	for _, t := range m.Manifest.Tools {
		tools = append(tools, toolLine(t))
	}
	line := map[string]any{
		"name": m.Manifest.Name, "version": m.Manifest.Version, "description": m.Manifest.Description,
		"digest": m.Digest.String(), "size": m.Size, "tools": tools, "capabilities": m.Manifest.Capabilities,
		"imports": m.Functions, "wasi": m.WASI, "wasi_inert": m.UnlistedWASI,
	}
	if m.Manifest.Command != nil {
		line["command"] = m.Manifest.Command
	}
	if m.Manifest.Limits != (toolabi.Limits{}) {
		line["limits"] = m.Manifest.Limits
	}
	return line
}

func toolLine(t toolabi.Tool) map[string]any {
	line := map[string]any{
		"name": t.Name, "description": t.Description, "idempotency": t.Declared(),
		"input": shown(t.Input), "output": shown(t.Output),
	}
	for name, said := range map[string]any{
		"key_ttl_ms": t.KeyTTLMS, "lookup": t.Lookup, "settle_ms": t.SettleMS, "compensate": t.Compensate, "destructive": t.Destructive,
		"approval": t.Approval, "timeout_ms": t.TimeoutMS, "retry": t.Retry,
	} {
		if !reflect.ValueOf(said).IsZero() {
			line[name] = said
		}
	}
	return line
}
