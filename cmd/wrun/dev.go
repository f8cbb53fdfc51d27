package main

import "github.com/spf13/cobra"

func newDev(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "dev",
		Short: "Stand-ins for the world outside, to try things with",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, verb := range []func(*app) *cobra.Command{newDevFakeModel} {
		c.AddCommand(a.verb(verb(a)))
	}
	return c
}
