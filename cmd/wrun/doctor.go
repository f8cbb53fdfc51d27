package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/toolabi"
)

// doctorTime is how long doctor waits for all of its checks.
const doctorTime = 2 * time.Second

// health is what a check came to.
type health string

const (
	healthy health = "ok"
	warning health = "warn"
	failing health = "fail"
)

// finding is what a check found: what there is, and what to do about it.
type finding struct {
	health health
	text   string
	next   string
}

func fine(format string, args ...any) finding {
	return finding{health: healthy, text: fmt.Sprintf(format, args...)}
}

// check is one thing that doctor looks at. It changes nothing.
type check struct {
	name string
	look func(a *app, ctx context.Context) finding
}

// checks are what doctor looks at, in order.
var checks = []check{
	{"version", checkVersion},
	{"place", checkPlace}, {"lock", checkLock}, {"journal", checkRuns}, {"space", checkSpace}, {"clock", checkClock},
	{"permissions", checkPermissions}, {"cache", checkCache},
	{"policy", checkPolicy}, {"grants", checkGrants}, {"tools", checkAdded}, {"model", checkModel},
	{"compiler", checkCompiler}, {"instances", checkInstances}, {"environment", checkEnvironment},
}

func newDoctor(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Look at what wrun depends on here, and say what to do where something is not in order",
		Long: `Look at what wrun depends on here: the journal and the disk that it is on, its locks, the clock, who may read and
write what, the configuration, what compiling and running modules takes of the system, and environment
variables. One line for each: ok, warn or fail, with what to do. It changes nothing, and ends after two
seconds at the latest. The exit code is 1 when something fails.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), checks) },
	}
}

func (a *app) doctor(ctx context.Context, checks []check) error {
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	failed := 0
	for _, k := range checks {
		f := a.looked(ctx, k)
		if err := ctx.Err(); errors.Is(err, context.Canceled) {
			return context.Cause(ctx)
		}
		if f.health == failing {
			failed++
		}
		if err := a.sayFinding(k.name, f); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &codedError{codeDoctor, fmt.Errorf("%s failed", number(uint64(failed), "check", "checks"))}
	}
	return nil
}

// looked does a check for as long as the time lasts. A disk that does not answer keeps what looks at it until the process ends.
func (a *app) looked(ctx context.Context, k check) finding {
	if ctx.Err() != nil {
		return finding{warning, "not looked at: the time was used up before", ""}
	}
	found := make(chan finding, 1)
	go func() { found <- k.look(a, ctx) }()
	select {
	case f := <-found:
		return f
	case <-ctx.Done():
		return finding{failing, fmt.Sprintf("no answer within %s", doctorTime), "look at the disk and at the processes that use it"}
	}
}

func (a *app) sayFinding(name string, f finding) error {
	text, next := toolabi.CleanLine(f.text, 1000), toolabi.CleanLine(f.next, 500)
	if a.json {
		l := map[string]any{"check": name, "state": string(f.health), "text": text}
		if next != "" {
			l["next"] = next
		}
		return a.line(l)
	}
	if next != "" {
		next = fmt.Sprintf("      %-12s next: %s\n", "", next)
	}
	return a.printf("%-4s  %-12s %s\n%s", f.health, name, text, next)
}

func checkVersion(*app, context.Context) finding {
	v, wazero := buildVersions()
	return fine("wrun %s, %s %s/%s, wazero %s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH, wazero)
}

func checkEnvironment(*app, context.Context) finding {
	set, unknown := setVariables(os.Environ())
	switch {
	case len(unknown) > 0:
		return finding{warning, fmt.Sprintf("wrun knows no %s; set are %s", some(unknown), orNone(set)), "docs/configuration.md lists what it knows"}
	case len(set) == 0:
		return fine("nothing of it is set")
	}
	return fine("set are %s", some(set))
}
