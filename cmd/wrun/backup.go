package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/bundle"
	"github.com/wrun-dev/wrun/toolabi"
)

func newBackup(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write the whole journal, blobs included, into one file",
		Long: `Write the whole journal, blobs included, into one file: a bundle, which "wrun restore" puts back.
Runs may be driven meanwhile; the backup is of one moment. It is read back before it has its name.
- is standard output, and is not read back.

The file holds what runs were given and what came of them. It is readable by its owner alone.`,
		Example: "  wrun backup wrun-2026-12-01.backup",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				told, done := meter(a, copied("backing up", 0))
				var counts bundle.Counts
				err := a.writeBundle(c, args[0], force, func(w io.Writer) (err error) {
					counts, err = h.Backup(c.Context(), w, boltdb.CopyOptions{Progress: told})
					return err
				})
				done()
				if err != nil {
					return err
				}
				return a.bundleWritten(args[0], counts)
			})
		},
	}
	c.Flags().BoolVar(&force, "force", false, "replace FILE when it is a bundle that is there")
	return c
}

// bundleWritten says what a bundle has that was written.
func (a *app) bundleWritten(file string, n bundle.Counts) error {
	if a.json {
		return a.line(map[string]any{"file": file, "entries": n.Records, "keys": n.Keys, "removed": n.Removed, "blobs": n.Blobs, "blob_bytes": n.BlobBytes})
	}
	a.say("wrote %s: %s, %s, %s of %s", toolabi.CleanLine(file, 300), number(n.Records, "entry", "entries"), number(n.Keys, "key", "keys"),
		number(n.Blobs, "blob", "blobs"), bytesText(int64(n.BlobBytes)))
	return nil
}
