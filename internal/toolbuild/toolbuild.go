package toolbuild

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// Lang is the language of a tool's sources.
type Lang string

// The languages.
const (
	Go Lang = "Go"
	C  Lang = "C"
)

// manifestFile is where a tool in C says what it is.
const manifestFile = "tool.toml"

// Build returns the module that the sources in dir are made into. Errors: *NothingError, *MissingError, *FailedError; those of
// the file system, of package tooltoml for a tool.toml, and *sandbox.LoadError for a module that could not be loaded.
func Build(ctx context.Context, dir string) ([]byte, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	lang, sources, err := Look(dir)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "wrun-build-")
	if err != nil {
		return nil, fmt.Errorf("make a directory to build in: %w", err)
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, "tool.wasm")
	if lang == C {
		return buildC(ctx, dir, sources, out)
	}
	return buildGo(ctx, dir, out)
}

// Look says what language the sources in dir are in, and which those files are. Errors: *NothingError; those of the file system.
func Look(dir string) (lang Lang, sources []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", nil, err
	}
	var inGo, inC []string
	described := false
	for _, e := range entries { // which are sorted
		switch name := e.Name(); {
		case e.IsDir():
		case name == "go.mod", strings.HasSuffix(name, ".go"):
			inGo = append(inGo, name)
		case strings.HasSuffix(name, ".c"):
			inC = append(inC, "./"+name) // so that no name is an option
		case name == manifestFile:
			described = true
		}
	}
	switch {
	case len(inGo) > 0:
		return Go, inGo, nil
	case len(inC) > 0 && described:
		return C, inC, nil
	}
	return "", nil, &NothingError{Dir: dir, Sources: len(inC) > 0, Described: described}
}

// Test runs the tests of a tool in Go, and returns what they wrote. Errors: *exec.ExitError when they fail; the cause of ctx's end.
func Test(ctx context.Context, dir string) ([]byte, error) {
	return output(ctx, dir, nil, "go", "test", ".")
}

// run runs a compiler in dir. What it writes is part of the error.
func run(ctx context.Context, dir string, env []string, name string, args ...string) error {
	out, err := output(ctx, dir, env, name, args...)
	if err != nil && ctx.Err() == nil {
		err = &FailedError{Dir: dir, Output: string(out), Err: fmt.Errorf("%s: %w", filepath.Base(name), err)}
	}
	return err
}

// lastMoment is how long a program may take to end that was asked to, and for what it started and did not wait for.
const lastMoment = time.Second

// output runs a program in dir and returns what it writes. When ctx ends first, the error is its cause, and nothing is left running.
func output(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = lastMoment
	kill := together(cmd)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		kill()
		return out, context.Cause(ctx)
	}
	return out, err
}

// describeError says which directory an error of a module is about.
func describeError(err error, dir string) error {
	var l *sandbox.LoadError
	if errors.As(err, &l) && l.Module == "" {
		return &sandbox.LoadError{Kind: l.Kind, Module: dir, Err: l.Err}
	}
	return err
}

// found says whether there is a program of this name on the PATH.
func found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// missing keeps of what is wanted what is not there.
func missing(wanted map[string]bool) (names []string) {
	for name, there := range wanted {
		if !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
