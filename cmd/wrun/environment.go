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
	{name: "COLUMNS"}, {name: "NO_COLOR"}, {name: "TERM"},
	{name: envBodies}, {name: "TRACEPARENT"}, {name: "OTEL_SDK_DISABLED"}, {name: "OTEL_SERVICE_NAME"}, {name: "OTEL_RESOURCE_ATTRIBUTES"},
	{name: "OTEL_TRACES_SAMPLER"}, {name: "OTEL_TRACES_SAMPLER_ARG"}, {name: "OTEL_TRACES_EXPORTER"}, {name: "OTEL_METRICS_EXPORTER"},
	{name: "OTEL_BSP_SCHEDULE_DELAY"}, {name: "OTEL_METRIC_EXPORT_INTERVAL"}, {name: "OTEL_EXPORTER_OTLP_TIMEOUT"},
	{name: "OTEL_EXPORTER_OTLP_ENDPOINT"}, {name: "OTEL_EXPORTER_OTLP_PROTOCOL"}, {name: "OTEL_EXPORTER_OTLP_HEADERS", secret: true},
	{name: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}, {name: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"}, {name: "OTEL_EXPORTER_OTLP_TRACES_HEADERS", secret: true},
	{name: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"}, {name: "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"}, {name: "OTEL_EXPORTER_OTLP_METRICS_HEADERS", secret: true},
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
