package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/drivers/rollback"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/telemetry"
	"github.com/wrun-dev/wrun/journal/boltdb"
	engine "github.com/wrun-dev/wrun/runtime"
)

// app is one use of the command: its streams and the flags that every verb knows.
type app struct {
	in          io.Reader
	out, errOut io.Writer

	journalPath          string
	configDir            string
	memoryBudget         size
	runQuota             size
	journalQuota         size
	lockTimeout          time.Duration
	noMigrate            bool
	json, quiet, verbose bool
	colour               colour
	filter               filter // what lines of JSON go through
	stats                bool   // say what driving took
	keeping              bool   // the verb is one of upkeep
	several              bool   // the verb drives several runs
	bundled              bool   // the run is out of a bundle, and cannot be gone on with

	logJSON  atomic.Bool // records are said, and not text; a signal can come at any time
	warnings bool        // no less than a warning is said

	metricsListen string
	metricsServer *http.Server        // nil for none
	telemetry     *telemetry.Observer // nil where nobody wants it

	begun sync.Once // guards the making of lines
	lines *live     // what is drawn while something is done; nil for nothing

	saying sync.Mutex // guards errOut while a run is driven, and waits
	waits  waits      // for the journal
}

// drivers are the drivers of this program, by the names that runs know them by. Models' keys come from the vault.
func (a *app) drivers(vault *hostfuncs.Vault) map[string]engine.DriverInfo {
	return map[string]engine.DriverInfo{
		call.Name: call.Driver(), plan.Name: plan.Driver(), engine.RollbackDriver: rollback.Driver(),
		agent.Name: agent.Driver(agent.Config{Connect: a.connect(vault)}),
	}
}

// with opens the journal, calls f, which enters nothing, and closes it. With create a journal that is missing is made.
func (a *app) with(ctx context.Context, create bool, f func(*wrun.Host) error) error {
	return a.opened(ctx, wrun.Config{Create: create}, f)
}

// driving is with for what drives runs, and so needs the operator's policy and a place for compiled code.
func (a *app) driving(ctx context.Context, create bool, f func(*wrun.Host) error) error {
	policy, err := a.policy()
	if err != nil {
		return err
	}
	cfg, err := entering()
	if err != nil {
		return err
	}
	if err := a.startTelemetry(); err != nil {
		return err
	}
	cfg.Create, cfg.Policy = create, policy
	return a.opened(ctx, cfg, f)
}

// entering is the configuration of what enters modules.
func entering() (wrun.Config, error) {
	compiler, err := compilerCommand()
	return wrun.Config{Cache: cacheDir(), Compiler: compiler}, err
}

func (a *app) opened(ctx context.Context, cfg wrun.Config, f func(*wrun.Host) error) (err error) {
	if cfg.Journal, err = a.journal(); err != nil {
		return err
	}
	h, err := wrun.Open(ctx, a.configured(cfg))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	defer a.sayWaits()
	if err := a.observeIn(h); err != nil {
		return err
	}
	return f(h)
}

// configured is cfg with what the flags say.
func (a *app) configured(cfg wrun.Config) wrun.Config {
	cfg.OnWait = a.waited
	cfg.BusyTimeout, cfg.NoMigrate, cfg.OnMigrate = a.lockTimeout, a.noMigrate, a.migrating
	cfg.HTTP.Secrets = hostfuncs.NewVault(nil)
	cfg.Drivers, cfg.MemoryBudget = a.drivers(cfg.HTTP.Secrets), uint64(a.memoryBudget)
	cfg.RunQuota, cfg.JournalQuota = a.runQuota.bytes(), a.journalQuota.bytes()
	cfg.Observe, cfg.OnCompile = a.observe, a.compiling
	return cfg
}

// migrating says that the journal is brought to the present schema.
func (a *app) migrating(m boltdb.Migration) {
	a.say("the journal has schema %d and is brought to %d; as it was it stays in %s", m.From, m.To, m.Kept)
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

// cachePath is where compiled modules are kept, "" when there is no place for them.
func cachePath() string {
	if p := os.Getenv("WRUN_CACHE"); p != "" {
		return p
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "wrun", "modules")
}

// cacheDir is cachePath where modules can be written to it by default, else "": slower, but not wrong.
func cacheDir() string {
	dir := cachePath()
	if dir == "" || os.Getenv("WRUN_CACHE") != "" {
		return dir
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ""
	}
	probe, err := os.MkdirTemp(dir, "view-") // as what a killed process leaves, which is swept
	if err != nil {
		return ""
	}
	_ = os.Remove(probe)
	return dir
}

// maxSaid is the longest text that is written for people at a time, in bytes. Tools and servers may have a part in it.
const maxSaid = 64 << 10
