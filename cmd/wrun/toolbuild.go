package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/internal/toolbuild"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

func newToolBuild(a *app) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Build a tool written in Go or C into a module with its manifest",
		Long: `Build the tool whose sources lie in a directory, or in this one, into a module with its manifest. Go sources are built
with the go command, and describe themselves through the SDK. Sources in C, beside a tool.toml that
describes them, are built with clang and wasi-libc.

The same sources and compiler give the same bytes, wherever the directory lies: a module is known by
the digest of its bytes.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir := orHere(args)
			if output == "" {
				abs, err := filepath.Abs(dir)
				if err != nil {
					return fileError(err)
				}
				output = filepath.Base(abs) + ".wasm"
			}
			wasm, err := a.buildTool(c.Context(), dir)
			if err != nil {
				return err
			}
			if err := writeFile(output, wasm); err != nil {
				return err
			}
			m, err := sandbox.Inspect(wasm)
			if err != nil {
				return named(err, output)
			}
			if a.json {
				return a.line(moduleLine(m))
			}
			return a.printf("%s  %s %s, digest %s, tools: %s\n", output, m.Manifest.Name, m.Manifest.Version, m.Digest.Short(), strings.Join(toolNames(m.Manifest), ", "))
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "write the module to this `FILE` (default DIR.wasm)")
	return c
}

// orHere is the argument of a command that takes one, the working directory where it was not given.
func orHere(args []string) string {
	if len(args) == 0 {
		return "."
	}
	return args[0]
}

// buildTool builds the tool in dir, whatever it is written in. The same sources give the same bytes, wherever they lie. What a
// compiler says goes to standard error.
func (a *app) buildTool(ctx context.Context, dir string) ([]byte, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fileError(err)
	} else if !info.IsDir() {
		return nil, fileError(fmt.Errorf("%s is not a directory", dir))
	}
	wasm, err := toolbuild.Build(ctx, dir)
	var failed *toolbuild.FailedError
	if errors.As(err, &failed) {
		a.saying.Lock()
		fmt.Fprint(a.errOut, toolabi.CleanText(failed.Output, maxSaid))
		a.saying.Unlock()
	}
	return wasm, err
}

// writeFile replaces a file as a whole, or leaves it as it is.
func writeFile(path string, content []byte) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fileError(fmt.Errorf("%s is a directory", path))
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".wrun-*")
	if err != nil {
		return fileError(err)
	}
	defer os.Remove(f.Name()) // once it is renamed there is nothing of that name
	_, err = f.Write(content)
	if chmodErr := f.Chmod(0o644); err == nil {
		err = chmodErr
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fileError(err)
	}
	return nil
}
