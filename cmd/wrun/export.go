package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
)

func newExport(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "export RUN [FILE]",
		Short: "Write one run into a file, with all that belongs to it",
		Long: `Write one run into a file: its log, its blobs and its modules, RUN.wrun when no other name is given. "wrun show"
and "wrun log" take such a file, and "wrun import" puts it into another journal. - is standard output.

The file holds what the run was given and what came of it. It is readable by its owner alone.`,
		Example: "  wrun export invoice-7\n  wrun show invoice-7.wrun",
		Args:    a.orPick(cobra.RangeArgs(1, 2)),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				run, err := a.runOf(c.Context(), h, first(args), anyRun)
				if err != nil {
					return err
				}
				file := run + ".wrun"
				if len(args) == 2 {
					file = args[1]
				}
				told, done := meter(a, copied("exporting", 0))
				var counts bundle.Counts
				err = a.writeBundle(c, file, force, func(w io.Writer) (err error) {
					counts, err = h.Export(c.Context(), run, w, boltdb.CopyOptions{Progress: told})
					return err
				})
				done()
				if err != nil {
					return err
				}
				return a.bundleWritten(file, counts)
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "replace FILE when it is a bundle that is there")
	return c
}
