package main

import (
	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

func newCompact(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Give back what is free in the journal's file",
		Long: `Write the journal's file anew, without what is free in it, and put it in the place of the old one. Runs may
be driven meanwhile. There has to be room for both for as long as it takes. Nothing is removed: "wrun gc"
does that.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				told, done := meter(a, copied("compacting", 0))
				r, err := h.Compact(c.Context(), boltdb.CopyOptions{Progress: told})
				done()
				if err != nil {
					return err
				}
				if a.json {
					return a.line(map[string]any{"before": r.Before, "after": r.After})
				}
				a.say("the journal had %s and has %s", bytesText(r.Before), bytesText(r.After))
				return nil
			})
		},
	}
}
