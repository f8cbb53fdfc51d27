package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/tooltest"
	"github.com/wrun-dev/wrun/toolabi"
)

// crashOptions reads --crash-points; nil for none. Where no seed is given one is drawn.
func crashOptions(points string, seed uint64, given bool) (*tooltest.CrashOptions, error) {
	opts := &tooltest.CrashOptions{Seed: seed}
	if !given {
		opts.Seed = rand.Uint64()
	}
	switch points {
	case "none":
		return nil, nil
	case "all":
		return opts, nil
	}
	n, err := strconv.ParseUint(points, 10, 31)
	if err != nil || n == 0 {
		return nil, errors.New("want all, none, or how many moments of each case")
	}
	opts.Points = int(n)
	return opts, nil
}

// crashLine is what came of testing a declaration, as JSON.
type crashLine struct {
	File  string                `json:"file"`
	Crash *tooltest.CrashReport `json:"crash"`
}

// testDeclaration tests with a case what its tool declares, and says what came of it.
func (a *app) testDeclaration(ctx context.Context, b *tooltest.Bench, path string, f *toolcase.File, c *toolcase.Case, opts tooltest.CrashOptions) (kept bool, err error) {
	r, err := b.Crash(ctx, f, c, opts)
	if err != nil {
		return false, err
	}
	if a.json {
		return r.Kept(), a.line(crashLine{path, r})
	}
	var text strings.Builder
	text.WriteString(below("crash points: " + r.Summary()))
	for _, n := range r.Notes {
		text.WriteString(below("not tested: " + n))
	}
	for _, l := range r.Lies {
		fmt.Fprintf(&text, "LIE   %s: %s\n\n%s\n\n", filepath.Base(path), r.Case, strings.Join(l.Text(), "\n"))
	}
	return r.Kept(), a.printf("%s", toolabi.CleanText(text.String(), maxLies))
}

// maxLies is how much of a report is shown, in bytes.
const maxLies = 1 << 20
