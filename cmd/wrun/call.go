package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

func newCall(a *app) *cobra.Command {
	var id string
	var grants grantFlags
	var waits waitFlags
	var labels labelFlags
	var limits limitFlags
	c := &cobra.Command{
		Use:   "call MODULE NAME [JSON|@FILE|-]",
		Short: "Call one tool of a module",
		Long: `Call one tool of a module and write its output to standard output. MODULE is the file of a module,
with a / in its path or .wasm or .wrun.tar at its end, or the name of one that was added with "wrun tool add".

The call is a run like any other: when the process dies, "wrun resume" goes on with it.
With --id the same call under the same id is not made twice: what came of it is returned.

A program (a module with _start) gets the directories that its manifest asks for and --dir names,
and may change one of them only where both say so.`,
		Example: `  wrun call text.wasm upper '{"text":"hello"}'
  wrun call payments.wasm charge @charge.json --allow-http https://ledger.example.com --id invoice-7
  wrun call payments charge @charge.json
  wrun call convert.wasm run @page.json --dir in=./pages --dir out=./html:rw --stats`,
		Args: cobra.RangeArgs(2, 3),
		RunE: func(c *cobra.Command, args []string) error {
			g, err := a.operatorGrants(c, &grants)
			if err != nil {
				return err
			}
			run, err := runID(c, id, call.Name)
			if err != nil {
				return err
			}
			opts, long, err := waits.options(c)
			if err != nil {
				return err
			}
			named, err := labels.labels(c)
			if err != nil {
				return err
			}
			input, err := a.jsonInput(c.Context(), append(args[2:len(args):len(args)], "{}")[0])
			if err != nil {
				return err
			}
			found, err := a.findModule(args[0])
			if err != nil {
				return err
			}
			if err := checkCall(found.info, args[1], input); err != nil {
				return err
			}
			return a.driving(c.Context(), true, func(h *wrun.Host) error {
				m, err := a.addModule(c.Context(), h, run, found)
				if err != nil {
					return err
				}
				begun, err := g.of(c.Context(), h, run, m)
				if err != nil {
					return err
				}
				return a.begin(c.Context(), h, run, runtime.Spec{
					Driver: call.Name, Version: call.Version, Plan: []byte(m.Name + "." + args[1]),
					Input: input, Modules: []runtime.Module{m}, Grants: begun, Limits: limits.limits(), Labels: named,
				}, g.flags, opts, long)
			})
		},
	}
	c.Flags().StringVar(&id, "id", "", "the run's id (default a new one)")
	c.Flags().BoolVar(&a.stats, "stats", false, "write to standard error how much the call computed, and what it took")
	grants.add(c)
	limits.add(c)
	waits.add(c)
	labels.add(c)
	a.addQuotas(c)
	a.addMetrics(c)
	return c
}

// addModule makes a module known and compiles it, before anything is written about a run of it. A run that is there already may
// be finished, and needs no code.
func (a *app) addModule(ctx context.Context, h *wrun.Host, run string, found foundModule) (runtime.Module, error) {
	m, err := h.AddInspected(found.info)
	if err != nil {
		return m, named(err, found.path)
	}
	m.Grants = found.grants
	if _, err := h.Spec(ctx, run); !errors.Is(err, journal.ErrNotFound) {
		return m, err
	}
	return m, named(h.Prepare(ctx, m), found.path)
}

// checkCall judges a call before anything is written about it.
func checkCall(m *sandbox.Module, tool string, input []byte) error {
	t, ok := m.Manifest.Tool(tool)
	if !ok {
		return &codedError{codeNoTool, fmt.Errorf("module %s has no tool %.80q; it has %s", m.Manifest.Name, tool, strings.Join(toolNames(m.Manifest), ", "))}
	}
	if err := runtime.CheckJSON(t.Input, input); err != nil {
		return toolabi.NewError(toolabi.BadInput, fmt.Sprintf("input of %s.%s: %v", m.Manifest.Name, tool, err))
	}
	return nil
}

// named says which file an error of a module is about.
func named(err error, path string) error {
	if l, ok := err.(*sandbox.LoadError); ok {
		n := *l
		n.Module = path
		return &n
	}
	return err
}
