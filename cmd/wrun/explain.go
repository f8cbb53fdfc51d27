package main

import (
	"strings"

	"github.com/spf13/cobra"
)

func newExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Say what an error code means and what to do",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			for _, k := range codes {
				switch {
				case len(args) == 0 && a.json, len(args) == 1 && a.json && strings.EqualFold(args[0], k.id):
					if err := a.line(map[string]any{"code": k.id, "exit": k.exit, "title": k.title, "text": strings.TrimSpace(k.text)}); err != nil {
						return err
					}
				case len(args) == 0:
					if err := a.printf("%s  exit %-3d %s\n", k.id, k.exit, k.title); err != nil {
						return err
					}
				case strings.EqualFold(args[0], k.id):
					if err := a.printf("%s: %s (exit code %d)\n\n%s\n", k.id, k.title, k.exit, strings.TrimSpace(k.text)); err != nil {
						return err
					}
				default:
					continue
				}
				if len(args) == 1 {
					return nil
				}
			}
			if len(args) == 1 {
				return usage(c, "there is no code %.20q; without a code, all are listed", args[0])
			}
			return nil
		},
	}
}
