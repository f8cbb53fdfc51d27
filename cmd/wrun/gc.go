package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
)

func newGC(a *app) *cobra.Command {
	var dry bool
	var keep []string
	c := &cobra.Command{
		Use:   "gc",
		Short: "Remove old finished runs, and what no run needs",
		Long: `Remove blobs that no run names, and what killed processes have left. Runs are removed only where --keep says so: those of a state
that ended longer ago than the time given for it. The states are done, failed and cancelled, each with a time of its own:

  wrun gc --keep done=30d --keep failed=90d

Runs that are not finished stay, as do those of which something is in doubt or came too late, and those whose rollback is not
finished. The id of a removed run stays taken, and what it wrote into stores of tools stays. Others may use the journal meanwhile.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			opts := boltdb.CollectOptions{Undoes: runtime.RollbackOf, DryRun: dry, Keep: map[journal.Status]time.Duration{}}
			for _, k := range keep {
				status, d, err := keepFor(k)
				if err != nil {
					return usage(c, "--keep %s: %v", k, err)
				}
				if _, twice := opts.Keep[status]; twice {
					return usage(c, "--keep %s: %s is given twice", k, status)
				}
				opts.Keep[status] = d
			}
			return a.with(c.Context(), false, func(h *wrun.Host) error { return a.collect(c.Context(), h, opts) })
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "remove nothing, and say what would be removed")
	c.Flags().StringArrayVar(&keep, "keep", nil, "remove the runs of a state that ended longer ago than a time: `STATE=DURATION`, such as done=30d")
	return c
}

// keepable are the states in which a run is finished.
var keepable = []journal.Status{journal.Done, journal.Failed, journal.CancelledUp}

var days = regexp.MustCompile(`^([0-9]{1,5})d$`)

// keepFor reads STATE=DURATION.
func keepFor(s string) (journal.Status, time.Duration, error) {
	state, text, ok := strings.Cut(s, "=")
	if !ok {
		return "", 0, fmt.Errorf("it has to be STATE=DURATION, such as done=30d")
	}
	for _, known := range keepable {
		if state != string(known) {
			continue
		}
		if m := days.FindStringSubmatch(text); m != nil {
			n, err := strconv.Atoi(m[1])
			return known, time.Duration(n) * 24 * time.Hour, err
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return "", 0, fmt.Errorf("%q is no time such as 30d, 12h or 0s", text)
		}
		return known, d, nil
	}
	return "", 0, fmt.Errorf("%q is none of done, failed and cancelled", state)
}

func (a *app) collect(ctx context.Context, h *wrun.Host, opts boltdb.CollectOptions) error {
	did, key := "removed", "removed"
	if opts.DryRun {
		did, key = "would remove", "would_remove"
	}
	told, done := meter(a, func(n boltdb.Collected) string { return fmt.Sprintf("%s %d runs and %d blobs", did, n.Runs, n.Blobs) })
	opts.Progress = told
	var failed error
	opts.OnRemove = func(s *journal.State) {
		done()
		err := a.either(map[string]any{key: s.Run, "status": string(s.Status()), "entries": s.Len, "last": stamp(s.Time)},
			"%s  run %s, %s, last entry %s\n", did, s.Run, s.Status(), clock(s.Time))
		if failed == nil {
			failed = err
		}
	}
	n, err := h.Collect(ctx, opts)
	done()
	if err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	return a.either(map[string]any{"dry_run": opts.DryRun, "runs": n.Runs, "entries": n.Entries, "kept": n.Kept, "blobs": n.Blobs, "blob_bytes": n.BlobBytes, "pinned": n.Pinned, "files": n.Files},
		"runs     %s %d, kept %d that are old enough and not settled\nblobs    %s %d of %s, kept %d that are about to be named\nfiles    %s %d that killed processes left\n",
		did, n.Runs, n.Kept, did, n.Blobs, bytesText(n.BlobBytes), n.Pinned, did, n.Files)
}
