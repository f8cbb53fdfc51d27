package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// casesOf returns what runs the cases of a tool, those below DIR/cases, with a module: the verb "test" of the command, nil where it
// has none. The cases may come and go.
func casesOf(root *cobra.Command, dir, module string) func(context.Context) error {
	verb, _, err := root.Find([]string{"test"})
	if err != nil || verb == root {
		return nil
	}
	return func(ctx context.Context) error {
		cases := filepath.Join(dir, "cases")
		if _, err := os.Stat(cases); err != nil {
			return nil
		}
		if filepath.Base(module) == module {
			module = "./" + module
		}
		if err := verb.ParseFlags([]string{"--cases", cases}); err != nil {
			return err
		}
		verb.SetContext(ctx)
		return verb.RunE(verb, []string{module})
	}
}
