package main

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// compileModule is the verb by which the command starts itself to compile a module.
const compileModule = "compile-module"

// The variables that say how much compiling one module may take.
const (
	envCompileTimeout = "WRUN_COMPILE_TIMEOUT"
	envCompileMemory  = "WRUN_COMPILE_MEMORY"
)

// moreToCompile stands before a command that may take more to compile than it does by default.
const moreToCompile = "WRUN_COMPILE_TIMEOUT=5m WRUN_COMPILE_MEMORY=4GiB "

func newCompileModule(a *app) *cobra.Command {
	return &cobra.Command{
		Use:                compileModule,
		Short:              "Compile one module, for another process of wrun",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			return sandbox.CompilerMain(c.Context(), a.in, a.out, args...)
		},
	}
}

// compileLimits are the limits that a compiler has.
func compileLimits(c wrun.Compiler) (time.Duration, uint64) {
	return cmp.Or(c.Timeout, sandbox.DefaultCompileTimeout), cmp.Or(c.Memory, sandbox.DefaultCompileMemory)
}

// compilerCommand is this program as the compiler of modules, with the limits that the environment gives it.
func compilerCommand() (wrun.Compiler, error) {
	self, err := os.Executable()
	if err != nil {
		return wrun.Compiler{}, fmt.Errorf("find this program, to compile modules with: %w", err)
	}
	c := wrun.Compiler{Command: []string{self, compileModule}}
	if v := os.Getenv(envCompileTimeout); v != "" {
		if c.Timeout, err = time.ParseDuration(v); err != nil || c.Timeout <= 0 {
			return c, &codedError{codeUsage, fmt.Errorf("WRUN_COMPILE_TIMEOUT is %.40q, and has to be a time like 90s or 5m", v)}
		}
	}
	if v := os.Getenv(envCompileMemory); v != "" {
		var memory size
		if err := memory.Set(v); err != nil {
			return c, &codedError{codeUsage, fmt.Errorf("WRUN_COMPILE_MEMORY is %.40q, and has to be a size like 512MiB or 4GiB", v)}
		}
		c.Memory = uint64(memory)
	}
	return c, nil
}
