package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

func newToolBuild(a *app) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "build DIR",
		Short: "Build a tool written in Go into a module with its manifest",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" {
				abs, err := filepath.Abs(args[0])
				if err != nil {
					return fileError(err)
				}
				output = filepath.Base(abs) + ".wasm"
			}
			wasm, err := a.buildTool(c.Context(), args[0])
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

// buildTool compiles the Go package in dir, asks it for its manifest and attaches that. The same sources give the same
// bytes, wherever they lie.
func (a *app) buildTool(ctx context.Context, dir string) ([]byte, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, fileError(err)
	} else if !info.IsDir() {
		return nil, fileError(fmt.Errorf("%s is not a directory", dir))
	}
	tmp, err := os.MkdirTemp("", "wrun-build-")
	if err != nil {
		return nil, fileError(fmt.Errorf("make a directory to build in: %w", err))
	}
	defer os.RemoveAll(tmp)
	file := filepath.Join(tmp, "tool.wasm")
	goBuild := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-o", file, ".")
	goBuild.Dir = dir
	goBuild.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := goBuild.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		return nil, &codedError{codeBuild, errors.New("building a tool needs the Go toolchain, and there is no go command on the PATH")}
	} else if err != nil {
		fmt.Fprint(a.errOut, toolabi.CleanText(string(out), maxSaid))
		return nil, &codedError{codeBuild, fmt.Errorf("build %s: %w", dir, err)}
	}
	wasm, err := sandbox.ReadFile(file)
	if err != nil {
		return nil, err
	}
	manifest, err := sandbox.Describe(ctx, wasm)
	if err != nil {
		return nil, named(err, dir)
	}
	return sandbox.AttachManifest(wasm, manifest)
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
