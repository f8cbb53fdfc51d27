package main

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/runtime/sandbox"
	"github.com/wrun-dev/wrun/toolabi"
)

func newConfig(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show how wrun is configured here",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.verb(&cobra.Command{
		Use:   "show",
		Short: "Show every setting, and where its value comes from",
		Long: `Show every setting with its value, and where that comes from: a flag, an environment variable, or the default.
Nothing is read but whether files are there; "wrun doctor" says whether they are in order. Keys are never
shown, only whether there is one.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.showConfig(c) },
	}))
	return c
}

// setting is a setting with its value and where that comes from: "flag", "environment" or "default", and the name of what says it.
type setting struct{ name, value, from, by string }

func (a *app) showConfig(c *cobra.Command) error {
	settings, err := a.settings(c)
	if err != nil {
		return err
	}
	var text strings.Builder
	rows := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, s := range settings {
		value := toolabi.CleanLine(s.value, 1000)
		if !a.json {
			_, _ = rows.Write([]byte(s.name + "\t" + value + "\t" + strings.TrimSpace(s.from+" "+s.by) + "\n"))
			continue
		}
		l := map[string]any{"setting": s.name, "value": value, "from": s.from}
		if s.by != "" {
			l["by"] = s.by
		}
		if err := a.line(l); err != nil {
			return err
		}
	}
	if err := rows.Flush(); err != nil {
		return err
	}
	return a.printf("%s", text.String())
}

// settings are all of them, in order.
func (a *app) settings(c *cobra.Command) ([]setting, error) {
	journal, err := a.journal()
	if err != nil {
		return nil, err
	}
	config, err := a.config()
	if err != nil {
		return nil, err
	}
	compiler, err := compilerCommand()
	if err != nil {
		return nil, err
	}
	timeout, memory := compileLimits(compiler)
	// said is where a value comes from: the flag, the first of the variables that is set, or the default.
	said := func(name, value, flag string, variables ...string) setting {
		if f := c.Flags().Lookup(flag); f != nil && f.Changed {
			return setting{name, value, "flag", "--" + flag}
		}
		for _, v := range variables {
			if isSet(v) {
				return setting{name, value, "environment", v}
			}
		}
		return setting{name, value, "default", ""}
	}
	file := func(name, file string) setting {
		if config == "" {
			return setting{name, "none: there is no configuration directory", "default", ""}
		}
		path := filepath.Join(config, file)
		s := said(name, path, "config", "XDG_CONFIG_HOME")
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			s.value += " (not there)"
		}
		return s
	}
	budget := cmp.Or(uint64(a.memoryBudget), sandbox.DefaultMemoryBudget())
	return append([]setting{
		said("journal", journal, "journal", "WRUN_JOURNAL", "XDG_STATE_HOME"),
		said("config", cmp.Or(config, "none"), "config", "XDG_CONFIG_HOME"),
		file("policy", "policy.yaml"), file("grants", "grants.yaml"), file("tools", "tools"),
		said("cache", cmp.Or(cachePath(), "none"), "", "WRUN_CACHE", "XDG_CACHE_HOME"),
		said("memory-budget", bytesText(int64(budget)), "memory-budget"),
		said("compile-timeout", timeout.String(), "", envCompileTimeout),
		said("compile-memory", bytesText(int64(memory)), "", envCompileMemory),
		said("lock-timeout", a.lockTimeout.String(), "lock-timeout"),
		said("migrate", map[bool]string{true: "no", false: "yes"}[a.noMigrate], "no-migrate"),
		{"run-quota", "none", "default", "--run-quota of call, run, agent, resume and rollback"},
		{"journal-quota", "none", "default", "--journal-quota of call, run, agent, resume and rollback"},
		said("lock-waits", cmp.Or(os.Getenv(envWaits), "written nowhere"), "", envWaits),
		said("wasi-sdk", cmp.Or(os.Getenv("WASI_SDK_PATH"), "where the system has clang"), "", "WASI_SDK_PATH"),
	}, modelSettings(said)...), nil
}

// modelSettings say which model is asked, and where its key comes from. Neither the key nor a source that cannot be read is shown: it may
// be a key that was put in the wrong place.
func modelSettings(said func(name, value, flag string, variables ...string) setting) []setting {
	source := os.Getenv(envKey)
	key := "of the provider, at its own address"
	if source != "" {
		key = "where it is cannot be read from " + envKey
		if _, err := hostfuncs.SecretSource(source); err == nil {
			kind, rest, _ := strings.Cut(source, ":")
			key = kind + ":" + rest
			if kind == "cmd" {
				key = "cmd: a program"
			} else if kind == "env" {
				key += map[bool]string{true: " (set)", false: " (not set)"}[isSet(rest)]
			}
		}
	}
	baseURL := "the provider's own"
	if text := os.Getenv(envBaseURL); text != "" {
		baseURL = "no address that can be used"
		if u, err := url.Parse(text); err == nil && u.User == nil && u.RawQuery == "" && u.Fragment == "" {
			baseURL = text
		}
	}
	settings := []setting{
		said("model", cmp.Or(os.Getenv(envModel), "what an agent's file says"), "", envModel),
		said("model-base-url", baseURL, "", envBaseURL),
		said("model-key", key, "", envKey),
	}
	for _, v := range environment {
		if v.secret {
			settings = append(settings, said(strings.ToLower(strings.ReplaceAll(v.name, "_", "-")), map[bool]string{true: "set", false: "not set"}[isSet(v.name)], "", v.name))
		}
	}
	return settings
}
