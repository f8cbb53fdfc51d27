package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/internal/screen"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func newInbox(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "inbox [RUN]",
		Short: "List what waits for a person",
		Long: `List what waits for a person, in all runs or in one: calls that want somebody to agree, questions of tools
and plans, effects of which nobody knows whether they happened, outcomes that came too late to
count, runs that were restored from a backup, that have taken as much as they may, that diverged
from their log, or that crashed again and again. Each with what is known and what to type.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				items := h.Inbox(c.Context())
				nothing := "nothing waits for anybody"
				if len(args) == 1 {
					run, err := a.runArg(c.Context(), h, args[0])
					if err != nil {
						return err
					}
					items, nothing = itemsOf(c.Context(), h, run), "nothing of run "+run+" waits for anybody"
				}
				return a.listItems(items, nothing)
			})
		},
	}
}

// itemsOf yields what waits in one run.
func itemsOf(ctx context.Context, h *wrun.Host, run string) iter.Seq2[runtime.Item, error] {
	return func(yield func(runtime.Item, error) bool) {
		items, err := h.InboxOf(ctx, run)
		if err != nil {
			yield(runtime.Item{}, &runError{run, err})
			return
		}
		for _, i := range items {
			if !yield(i, nil) {
				return
			}
		}
	}
}

func (a *app) listItems(items iter.Seq2[runtime.Item, error], nothing string) error {
	n := 0
	var failed error
	for item, err := range items {
		if err != nil && item.Run != "" { // the others are not kept back by it
			a.say("run %s: %s", item.Run, toolabi.CleanLine(err.Error(), 2048))
			failed, n = &runError{item.Run, err}, n+1
			continue
		}
		if err != nil {
			return err
		}
		n++
		if a.json {
			err = a.line(a.itemLine(item))
		} else {
			err = a.printf("%s\n", a.itemText(item))
		}
		if err != nil {
			return err
		}
	}
	if n == 0 {
		a.say("%s", nothing)
	}
	return failed
}

// nextOfItem are the commands that deal with an item, one a line.
func (a *app) nextOfItem(i runtime.Item) string {
	switch i.Need {
	case runtime.NeedAnswer:
		if i.Expired {
			return a.cmd("resume " + i.Run)
		}
		return a.answerWith(i)
	case runtime.NeedVerdict:
		return a.settleWith(i.Run, string(i.Step))
	case runtime.NeedLook:
		return a.cmd("log "+i.Run) + "\n" + a.cmd("resolve "+i.Run+" --acknowledge")
	case runtime.NeedLimit:
		return a.raiseAfter(i.Run, i.Text)
	case runtime.NeedDiverged:
		return a.cmd("show "+i.Run) + "\n" + a.cmd("resume "+i.Run) + "\n" + a.cmd("cancel "+i.Run)
	case runtime.NeedCrashes:
		return a.cmd("show "+i.Run) + "\n" + a.cmd("resume "+i.Run) + "\n" + a.cmd("cancel "+i.Run)
	}
	return a.cmd("show "+i.Run) + "\n" + a.cmd("resolve "+i.Run+" --confirm")
}

// answerWith are the two commands that answer a question.
func (a *app) answerWith(i runtime.Item) string {
	shown := ""
	if i.Again {
		shown = " --shown " + i.Shown.Short()
	}
	return a.answerStep(i.Run, i.Step, shown)
}

// titles are the needs as people see them.
var titles = map[runtime.Need]string{
	runtime.NeedAnswer: "asks", runtime.NeedVerdict: "outcome unknown", runtime.NeedLook: "too late", runtime.NeedConfirm: "restored",
	runtime.NeedLimit: "limit reached", runtime.NeedDiverged: "diverged", runtime.NeedCrashes: "crashes",
}

// itemText is an item as people see it. Tools wrote parts of it.
func (a *app) itemText(i runtime.Item) string {
	var b strings.Builder
	paint := a.paint()
	title := paint.Yellow(titles[i.Need])
	if i.Need == runtime.NeedVerdict {
		title = paint.Red(titles[i.Need])
	}
	fmt.Fprintf(&b, "%s  %s", paint.Bold(i.Run), title)
	if i.Step != "" {
		fmt.Fprintf(&b, "  %s", i.Step)
	}
	fmt.Fprintf(&b, "  since %s", clock(i.Since.UnixNano()))
	if i.Expired {
		fmt.Fprintf(&b, ", expired %s", clock(i.Until.UnixNano()))
	} else if !i.Until.IsZero() {
		fmt.Fprintf(&b, ", until %s", clock(i.Until.UnixNano()))
	}
	width := max(a.columns()-9, 20)
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n  %-6s %s", name, strings.Join(short(screen.Wrap(text, width), 12), "\n         "))
		}
	}
	if i.Call != nil {
		row("call", i.Call.Tool+" "+oneLine(i.Call.Input))
		row("module", i.Call.Module.String())
		row("grants", strings.Join(grantWords(i.Call.Grants), " "))
		row("shown", i.Shown.Short())
		if i.Edited != nil {
			row("before", "agreed to by "+toolabi.CleanLine(i.EditedBy, 200)+" with input "+oneLine(i.Edited))
		}
	} else if i.Need == runtime.NeedVerdict {
		row("what", toolabi.CleanLine(inside(i)+" "+i.Text, 1000))
	} else if i.Name != "" {
		row("what", toolabi.CleanLine(i.Name, 300))
	}
	if i.Need != runtime.NeedVerdict {
		row("text", toolabi.CleanLine(i.Text, 4096))
	}
	row("detail", oneLine(i.Detail))
	if i.Need == runtime.NeedVerdict {
		row("sends", toolabi.CutText(oneLine(sentBody(i.Request)), 600))
		row("key", i.Key)
		row("known", knownOf(i))
	}
	row("note", noteOf(i))
	fmt.Fprintf(&b, "\n  next   %s", strings.ReplaceAll(a.nextOfItem(i), "\n", "\n         "))
	return b.String() + "\n"
}

// inside is what an effect in doubt calls, and for which tool.
func inside(i runtime.Item) string {
	if i.Tool == "" || i.Tool == i.Name {
		return i.Name
	}
	return i.Tool + ": " + i.Name
}

// sentBody is what of a request says most: its body, where it has one.
func sentBody(request []byte) []byte {
	var fields struct {
		Body json.RawMessage `json:"body"`
	}
	if doc := opened(request); json.Unmarshal(doc, &fields) == nil && len(fields.Body) > 0 && string(fields.Body) != "null" {
		return fields.Body
	}
	return request
}

// knownOf says when an effect in doubt was announced, and how far it is known to have come.
func knownOf(i runtime.Item) string {
	text := fmt.Sprintf("announced %s for a request of %d bytes, to leave before %s; ", clock(i.Since.UnixNano()), i.Bytes, clock(i.SendBy.UnixNano()))
	if i.Why != "" {
		text += toolabi.CleanLine(i.Why, 500) + "; "
	}
	if i.Evidence == nil || i.Evidence.Err == nil {
		return text + "the process ended: it may have been sent; no response is recorded"
	}
	return text + evidence(i.Evidence) + "; no response is recorded"
}

// noteOf says what cannot be done about an item, or what can.
func noteOf(i runtime.Item) string {
	switch {
	case i.Expired:
		return "the time for a yes is over; a resume goes on with a no"
	case i.Need == runtime.NeedDiverged:
		return "nothing is executed; it goes on with what it began with, or can be cancelled or forked"
	case i.Need == runtime.NeedCrashes:
		return "nothing goes on with it by itself any more"
	}
	return ""
}

func (a *app) itemLine(i runtime.Item) map[string]any {
	l := map[string]any{"run": i.Run, "need": i.Need, "since": stamp(i.Since.UnixNano()), "next": strings.Split(a.nextOfItem(i), "\n")}
	set := func(name string, ok bool, value any) {
		if ok {
			l[name] = value
		}
	}
	set("step", i.Step != "", i.Step)
	set("name", i.Name != "", i.Name)
	set("text", i.Text != "", i.Text)
	if !i.Until.IsZero() {
		l["until"] = stamp(i.Until.UnixNano())
	}
	set("shown", !i.Shown.IsZero(), i.Shown.String())
	set("detail", len(i.Detail) > 0, json.RawMessage(i.Detail))
	if i.Call != nil {
		l["call"] = map[string]any{
			"tool": i.Call.Tool, "module": i.Call.Module.String(), "input": shown(i.Call.Input), "grants": i.Call.Grants,
		}
	}
	set("expired", i.Expired, true)
	set("in", i.Tool != "", i.Tool)
	set("request", len(i.Request) > 0, json.RawMessage(i.Request))
	set("request_bytes", i.Bytes != 0, i.Bytes)
	set("key", i.Key != "", i.Key)
	if !i.SendBy.IsZero() {
		l["send_by"] = stamp(i.SendBy.UnixNano())
	}
	if i.Evidence != nil && i.Evidence.Err != nil {
		l["known"] = map[string]any{"error": errorLine(i.Evidence.Err), "sent": i.Evidence.Sent}
	}
	set("why", i.Why != "", i.Why)
	set("crashes", i.Crashes != 0, i.Crashes)
	if i.Edited != nil {
		l["agreed_before"] = map[string]any{"by": i.EditedBy, "input": shown(i.Edited)}
	}
	return l
}
