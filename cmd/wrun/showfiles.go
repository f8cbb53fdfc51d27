package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/toolabi"
)

// writeFiles writes the files of a run, as its log has them, into a directory, and lists them. Nothing is driven.
func (a *app) writeFiles(c *cobra.Command, h *wrun.Host, run, dir string) error {
	if dir == "" {
		return usage(c, "--files: which directory?")
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	files, err := h.WriteFiles(c.Context(), run, path)
	if err != nil {
		return err
	}
	for _, f := range files {
		if a.json {
			err = a.line(map[string]any{"run": run, "path": f.Path, "artifact": f.Artifact.String()})
		} else {
			err = a.printf("%s  %s\n", f.Artifact.Short(), toolabi.CleanLine(f.Path, toolabi.MaxWorkspacePath))
		}
		if err != nil {
			return err
		}
	}
	a.say("run %s: %d files written to %s", run, len(files), path)
	return nil
}
