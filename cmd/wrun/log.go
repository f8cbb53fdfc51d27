package main

import (
	"context"
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
	return &cobra.Command{
		Use:   "log RUN|FILE",
		Short: "Show a run's log, entry by entry",
		Long: `Show a run's log, entry by entry.

FILE is one that "wrun export" wrote, with a / in its path or .wrun at its end: it is looked at where it is,
and imported nowhere.`,
		Args: a.orPick(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return a.reading(c.Context(), first(args), func(h *wrun.Host, run string) error {
				rows := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
				for e, err := range h.Journal().Read(c.Context(), run, 0) {
					if err != nil {
						rows.Flush()
						return err
					}
					if a.json {
						l, err := entryLine(c.Context(), h, e)
						if err != nil {
							return err
						}
						if err := a.line(l); err != nil {
							return err
						}
						continue
					}
					detail := detailOf(e)
					if detail, err = withInputs(c.Context(), h, e, detail); err != nil {
						rows.Flush()
						return err
					}
					fmt.Fprintf(rows, "%d\t%s\t%s\t%s\t%s\n", e.Seq, clock(e.Time), e.Kind, e.Step, detail)
				}
				return rows.Flush()
			})
		},
	}
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
