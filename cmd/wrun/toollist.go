package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/internal/toolbox"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

func newToolList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the tools that were added, with what they are granted",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			box, err := a.toolbox()
			if err != nil {
				return err
			}
			records, err := box.List()
			if err != nil {
				return a.boxError(err)
			}
			return a.listTools(box, records)
		},
	}
}

func (a *app) listTools(box toolbox.Box, records []grantfile.Record) error {
	if a.json {
		for _, rec := range records {
			line := recordLine(rec)
			tools, wrong := toolsOf(box, rec)
			line["tools"] = orEmpty(tools)
			if wrong != nil {
				line["problem"] = wrong.Error()
			}
			if err := a.line(line); err != nil {
				return err
			}
		}
		return nil
	}
	var b strings.Builder
	rows := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, rec := range records {
		tools, wrong := toolsOf(box, rec)
		text := strings.Join(tools, ", ")
		if wrong != nil {
			text = "cannot be used: " + wrong.Error()
		}
		fmt.Fprintf(rows, "%s\t%s\t%s\t%s\t%s\n", rec.Name, toolabi.CleanLine(rec.Version, 200), rec.Digest.Short(), toolabi.CleanLine(text, 500), grantsText(rec.Grants))
	}
	if err := rows.Flush(); err != nil {
		return err
	}
	return a.printf("%s", b.String())
}

// toolsOf returns the names of a module's tools, or why it cannot be used.
func toolsOf(box toolbox.Box, rec grantfile.Record) ([]string, error) {
	wasm, err := box.Module(rec)
	if err != nil {
		return nil, err
	}
	m, err := sandbox.InspectCached(wasm, cachePath())
	if err != nil {
		return nil, err
	}
	return toolNames(m.Manifest), nil
}

// recordLine is what is remembered of a tool, as --json shows it.
func recordLine(rec grantfile.Record) map[string]any {
	return map[string]any{
		"name": rec.Name, "version": rec.Version, "digest": rec.Digest.String(), "file": rec.File, "added": rec.Added.Format(time.RFC3339),
		"grants": rec.Grants,
	}
}
