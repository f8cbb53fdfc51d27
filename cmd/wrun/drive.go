package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

// grantFlags are the flags with which an operator grants.
type grantFlags struct{ http []string }

func (g *grantFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&g.http, "allow-http", nil, "let the run reach this `ORIGIN`, such as https://api.example.com (may be repeated)")
}

func (g *grantFlags) grants(c *cobra.Command) (hostfuncs.Grants, error) {
	var grants hostfuncs.Grants
	for _, s := range g.http {
		origin, err := hostfuncs.ParseOrigin(s)
		if err != nil {
			return grants, usage(c, "--allow-http: %v", err)
		}
		grants.HTTP = append(grants.HTTP, origin)
	}
	return grants, nil
}

// runID returns the id that was given, or a new one.
func runID(c *cobra.Command, given, driver string) (string, error) {
	if given == "" && !c.Flags().Changed("id") {
		return newID(driver), nil
	}
	if err := journal.ValidateRun(given); err != nil {
		return "", usage(c, "--id: %v", err)
	}
	return given, nil
}

// newID makes a run id that sorts by time.
func newID(driver string) string {
	var b [4]byte
	rand.Read(b[:]) // never fails, says its documentation
	return driver + "-" + time.Now().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
}

// begin starts a run, or attaches to it, and drives it to its output.
func (a *app) begin(ctx context.Context, h *wrun.Host, id string, spec runtime.Spec, opts runtime.DriveOptions, long time.Duration) error {
	res, err := a.driven(ctx, h, id, long, func() (runtime.Result, error) { return h.Run(ctx, id, spec, opts) })
	return a.ended(id, res, err)
}

// ended says what came of driving a run, and writes its output to standard output.
func (a *app) ended(id string, res runtime.Result, err error) error {
	if res.Replayed {
		a.detail("run %s was finished already; nothing was executed", id)
	} else {
		a.detail("run %s: %d steps executed, %d served from the journal, modules entered %d times", id, res.Counts.Executed, res.Counts.Served, res.Counts.Entered)
	}
	if res.Late > 0 {
		a.say("run %s: %d outcomes of effects came after its end, see %s", id, res.Late, a.cmd("show "+id))
	}
	if err == nil {
		err = a.write(append(res.Output[:len(res.Output):len(res.Output)], '\n'))
	}
	if err != nil {
		return &runError{id, err}
	}
	return nil
}

// runError is an error in driving a run.
type runError struct {
	run string
	err error
}

func (e *runError) Error() string { return e.err.Error() }
func (e *runError) Unwrap() error { return e.err }
