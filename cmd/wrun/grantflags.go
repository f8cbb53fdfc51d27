package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/authority"
	"github.com/wrun-dev/wrun/internal/grantfile"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// grantFlags are the flags with which an operator grants, as they were given.
type grantFlags struct{ given []grantfile.Word }

// grantHelp is what help says about each flag of grantfile.Flags. All but the single ones may be repeated.
var grantHelp = map[string]string{
	"allow-http":      "reach a server: `[METHODS ]ORIGIN[/PATH]`, such as \"POST https://api.example.com/v1/charges\"",
	"allow-net":       "let names lead to addresses that are not public: `CIDR`, such as 10.0.0.0/8",
	"secret":          "send a secret to an origin: `NAME=SOURCE@ORIGIN`[,ORIGIN…]; the source is env:VARIABLE, file:PATH or cmd:PROGRAM ARG…",
	"set":             "set a value for a module: `MODULE.KEY=VALUE`",
	"allow-kv":        "use a store of keys and values: `STORE`[:ro]",
	"allow-artifacts": "keep artifacts, at most so many bytes for a run: `SIZE`",
	"workspace":       "use the files below a directory: `DIR`[:ro]",
	"mail":            "send mail through a server: `SERVER,from=ADDRESS`[,user=NAME,secret=SECRET]",
	"mail-to":         "write to an `ADDRESS`, to @DOMAIN or to *",
	"dir":             "let programs use a directory: `NAME=PATH`[:rw]",
}

// wordFlag is one of the flags.
type wordFlag struct {
	flag  string
	given *[]grantfile.Word
}

func (w wordFlag) String() string { return "" }
func (w wordFlag) Type() string   { return "string" }

// Set implements pflag.Value: what is wrong with a value is said when all of them are there.
func (w wordFlag) Set(value string) error {
	*w.given = append(*w.given, grantfile.Word{Flag: w.flag, Value: value})
	return nil
}

// add adds the flags, and shows them in a group of their own behind the others.
func (g *grantFlags) add(c *cobra.Command) {
	set := pflag.NewFlagSet("grants", pflag.ContinueOnError)
	set.SortFlags = false
	for _, name := range grantfile.Flags() {
		f := set.VarPF(wordFlag{name, &g.given}, name, "", grantHelp[name])
		if name == "allow-artifacts" {
			f.NoOptDefVal = hostfuncs.FormatSize(hostfuncs.DefaultArtifacts)
		}
	}
	c.Flags().AddFlagSet(set)
	others := c.UsageFunc()
	c.SetUsageFunc(func(c *cobra.Command) error {
		set.VisitAll(func(f *pflag.Flag) { f.Hidden = true })
		err := others(c)
		set.VisitAll(func(f *pflag.Flag) { f.Hidden = false })
		if err == nil {
			_, err = fmt.Fprintf(c.OutOrStderr(), "\nGrants (docs/grants.md; those for more than one thing may be repeated):\n%s", set.FlagUsages())
		}
		return err
	})
}

// grants are what the flags grant.
func (g *grantFlags) grants(c *cobra.Command) (grants hostfuncs.Grants, err error) {
	for _, w := range g.given {
		if grants, err = grantfile.With(grants, w); err != nil {
			return grants, usage(c, "--%s: %v", w.Flag, err)
		}
	}
	return grants, nil
}

// text is the flags as they were given, each behind a blank, for a command that is to be typed.
func (g *grantFlags) text() string {
	var b strings.Builder
	for _, w := range g.given {
		b.WriteString(" " + flagText(w.Flag, w.Value))
	}
	return toolabi.CleanLine(b.String(), maxSaid)
}

// operatorGrants are what an operator grants to a run that begins: every run by grants.yaml, and this one by flags.
type operatorGrants struct {
	path        string // of the file
	file, flags hostfuncs.Grants
}

// operatorGrants reads both. Errors: a codedError for the file; *hostfuncs.GrantConflictError when they contradict each other.
func (a *app) operatorGrants(c *cobra.Command, flags *grantFlags) (g operatorGrants, err error) {
	if g.flags, err = flags.grants(c); err != nil {
		return g, err
	}
	dir, err := a.config()
	if err != nil || dir == "" {
		return g, err
	}
	path := filepath.Join(dir, "grants.yaml")
	g.path = path
	text, err := grantfile.ReadTrusted(path)
	var untrusted *grantfile.UntrustedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return g, nil
	case errors.As(err, &untrusted):
		return g, err
	case err != nil:
		return g, fileError(err)
	}
	if g.file, err = grantfile.Parse(text); err != nil {
		return g, &codedError{codeConfig, fmt.Errorf("%s: %w", path, err)}
	}
	if err := g.file.Conflict(g.flags); err != nil {
		return g, fmt.Errorf("%s and the flags: %w", path, err)
	}
	return g, nil
}

// of are the grants to start a run of modules with, or to attach to it: one that is there keeps what it began with, and only what
// flags grant is added to it. Errors: *hostfuncs.GrantConflictError when what a module was added with is contradicted.
func (g operatorGrants) of(ctx context.Context, h *wrun.Host, run string, modules ...runtime.Module) (hostfuncs.Grants, error) {
	_, err := h.Spec(ctx, run)
	switch {
	case err == nil:
		return g.flags, nil
	case !errors.Is(err, journal.ErrNotFound):
		return hostfuncs.Grants{}, err
	}
	for _, m := range modules {
		if err := m.Grants.Conflict(g.file); err != nil {
			return hostfuncs.Grants{}, fmt.Errorf("what %s was added with and %s: %w", m.Manifest.Name, g.path, err)
		}
		if err := m.Grants.Conflict(g.flags); err != nil {
			return hostfuncs.Grants{}, fmt.Errorf("what %s was added with and the flags: %w", m.Manifest.Name, err)
		}
	}
	return g.file.Union(g.flags), nil
}

// noteMissing says under -v what modules ask for and were not granted.
func (a *app) noteMissing(modules []runtime.Module, g hostfuncs.Grants) {
	if !a.verbose {
		return
	}
	for _, m := range modules {
		for _, n := range authority.Missing(&m.Manifest, m.Grants.Union(g)) {
			a.detail("%s wants, and is not granted: %s (%s); %s", m.Name, n.What, flagText(n.Flag, n.Value), toolabi.CleanLine(n.Reason, 300))
		}
	}
}

// flagText is a flag as a shell reads it. What an operator has to fill in stays readable.
func flagText(flag, value string) string {
	switch {
	case value == "":
		return "--" + flag
	case flag == "allow-artifacts": // its value is optional, and so not a word of its own
		return "--" + flag + "=" + value
	}
	return "--" + flag + " " + quoted(value)
}

// grantWords are grants as people see them: the flags that would grant the same.
func grantWords(g hostfuncs.Grants) (words []string) {
	for _, w := range grantfile.Words(g) {
		words = append(words, toolabi.CleanLine(flagText(w.Flag, w.Value), 500))
	}
	return words
}

// grantsText is grantWords on one line.
func grantsText(g hostfuncs.Grants) string {
	if g.IsZero() {
		return "none"
	}
	return strings.Join(grantWords(g), " ")
}
