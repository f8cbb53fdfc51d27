package main

import (
	"os"
	"slices"
	"strings"
)

// variable is an environment variable that the command reads.
type variable struct {
	name string
	// secret says that the value is never shown.
	secret bool
}

// environment lists them. docs/configuration.md says what each one means.
var environment = []variable{
	{name: "WRUN_JOURNAL"}, {name: "WRUN_CACHE"}, {name: envCompileTimeout}, {name: envCompileMemory},
	{name: envModel}, {name: envBaseURL}, {name: envKey}, {name: envWaits},
	{name: "XDG_STATE_HOME"}, {name: "XDG_CONFIG_HOME"}, {name: "XDG_CACHE_HOME"}, {name: "WASI_SDK_PATH"},
	{name: "OPENAI_API_KEY", secret: true}, {name: "ANTHROPIC_API_KEY", secret: true},
}

// setVariables are those that are set, and unknown ones that look as if they were meant for wrun.
func setVariables(environ []string) (set, unknown []string) {
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		known := slices.ContainsFunc(environment, func(v variable) bool { return v.name == name })
		switch {
		case value == "":
		case known:
			set = append(set, name)
		case strings.HasPrefix(name, "WRUN_"):
			unknown = append(unknown, name)
		}
	}
	slices.Sort(set)
	slices.Sort(unknown)
	return set, unknown
}

// isSet says whether a variable has a value.
func isSet(name string) bool { return os.Getenv(name) != "" }
