package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func newLog(a *app) *cobra.Command {
	var l logReader
	c := &cobra.Command{
		Use:   "log RUN|FILE",
		Short: "Show a run's log, entry by entry",
		Long: `Show a run's log, entry by entry.

FILE is one that "wrun export" wrote, with a / in its path or .wrun at its end: it is looked at where it is,
and imported nowhere.

With -f the log is followed until the run is finished, whatever process drives it. A run that waits, or that nobody
drives, is followed on.`,
		Example: "  wrun log invoice-7 -f\n  wrun log invoice-7 -n 20",
		Args:    a.orPick(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if l.limited = c.Flags().Changed("last"); l.limited && l.last < 0 {
				return usage(c, "--last: want a number of entries, 0 or more")
			}
			if l.follow && namesBundle(first(args)) {
				return usage(c, "%s does not grow: --follow goes with a run of the journal", toolabi.CleanLine(first(args), 300))
			}
			return a.reading(c.Context(), first(args), func(h *wrun.Host, run string) error {
				return a.showLog(c.Context(), h, run, l)
			})
		},
	}
	c.Flags().BoolVarP(&l.follow, "follow", "f", false, "go on with what is appended, until the run is finished")
	c.Flags().Int64VarP(&l.last, "last", "n", 0, "only the last `N` entries; with -f those before what is appended")
	return c
}

// logReader is what of a log is shown.
type logReader struct {
	follow, limited bool
	last            int64
}

func (a *app) showLog(ctx context.Context, h *wrun.Host, run string, l logReader) error {
	from, err := l.from(ctx, h, run)
	if err != nil {
		return err
	}
	entries := h.Journal().Read(ctx, run, from)
	print, flush := a.logTable()
	if l.follow {
		entries, print = h.WatchFrom(ctx, run, from), a.logLine
	}
	for e, err := range entries {
		if err == nil {
			err = a.showEntry(ctx, h, e, print)
		}
		if err != nil {
			return errors.Join(err, flush())
		}
	}
	return flush()
}

// from is the position of the first entry that is shown.
func (l logReader) from(ctx context.Context, h *wrun.Host, run string) (uint64, error) {
	if !l.limited {
		return 0, nil
	}
	for s, err := range h.Journal().List(ctx, journal.Query{Run: run}) {
		return s.Len - min(uint64(l.last), s.Len), err
	}
	return 0, nil // there is none, and reading it says so
}

// showEntry writes an entry: an object with --json, or a line that print writes.
func (a *app) showEntry(ctx context.Context, h *wrun.Host, e journal.Entry, print func(journal.Entry, string) error) error {
	if a.json {
		l, err := entryLine(ctx, h, e)
		if err != nil {
			return err
		}
		return a.line(l)
	}
	detail, err := withInputs(ctx, h, e, detailOf(e))
	if err != nil {
		return err
	}
	return print(e, detail)
}

// logTable writes entries into columns as wide as they have to be, which are there once all of them are known.
func (a *app) logTable() (print func(journal.Entry, string) error, flush func() error) {
	rows := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	return func(e journal.Entry, detail string) error {
		_, err := fmt.Fprintf(rows, "%d\t%s\t%s\t%s\t%s\n", e.Seq, clock(e.Time), e.Kind, e.Step, detail)
		return err
	}, rows.Flush
}

// logLine writes an entry at once, in columns that most entries fit in.
func (a *app) logLine(e journal.Entry, detail string) error {
	return a.printf("%-3d  %s  %-8s  %-12s  %s\n", e.Seq, clock(e.Time), e.Kind, e.Step, detail)
}

// detailOf says in a line what is special about an entry.
func detailOf(e journal.Entry) string {
	words := []string{e.Name}
	switch e.Kind {
	case journal.Intent:
		words = append(words, toolabi.Class(e.Class).String())
	case journal.Result, journal.Late, journal.Finished:
		words = append(words, e.Outcome.String())
		if e.Fuel != 0 {
			words = append(words, "fuel", strconv.FormatUint(e.Fuel, 10))
		}
	case journal.Claimed:
		words = append(words, "by", e.Owner)
	}
	if e.By != "" {
		words = append(words, "by", e.By)
	}
	if e.Note != "" {
		words = append(words, "("+e.Note+")")
	}
	return toolabi.CleanLine(strings.Join(strings.Fields(strings.Join(words, " ")), " "), 400)
}

// withInputs adds the input that a call was agreed to with, beside the one that was shown.
func withInputs(ctx context.Context, h *wrun.Host, e journal.Entry, detail string) (string, error) {
	if e.Kind != journal.Result || e.Outcome != journal.OK || e.Step.Asks() == "" {
		return detail, nil
	}
	body, err := h.Body(ctx, e)
	if err != nil {
		return detail, err
	}
	var yes runtime.Agreed
	if toolabi.Decode(body, &yes) == nil && yes.Input != nil {
		detail += " with input " + toolabi.CutText(oneLine(yes.Input), 400)
	}
	return detail, nil
}

