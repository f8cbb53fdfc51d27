package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/internal/authority"
)

func newToolDiff(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Show in what module B differs from module A, and whether it can do more",
		Long: `Show in what module B differs from module A: its tools, what they promise, what it asks for, its
limits and imports. Each is a file, or the name of a tool that was added. What is wider, because
the module could do more or less would stand in its way, has an exclamation mark before it.

The exit code is 0 whether they differ or not; with --json, "wider" says whether something is.`,
		Example: "  wrun tool diff payments ./payments-2.wasm",
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			was, err := a.inspect(args[0])
			if err != nil {
				return err
			}
			is, err := a.inspect(args[1])
			if err != nil {
				return err
			}
			changes := authority.Compare(compared(was), compared(is))
			if a.json {
				return a.line(map[string]any{
					"from": was.Digest.String(), "to": is.Digest.String(), "same": was.Digest == is.Digest, "wider": authority.Wider(changes), "changes": orEmpty(changes),
				})
			}
			var b strings.Builder
			for _, l := range changeLines(changes) {
				fmt.Fprintln(&b, l)
			}
			switch {
			case was.Digest == is.Digest:
				a.say("they are the same bytes")
			case len(changes) == 0:
				a.say("they are other bytes, and say the same about themselves")
			}
			return a.printf("%s", b.String())
		},
	}
}
