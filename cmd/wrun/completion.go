package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun"
)

const (
	// completeBusy is how long a completion waits for a journal that another process holds; opening it may take as long again. All of it
	// ends after completeTime, with what was found until then.
	completeBusy = 100 * time.Millisecond
	completeTime = 300 * time.Millisecond
	// completeMost is how many words a completion offers.
	completeMost = 200
)

// words finds what can stand in the place of an argument, behind those that are given. It says nothing of what goes wrong.
type words func(a *app, c *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective)

// arguments are the words that the arguments of verbs can be, by place; the last one is for those behind it too.
var arguments = map[string][]words{
	"run": {filesOf("yaml", "yml")}, "agent": {filesOf("yaml", "yml"), nothing},
	"call":   {modulesAndAdded, toolsOfModule, nothing},
	"resume": {runs(offerGoing), nothing}, "wait": {runs(offerOpen), nothing}, "cancel": {runs(offerOpen), nothing},
	"ls": {runs(offerAny)}, "label": {runs(offerAny), nothing}, "cost": {runs(offerAny), nothing},
	"show": {runsOrFiles, nothing}, "log": {runsOrFiles, nothing}, "replay": {runsOrFiles, nothing}, "diff": {runsOrFiles, runsOrFiles, nothing},
	"approve": {runs(offerAsking), steps(asked), nothing}, "deny": {runs(offerAsking), steps(asked), nothing},
	"resolve": {runs(offerUnclear), steps(doubtful), nothing}, "reconcile": {runs(offerUnclear), nothing},
	"rollback": {runs(offerFinished), nothing}, "fork": {runs(offerAny), nothing},
	"export": {runs(offerAny), files, nothing}, "import": {files, nothing}, "backup": {files, nothing}, "restore": {files, nothing},
	"explain": {codeWords, nothing}, "test": {files, nothing}, "crashtest": {filesOf("yaml", "yml"), nothing},
	"tool new": {nothing, dirs, nothing}, "tool build": {dirs, nothing}, "tool dev": {dirs, nothing}, "tool package": {files, nothing}, "tool wrap": {files},
	"tool inspect": {modulesAndAdded, nothing}, "tool add": {filesOf("wasm", "tar"), nothing}, "tool rm": {added, nothing}, "tool diff": {modulesAndAdded},
}

// flagWords are the words that the values of flags can be, by the flag's name; others are completed with files.
var flagWords = map[string]words{"at": steps(anyStep), "step": steps(anyStep), "artifact": artifacts, "files": dirs, "workspace": dirs, "config": dirs, "jq": nothing}

// complete makes every verb below root know its words.
func (a *app) complete(root *cobra.Command) {
	for _, c := range root.Commands() {
		a.complete(c)
		if places := arguments[strings.TrimPrefix(c.CommandPath(), "wrun ")]; c.ValidArgsFunction == nil && c.ValidArgs == nil {
			c.ValidArgsFunction = func(c *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
				if len(places) == 0 {
					return nothing(a, c, given, word)
				}
				return places[min(len(given), len(places)-1)](a, c, given, word)
			}
		}
	}
	for name, find := range flagWords {
		if root.LocalNonPersistentFlags().Lookup(name) != nil || root.PersistentFlags().Lookup(name) != nil {
			_ = root.RegisterFlagCompletionFunc(name, func(c *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
				return find(a, c, given, word)
			}) // fails for a flag that has one, or is none
		}
	}
}

func nothing(*app, *cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func files(*app, *cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func dirs(*app, *cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// filesOf are files with one of these endings.
func filesOf(endings ...string) words {
	return func(*app, *cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

// runsOrFiles are runs, and files where what is typed can be none.
func runsOrFiles(a *app, c *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.ContainsAny(word, `/\`) {
		return files(a, c, given, word)
	}
	found, _ := runs(offerAny)(a, c, given, word)
	return found, cobra.ShellCompDirectiveKeepOrder
}

// codeWords are the codes of explain, with their titles.
func codeWords(_ *app, _ *cobra.Command, _ []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, k := range codes {
		if strings.HasPrefix(k.id, strings.ToUpper(word)) {
			found = append(found, cobra.CompletionWithDesc(k.id, k.title))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// added are the tools that were added.
func added(a *app, _ *cobra.Command, _ []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	box, err := a.toolbox()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	records, _ := box.List()
	for _, rec := range records {
		if strings.HasPrefix(rec.Name, word) {
			found = append(found, cobra.CompletionWithDesc(rec.Name, "a tool that was added"))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// modulesAndAdded are the tools that were added, and files where there is none of that name.
func modulesAndAdded(a *app, c *cobra.Command, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if found, _ := added(a, c, given, word); len(found) > 0 {
		return found, cobra.ShellCompDirectiveDefault
	}
	return []cobra.Completion{"wasm", "tar"}, cobra.ShellCompDirectiveFilterFileExt
}

// toolsOfModule are the tools of the module that was named.
func toolsOfModule(a *app, _ *cobra.Command, given []string, word string) (found []cobra.Completion, _ cobra.ShellCompDirective) {
	m, err := a.inspect(given[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, t := range m.Manifest.Tools {
		if strings.HasPrefix(t.Name, word) {
			found = append(found, cobra.CompletionWithDesc(t.Name, cutLine(t.Description, 80)))
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// peek opens the journal if it is there, free and of this version, and changes nothing.
func (a *app) peek(ctx context.Context, f func(ctx context.Context, h *wrun.Host) error) {
	path, err := a.journal()
	if err != nil {
		return
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	h, err := wrun.Open(ctx, wrun.Config{Journal: path, BusyTimeout: completeBusy, NoMigrate: true})
	if err != nil {
		return
	}
	_ = f(ctx, h) // what was found until an error is offered
	_ = h.Close()
}
