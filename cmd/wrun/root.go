package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// verbs lists the command's verbs in the order in which help shows them.
var verbs = []func(*app) *cobra.Command{
	newCall, newRun, newAgent, newResume,
	newList, newShow, newLog, newReplay, newDiff, newCost, newInbox,
	newApprove, newDeny, newResolve, newReconcile, newCancel, newRollback, newFork,
	newLabel, newWait, newStats,
	newExport, newImport, newBackup, newRestore, newCompact, newVerify, newGC,
	newTool, newTest, newCrashtest,
	newDoctor, newConfig, newBench, newCompletion, newMan,
	newDemo, newDev, newExplain, newVersion, newCompileModule, newCrashtestChild,
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "wrun",
		Short: "Run tools in a sandbox, with a journal: resume what died, repeat nothing",
		Long: `wrun runs tools as WebAssembly modules that can touch only what they were granted,
and writes down in a journal what is about to happen and what came of it. After a
crash, wrun resume serves recorded results instead of entering the module again;
where nobody can know whether an effect took place, it says so and waits.

Results go to standard output, everything else to standard error.

` + exitHelp(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.Version, _ = buildVersions()
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(c, "%v", err) })
	f := root.PersistentFlags()
	f.Var((*fileName)(&a.journalPath), "journal", "the journal's `FILE` (default $WRUN_JOURNAL, else wrun/journal.db in the user's state directory)")
	f.StringVar(&a.configDir, "config", "", "the `DIRECTORY` of the configuration (default wrun in the user's configuration directory)")
	f.Var(&a.memoryBudget, "memory-budget", "how much memory all calls together may hold, such as 512MiB (default half of the machine's, at most 4GiB)")
	a.lockTimeout = 2 * time.Second
	f.Var((*patience)(&a.lockTimeout), "lock-timeout", "how long another process may hold the journal before that is an error that names it")
	f.BoolVar(&a.noMigrate, "no-migrate", false, "leave a journal of an older version as it is, and fail")
	f.Var(&a.colour, "color", "colour standard output `WHEN`: auto, that is on a terminal and without NO_COLOR (the default), always or never")
	f.BoolVar(&a.json, "json", false, "write one JSON object per line")
	a.filter.app = a
	f.Var(&a.filter, "jq", "write what this jq `EXPRESSION` gives of each line of JSON; strings are written as they are")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "say nothing on standard error but errors")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "say every step, and what the tools say, on standard error")
	a.addLogging(f)
	root.MarkFlagsMutuallyExclusive("log-level", "quiet")
	root.MarkFlagsMutuallyExclusive("log-level", "verbose")
	for _, verb := range verbs {
		root.AddCommand(a.verb(verb(a)))
	}
	a.complete(root)
	return root
}

// fileName is a flag that names a file. One that is given and empty, as by a script whose variable is not set, does not stand for the default.
type fileName string

// String returns the name.
func (f *fileName) String() string { return string(*f) }

// Set implements pflag.Value.
func (f *fileName) Set(text string) error {
	if text == "" {
		return errors.New("the FILE has no name")
	}
	*f = fileName(text)
	return nil
}

// Type implements pflag.Value: what stands for the value in help.
func (f *fileName) Type() string { return "FILE" }

// patience is a flag that says how long to wait: a duration of 0 or more.
type patience time.Duration

// String returns the duration as it is written.
func (p *patience) String() string { return time.Duration(*p).String() }

// Set implements pflag.Value. The engine takes 0 for its default, so not to wait at all is to wait for a moment.
func (p *patience) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("want a duration such as 500ms or 10s")
	}
	*p = patience(max(d, time.Nanosecond))
	return nil
}

// Type implements pflag.Value: what stands for the value in help.
func (p *patience) Type() string { return "duration" }

// verb makes mistakes in the arguments of a command errors of usage.
func (a *app) verb(c *cobra.Command) *cobra.Command {
	if args := c.Args; args != nil {
		c.Args = func(c *cobra.Command, given []string) error {
			if err := args(c, given); err != nil {
				return usage(c, "%v", err)
			}
			return nil
		}
	}
	return c
}

// usageError is a command line that cannot be understood.
type usageError struct {
	command string
	text    string
}

func (e *usageError) Error() string { return e.text }

func usage(c *cobra.Command, format string, args ...any) error {
	return &usageError{command: c.CommandPath(), text: fmt.Sprintf(format, args...)}
}

func exitHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, e := range exits {
		fmt.Fprintf(&b, "  %-11s %s\n", e.code, e.meaning)
	}
	return strings.TrimRight(b.String(), "\n")
}
