package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/journal"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which version this is, and of what",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v, wazero := buildVersions()
			if a.json {
				return a.line(map[string]any{
					"version": v, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
					"wazero": wazero, "abi": 1, "schema": journal.Schema,
				})
			}
			return a.printf("%s", fmt.Sprintf("wrun %s\nsandbox abi 1, wazero %s\njournal schema %d\n%s %s/%s\n",
				v, wazero, journal.Schema, runtime.Version(), runtime.GOOS, runtime.GOARCH))
		},
	}
}

// buildVersions returns the versions that the build recorded.
func buildVersions() (wrun, wazero string) {
	wrun, wazero = "(devel)", "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return wrun, wazero
	}
	if info.Main.Version != "" {
		wrun = info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == "github.com/tetratelabs/wazero" {
			wazero = d.Version
		}
	}
	return wrun, wazero
}
