package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/toolabi"
)

func newVerify(a *app) *cobra.Command {
	var repair, by string
	c := &cobra.Command{
		Use:   "verify",
		Short: "Read a whole journal and say what is wrong with it; repair a copy",
		Long: `Read the whole journal, its file page by page, its logs and its blobs, and say what is wrong with it, by run. Nothing
is changed, and other processes may use it meanwhile. A journal that cannot be opened is read as far as it can be.

With --repair what can be read goes into a new journal: of each run as much as is whole from its beginning. It says what is
missing. The damaged journal stays as it is, and is held until the copy is done. Runs that were not finished are marked: the world
may be further than what is left of their logs, so they do nothing that must not be repeated before somebody says so.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			path, err := a.journal()
			if err != nil {
				return err
			}
			if c.Flags().Changed("repair") {
				if repair == "" || repair == "-" {
					return usage(c, "--repair wants the file of the new journal")
				}
				if by == "" {
					by = userName()
				}
				return a.repairInto(c.Context(), path, repair, by)
			}
			if c.Flags().Changed("by") {
				return usage(c, "--by says who repairs: it goes with --repair")
			}
			return a.verifyJournal(c.Context(), path)
		},
	}
	c.Flags().StringVar(&repair, "repair", "", "make a new journal in `FILE` of what can be read")
	c.Flags().StringVar(&by, "by", "", "who repairs it (default the user)")
	return c
}

// damageError is what verify found, or repair could not keep.
type damageError struct {
	title string
	known []string
	code  code
	next  string
}

func (e *damageError) Error() string { return e.title }

func (a *app) verifyJournal(ctx context.Context, path string) error {
	affected := map[string]bool{}
	var runs []string
	var failed error
	faults, whole := 0, false
	told, done := meter(a, func(n boltdb.Verified) string {
		return fmt.Sprintf("verified %d runs, %d entries, %d blobs", n.Runs, n.Entries, n.Blobs)
	})
	n, err := boltdb.Verify(ctx, path, boltdb.VerifyOptions{BusyTimeout: a.lockTimeout, Progress: told}, func(f journal.Fault) {
		done()
		faults++
		if f.Run == "" {
			whole = true
		} else if !affected[f.Run] {
			affected[f.Run] = true
			runs = append(runs, f.Run)
		}
		if err := a.fault(f); failed == nil {
			failed = err
		}
	})
	done()
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	if err := a.verified(n, faults); err != nil {
		return err
	}
	if faults == 0 {
		return nil
	}
	e := &damageError{code: codeDamaged, title: fmt.Sprintf("%s is damaged in %s", path, number(uint64(faults), "place", "places")), next: a.cmd("verify --repair FILE")}
	if len(runs) > 0 {
		e.known = append(e.known, "runs that are affected: "+some(runs))
	}
	if whole {
		e.known = append(e.known, "what is listed without a run concerns the journal as a whole")
	}
	e.known = append(e.known, "nothing was changed")
	return e
}

// fault writes a line about one thing that is wrong.
func (a *app) fault(f journal.Fault) error {
	text := toolabi.CleanLine(f.Err.Error(), 2048)
	if a.json {
		line := map[string]any{"fault": text}
		if f.Run != "" {
			line["run"], line["seq"] = f.Run, f.Seq
		}
		return a.line(line)
	}
	if f.Run == "" {
		return a.printf("fault    %s\n", text)
	}
	return a.printf("fault    run %s, entry %d: %s\n", toolabi.CleanLine(f.Run, 200), f.Seq, text)
}

func (a *app) verified(n boltdb.Verified, faults int) error {
	if a.json {
		return a.line(map[string]any{"faults": faults, "runs": n.Runs, "removed": n.Removed, "entries": n.Entries, "values": n.Values,
			"blobs": n.Blobs, "blob_bytes": n.BlobBytes, "orphans": n.Orphans, "pages": n.Pages, "bytes": n.Bytes})
	}
	return a.printf("runs     %d, and %d that were removed\nentries  %d\nstate    %s\nblobs    %d of %s, and %d that no entry names\nfile     %s\nfaults   %d\n",
		n.Runs, n.Removed, n.Entries, number(n.Values, "key", "keys"), n.Blobs, bytesText(n.BlobBytes), n.Orphans, bytesText(n.Bytes), faults)
}

func (a *app) repairInto(ctx context.Context, path, to, by string) error {
	told, done := meter(a, func(n boltdb.Repaired) string { return "kept " + number(n.Entries, "entry", "entries") })
	n, err := boltdb.Repair(ctx, path, to, boltdb.RepairOptions{BusyTimeout: a.lockTimeout, By: by, Progress: told})
	done()
	if errors.Is(err, os.ErrExist) {
		return &codedError{codeFile, fmt.Errorf("%w; nothing is replaced, so give another name", err)}
	}
	if err != nil {
		return err
	}
	if err := a.repaired(n); err != nil {
		return err
	}
	of := &app{configDir: a.configDir, journalPath: to}
	if len(n.Dropped) == 0 && len(n.Blobs) == 0 && len(n.Unclear) == 0 && n.LostValues == 0 && !n.Unread {
		a.say("nothing is missing. next: %s", of.cmd("ls --unfinished"))
		return nil
	}
	return &damageError{
		code: codeIncomplete, title: fmt.Sprintf("%s has what could be read, and not everything could", to),
		known: []string{fmt.Sprintf("%s are marked as perhaps older than the world", number(n.Restored, "run", "runs")), path + " was left as it is"},
		next:  of.cmd("verify") + "\n" + of.cmd("ls --unfinished"),
	}
}

// repaired says what a repaired copy has, and what it has not.
func (a *app) repaired(n boltdb.Repaired) error {
	for _, d := range n.Dropped {
		text := toolabi.CleanLine(d.Err.Error(), 2048)
		if err := a.either(map[string]any{"dropped": d.Run, "kept": d.Kept, "of": d.Of, "why": text},
			"dropped  run %s: %d of %d entries were kept: %s\n", toolabi.CleanLine(d.Run, 200), d.Kept, d.Of, text); err != nil {
			return err
		}
	}
	for _, m := range n.Blobs {
		text := toolabi.CleanLine(m.Err.Error(), 2048)
		if err := a.either(map[string]any{"blob": m.Digest.String(), "run": m.Run, "seq": m.Seq, "why": text},
			"missing  run %s, entry %d names blob %s: %s\n", m.Run, m.Seq, m.Digest.Short(), text); err != nil {
			return err
		}
	}
	for _, k := range n.Unclear {
		if err := a.either(map[string]any{"unclear": k.Key, "space": k.Space},
			"unclear  key %s of %s: its value is what a log says, and may be older\n", toolabi.CleanLine(quoted(k.Key), 300), toolabi.CleanLine(quoted(k.Space), 300)); err != nil {
			return err
		}
	}
	if n.Unread {
		if err := a.either(map[string]any{"unread": true}, "unread   a part of the file: runs and keys that were only there are missing, and nobody can say which\n"); err != nil {
			return err
		}
	}
	return a.either(map[string]any{"runs": n.Runs, "removed": n.Removed, "entries": n.Entries, "found": n.Found, "values": n.Values, "lost_values": n.LostValues,
		"restored": n.Restored, "linked": n.Linked, "copied": n.Copied, "dropped_runs": len(n.Dropped), "missing_blobs": len(n.Blobs)},
		"runs     %d, of which %d may be older than the world\nentries  %d, of which %d were found on pages that nothing led to\nstate    %s, and %d values that were damaged\nblobs    %d by link, %d by copy\n",
		n.Runs, n.Restored, n.Entries, n.Found, number(n.Values, "key", "keys"), n.LostValues, n.Linked, n.Copied)
}

// either writes an object with --json, and text otherwise.
func (a *app) either(line map[string]any, format string, args ...any) error {
	if a.json {
		return a.line(line)
	}
	return a.printf(format, args...)
}

// some are the first of many names.
func some(names []string) string {
	const most = 10
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
