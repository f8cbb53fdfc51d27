package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/journal/boltdb"
)

func newRestore(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of the journal",
		Long: `Put a backup in the place of the journal that --journal or WRUN_JOURNAL name. All of it is verified before
anything is replaced. - is standard input.

The journal may then be older than the world: what a run did after the backup was made is not in it. So
every run that is not finished is marked as restored, and does nothing that must not be repeated until
somebody has looked, and says "wrun resolve RUN --confirm".`,
		Example: "  wrun restore wrun-2026-12-01.backup --journal elsewhere/journal.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			path, err := a.journal()
			if err != nil {
				return err
			}
			in, err := a.openBundle(args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			told, done := meter(a, copied("restoring", lengthOf(in)))
			r, err := boltdb.Restore(c.Context(), path, in, boltdb.RestoreOptions{
				Force: force, By: userName(), Note: fmt.Sprintf("restored from %.300s", args[0]), BusyTimeout: a.lockTimeout, Progress: told,
			})
			done()
			if err != nil {
				return err
			}
			if a.json {
				l := map[string]any{"journal": path, "made": stamp(r.Made.UnixNano()), "entries": r.Counts.Records, "unfinished": r.Unfinished}
				if r.Kept != "" {
					l["kept"] = r.Kept
				}
				return a.line(l)
			}
			a.say("restored %s: a backup of %s", path, r.Made.Format(time.DateTime))
			if r.Kept != "" {
				a.say("the journal that was there is %s now", r.Kept)
			}
			if r.Unfinished > 0 {
				a.say("runs that are not finished: %d; what they do next may have happened already: %s", r.Unfinished, a.cmd("ls"))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&force, "force", false, "put a journal that is there aside, under another name")
	return c
}