// entryLine is an entry as --json shows it. Fields that are not set are left out.
func entryLine(ctx context.Context, h *wrun.Host, e journal.Entry) (map[string]any, error) {
	body, err := h.Body(ctx, e)
	if err != nil {
		return nil, err
	}
	l := map[string]any{"seq": e.Seq, "time": stamp(e.Time), "kind": e.Kind.String(), "hash": e.Hash.String()}
	set := func(name string, ok bool, value any) {
		if ok {
			l[name] = value
		}
	}
	set("step", e.Step != "", e.Step)
	set("name", e.Name != "", e.Name)
	set("class", e.Class != 0, toolabi.Class(e.Class).String())
	set("module", !e.Module.IsZero(), e.Module.String())
	set("request_digest", !e.Request.IsZero(), e.Request.String())
	set("key", e.Key != "", e.Key)
	set("send_by", e.SendBy != 0, stamp(e.SendBy))
	set("owner", e.Owner != "", e.Owner)
	set("outcome", e.Outcome != 0, e.Outcome.String())
	set("effect", e.Effect != 0, toolabi.EffectState(e.Effect).String())
	set("fuel", e.Fuel != 0, e.Fuel)
	set("by", e.By != "", e.By)
	set("note", e.Note != "", e.Note)
	set("refs", len(e.Refs) > 0, digests(e.Refs))
	set("writes", len(e.Writes) > 0, writeLines(e.Writes))
	set("body", len(body) > 0, bodyOf(e, body))
	return l, nil
}

func digests(refs []journal.Digest) (texts []string) {
	for _, d := range refs {
		texts = append(texts, d.String())
	}
	return texts
}

// writeLines are changes of tool state as --json shows them, without the values.
func writeLines(writes []journal.Write) []map[string]any {
	lines := []map[string]any{}
	for _, w := range writes {
		l := map[string]any{"space": w.Space, "key": w.Key, "replaces": w.Expect}
		if w.Delete {
			l["delete"] = true
		} else {
			l["size"] = len(w.Value)
		}
		lines = append(lines, l)
	}
	return lines
}

// bodyOf decodes the bodies that are messages of the ABI.
func bodyOf(e journal.Entry, body []byte) any {
	failed := e.Outcome == journal.Fail || e.Outcome == journal.Denied
	if (e.Kind == journal.Result || e.Kind == journal.Finished || e.Kind == journal.Late) && failed {
		var t toolabi.Error
		if toolabi.Decode(body, &t) == nil {
			return errorLine(&t)
		}
	}
	if e.Kind == journal.Created {
		var s runtime.Spec
		if toolabi.Decode(body, &s) == nil {
			return specLine(&s)
		}
	}
	if e.Kind == journal.Record && e.Name == runtime.RecordGrants {
		var g hostfuncs.Grants
		if toolabi.Decode(body, &g) == nil {
			return g
		}
	}
	if e.Kind == journal.Record && e.Name == runtime.RecordBudget {
		var b runtime.Budget
		if toolabi.Decode(body, &b) == nil {
			return budgetLine(b)
		}
	}
	if e.Step.Asks() != "" {
		var asked runtime.Shown
		var yes runtime.Agreed
		switch {
		case e.Kind == journal.Intent && toolabi.Decode(body, &asked) == nil:
			return map[string]any{"tool": asked.Tool, "module": asked.Module.String(), "input": shown(asked.Input), "grants": asked.Grants}
		case e.Kind == journal.Result && toolabi.Decode(body, &yes) == nil:
			l := map[string]any{"by": yes.By, "note": yes.Note}
			if yes.Input != nil {
				l["input"] = shown(yes.Input)
			}
			return l
		}
	}
	if e.Name == toolabi.FuncHTTPFetch || e.Name == toolabi.FuncHTTPSend {
		var req toolabi.HTTPRequest
		var reply toolabi.HTTPReply
		switch {
		case e.Kind == journal.Intent && toolabi.Decode(body, &req) == nil:
			return map[string]any{"method": req.Method, "url": req.URL, "body": shown(req.Body)}
		case e.Kind == journal.Result && toolabi.Decode(body, &reply) == nil:
			return map[string]any{"status": reply.Status, "body": shown(reply.Body)}
		}
	}
	return shown(body)
}

// specLine is what a run is made of, as --json shows it.
func specLine(s *runtime.Spec) map[string]any {
	modules := []map[string]any{}
	for _, m := range s.Modules {
		line := map[string]any{"name": m.Name, "manifest": m.Manifest.Name, "version": m.Manifest.Version, "digest": m.Digest.String()}
		if !m.Grants.IsZero() {
			line["grants"] = m.Grants
		}
		modules = append(modules, line)
	}
	return map[string]any{
		"driver": s.Driver, "version": s.Version, "plan": shown(s.Plan), "input": shown(s.Input),
		"modules": modules, "grants": s.Grants, "limits": s.Limits,
	}
}

// errorLine is an error as --json shows it.
func errorLine(t *toolabi.Error) map[string]any {
	l := map[string]any{"code": t.Code.String(), "message": t.Message}
	if t.Detail != "" {
		l["detail"] = t.Detail
	}
	if t.Effect != 0 {
		l["effect"] = t.Effect.String()
	}
	return l
}
