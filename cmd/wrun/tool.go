package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

func newTool(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "tool",
		Short: "Build and look at modules",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.verb(newToolBuild(a)), a.verb(newToolWrap(a)), a.verb(newToolInspect(a)))
	return c
}

func newToolInspect(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE.wasm",
		Short: "Show what a module is and what it could do, without running any of it",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			wasm, err := sandbox.ReadFile(args[0])
			if err != nil {
				return err
			}
			m, err := sandbox.Inspect(wasm)
			if err != nil {
				return named(err, args[0])
			}
			if a.json {
				return a.line(moduleLine(m))
			}
			return a.printf("%s", describeModule(m))
		},
	}
}

// describeModule says for people what a module is.
func describeModule(m *sandbox.Module) string {
	var b strings.Builder
	clean := func(s string) string { return toolabi.CleanLine(s, 500) }
	fmt.Fprintf(&b, "module   %s %s\n", m.Manifest.Name, m.Manifest.Version)
	if m.Manifest.Description != "" {
		fmt.Fprintf(&b, "about    %s\n", clean(m.Manifest.Description))
	}
	fmt.Fprintf(&b, "digest   %s\nsize     %d bytes\n", m.Digest, m.Size)
	if m.Manifest.Command != nil {
		describeCommand(&b, m.Manifest.Command)
	}
	for _, t := range m.Manifest.Tools {
		fmt.Fprintf(&b, "\ntool     %s (%s)\n", t.Name, t.Declared())
		if t.Description != "" {
			fmt.Fprintf(&b, "about    %s\n", clean(t.Description))
		}
		if len(t.Input) > 0 {
			fmt.Fprintf(&b, "input    %s\n", clean(string(t.Input)))
		}
		if len(t.Output) > 0 {
			fmt.Fprintf(&b, "output   %s\n", clean(string(t.Output)))
		}
	}
	b.WriteString("\n")
	if m.Manifest.Command != nil {
		describeDirs(&b, m.Manifest.Command, clean)
		fmt.Fprintf(&b, "wasi     %s\n", orNone(m.WASI))
		if len(m.UnlistedWASI) > 0 {
			fmt.Fprintf(&b, "inert    %s (linked, and always refused)\n", strings.Join(m.UnlistedWASI, " "))
		}
		return b.String()
	}
	for _, c := range m.Manifest.Capabilities {
		fmt.Fprintf(&b, "wants    %s, %s\n", c.Name, clean(c.Reason))
		for _, t := range c.Targets {
			fmt.Fprintf(&b, "         to reach %s\n", clean(t))
		}
	}
	fmt.Fprintf(&b, "imports  %s\n", orNone(m.Functions))
	fmt.Fprintf(&b, "wasi     %s\n", orNone(m.WASI))
	if len(m.UnlistedWASI) > 0 {
		fmt.Fprintf(&b, "inert    %s (linked, and always answer ENOSYS)\n", strings.Join(m.UnlistedWASI, " "))
	}
	return b.String()
}

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
func describeDirs(b *strings.Builder, c *toolabi.Command, clean func(string) string) {
	for _, d := range c.Dirs {
		what := "to read"
		if d.Write {
			what = "to read and change"
		}
		fmt.Fprintf(b, "wants    directory %s at %s, %s: %s\n", d.Name, clean(d.Path), what, clean(d.Reason))
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
	return line
}

func toolLine(t toolabi.Tool) map[string]any {
	return map[string]any{
		"name": t.Name, "description": t.Description, "idempotency": t.Declared(),
		"input": shown(t.Input), "output": shown(t.Output),
	}
}
