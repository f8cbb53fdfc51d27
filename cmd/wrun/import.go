package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
)

func newImport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE",
		Short: "Take a run from a file that wrun export wrote",
		Long: `Take a run into the journal from a file that "wrun export" wrote, with all that belongs to it. Everything is
verified. A run that is not finished can be read here, and not driven: that happens where it was exported
from, or things would be done twice. "wrun fork" makes a run of it that can be driven. - is standard input.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			in, err := a.openBundle(args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			if args[0] != "-" && !bundle.Is(args[0]) { // before a journal is made for it
				return fmt.Errorf("import %s: %w", args[0], bundle.ErrForeign)
			}
			return a.with(c.Context(), true, func(h *wrun.Host) error {
				told, done := meter(a, copied("importing", lengthOf(in)))
				r, err := h.Import(c.Context(), in, boltdb.ImportOptions{By: userName(), Progress: told})
				done()
				if err != nil {
					return taken(err)
				}
				if a.json {
					return a.line(map[string]any{"run": r.Run, "entries": r.Entries, "blobs": r.Blobs, "finished": r.Finished, "from": r.From.String()})
				}
				a.say("imported %s: %s, %s", r.Run, number(r.Entries, "entry", "entries"), number(r.Blobs, "blob", "blobs"))
				if !r.Finished {
					a.say("it is not finished: it can be read here, and is driven where it came from")
				}
				return nil
			})
		},
	}
}
