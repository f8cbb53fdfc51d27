package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/drivers/rollback"
	engine "github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// app is one use of the command: its streams and the flags that every verb knows.
type app struct {
	in          io.Reader
	out, errOut io.Writer

	journalPath          string
	configDir            string
	memoryBudget         size
	json, quiet, verbose bool
	stats                bool // say what driving took

	saying sync.Mutex // guards errOut while a run is driven, and saved
	saved  []string   // the commands that record replies which could not be recorded
}

// drivers are the drivers of this program, by the names that runs know them by.
func drivers() map[string]engine.DriverInfo {
	return map[string]engine.DriverInfo{call.Name: call.Driver(), plan.Name: plan.Driver(), engine.RollbackDriver: rollback.Driver()}
}

// open opens the journal and what runs need. With create a journal that is missing is made.
func (a *app) open(ctx context.Context, create bool, policy engine.Policy) (*wrun.Host, error) {
	path, err := a.journal()
	if err != nil {
		return nil, err
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	compiler, err := compilerCommand()
	if err != nil {
		return nil, err
	}
	return wrun.Open(ctx, wrun.Config{
		Journal: path, Create: create, Cache: cache, Compiler: compiler, Drivers: drivers(), Policy: policy,
		MemoryBudget: uint64(a.memoryBudget), Observe: a.observe, OnCompile: a.compiling, Rescue: a.rescue,
	})
}

// with opens the journal, calls f, which drives nothing, and closes it. With create a journal that is missing is made.
func (a *app) with(ctx context.Context, create bool, f func(*wrun.Host) error) error {
	return a.opened(ctx, create, nil, f)
}

// driving is with for what drives runs, and so needs the operator's policy.
func (a *app) driving(ctx context.Context, create bool, f func(*wrun.Host) error) error {
	policy, err := a.policy()
	if err != nil {
		return err
	}
	return a.opened(ctx, create, policy, f)
}

func (a *app) opened(ctx context.Context, create bool, policy engine.Policy, f func(*wrun.Host) error) (err error) {
	h, err := a.open(ctx, create, policy)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	return f(h)
}

// journal returns the path of the journal.
func (a *app) journal() (string, error) {
	if a.journalPath != "" {
		return a.journalPath, nil
	}
	if p := os.Getenv("WRUN_JOURNAL"); p != "" {
		return p, nil
	}
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // also when it is not set; the specification says to ignore relative ones
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find a place for the journal: %w; say --journal FILE", err)
		}
		dir = filepath.Join(home, ".local", "state")
		if runtime.GOOS == "windows" {
			dir = filepath.Join(home, "AppData", "Local")
		}
	}
	return filepath.Join(dir, "wrun", "journal.db"), nil
}

// cacheDir is where compiled modules are kept, "" when there is no place for them.
func cacheDir() (string, error) {
	if p := os.Getenv("WRUN_CACHE"); p != "" {
		return p, nil
	}
	dir, err := os.UserCacheDir()
	if err == nil {
		dir = filepath.Join(dir, "wrun", "modules")
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", nil // slower, but not wrong
	}
	return dir, nil
}

// maxSaid is the longest text that is written for people at a time, in bytes. Tools and servers may have a part in it.
const maxSaid = 64 << 10

// say writes a line for people to standard error, without anything that a terminal would act upon.
func (a *app) say(format string, args ...any) {
	if a.quiet {
		return
	}
	a.saying.Lock()
	defer a.saying.Unlock()
	fmt.Fprintln(a.errOut, toolabi.CleanText(fmt.Sprintf(format, args...), maxSaid))
}
