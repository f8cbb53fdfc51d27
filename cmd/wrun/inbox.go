package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

func newInbox(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "inbox",
		Short: "List what waits for a person",
		Long: `List what waits for a person, in all runs: calls that want somebody to agree, questions of tools
and plans, effects of which nobody knows whether they happened, outcomes that came too late to
count, and runs that were restored from a backup. Each with what to type.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.with(c.Context(), false, func(h *wrun.Host) error {
				n := 0
				var failed error
				for item, err := range h.Inbox(c.Context()) {
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
					a.say("nothing waits for anybody")
				}
				return failed
			})
		},
	}
}

// nextOfItem are the commands that deal with an item, one a line.
func (a *app) nextOfItem(i runtime.Item) string {
	switch i.Need {
	case runtime.NeedAnswer:
		return a.answerWith(i)
	case runtime.NeedVerdict:
		return a.settleWith(i.Run, string(i.Step))
	case runtime.NeedLook:
		return a.cmd("log "+i.Run) + "\n" + a.cmd("resolve "+i.Run+" --acknowledge")
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

// itemText is an item as people see it. Tools wrote parts of it.
func (a *app) itemText(i runtime.Item) string {
	var b strings.Builder
	title := map[runtime.Need]string{
		runtime.NeedAnswer: "asks", runtime.NeedVerdict: "outcome unknown", runtime.NeedLook: "too late", runtime.NeedConfirm: "restored",
	}[i.Need]
	fmt.Fprintf(&b, "%s  %s", i.Run, title)
	if i.Step != "" {
		fmt.Fprintf(&b, "  %s", i.Step)
	}
	fmt.Fprintf(&b, "  since %s", clock(i.Since.UnixNano()))
	if !i.Until.IsZero() {
		fmt.Fprintf(&b, ", until %s", clock(i.Until.UnixNano()))
	}
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n  %-6s %s", name, strings.ReplaceAll(text, "\n", "\n         "))
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
	} else if i.Name != "" {
		row("what", i.Name)
	}
	row("text", toolabi.CleanLine(i.Text, 4096))
	row("detail", oneLine(i.Detail))
	row("next", a.nextOfItem(i))
	return b.String() + "\n"
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
	if i.Edited != nil {
		l["agreed_before"] = map[string]any{"by": i.EditedBy, "input": shown(i.Edited)}
	}
	return l
}
