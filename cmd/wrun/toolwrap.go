package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/internal/tooltoml"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

func newToolWrap(a *app) *cobra.Command {
	var manifest, output string
	c := &cobra.Command{
		Use:   "wrap FILE.wasm --manifest tool.toml -o TOOL.wasm",
		Short: "Attach a manifest to a module, or to a program of WASI",
		Long: `Attach a manifest, written as TOML, to a module that does not describe itself, in place of
any it has. The same module and manifest give the same bytes.

A module of ABI 1, in whatever language, becomes a tool so. With [command] in the manifest,
so does an unmodified program of WASI preview 1: its input comes on standard input, its
output is what it writes to standard output. docs/abi.md describes both, and the file.`,
		Example: `  wrun tool wrap esbuild.wasm --manifest esbuild.toml -o minify.wasm`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case manifest == "":
				return usage(c, "which manifest? give the file with --manifest tool.toml")
			case output == "":
				return usage(c, "where to? give the module's new file with -o TOOL.wasm")
			}
			wasm, err := wrapTool(args[0], manifest)
			if err != nil {
				return err
			}
			m, err := sandbox.Inspect(wasm)
			if err != nil {
				return named(err, args[0])
			}
			if err := writeFile(output, wasm); err != nil {
				return err
			}
			if a.json {
				return a.line(moduleLine(m))
			}
			return a.printf("%s  %s %s, digest %s, tools: %s\n", output, m.Manifest.Name, m.Manifest.Version, m.Digest.Short(), strings.Join(toolNames(m.Manifest), ", "))
		},
	}
	c.Flags().StringVar(&manifest, "manifest", "", "read the manifest from this `FILE`")
	c.Flags().StringVarP(&output, "output", "o", "", "write the module to this `FILE`")
	return c
}

// wrapTool returns the module with the manifest.
func wrapTool(module, manifest string) ([]byte, error) {
	text, err := readFile(manifest)
	if err != nil {
		return nil, err
	}
	m, err := tooltoml.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", manifest, err)
	}
	wasm, err := sandbox.ReadFile(module)
	if err != nil {
		return nil, err
	}
	wasm, err = sandbox.AttachManifest(wasm, m)
	return wasm, named(err, module)
}
