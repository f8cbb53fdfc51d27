package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newToolRemove(a *app) *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "rm NAME",
		Short: "Forget a tool that was added, and what it was granted",
		Long: `Forget a tool that was added: its bytes, and what they were granted. Runs that began with it keep
both, in the journal: to stop one, cancel it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			box, err := a.toolbox()
			if err != nil {
				return err
			}
			rec, err := box.Find(args[0])
			if err != nil {
				return a.boxError(err)
			}
			a.say("%s %s, digest %s, grants: %s\nRuns that began with it keep its bytes and these grants, in the journal; \"wrun ls\" lists them.",
				rec.Name, rec.Version, rec.Digest.Short(), grantsText(rec.Grants))
			if !yes {
				if !a.canAsk() {
					return &notAskedError{"whether to remove it", a.cmd("tool rm " + rec.Name + " --yes")}
				}
				if err := a.ask(c.Context(), fmt.Sprintf("Remove %s?", rec.Name)); err != nil {
					return err
				}
			}
			if err := box.Remove(rec); err != nil {
				return a.boxError(err)
			}
			if a.json {
				return a.line(recordLine(rec))
			}
			return a.printf("%s is removed\n", rec.Name)
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "remove it without asking")
	return c
}
