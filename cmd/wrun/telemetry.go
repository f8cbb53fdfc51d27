package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/internal/telemetry"
	"github.com/wrun-dev/wrun/journal"
)

// envBodies lets inputs, outputs, requests and replies into traces.
const envBodies = "WRUN_TELEMETRY_BODIES"

// telemetryVariables reads the variables of OpenTelemetry. A mistake in them fails nothing: it is said, and what it is about is done without.
type telemetryVariables struct{ wrong []string }

func (v *telemetryVariables) mistake(format string, args ...any) {
	v.wrong = append(v.wrong, fmt.Sprintf(format, args...))
}

// config is what the variables say. Without an endpoint nothing is sent.
func (v *telemetryVariables) config() telemetry.Config {
	version, _ := buildVersions()
	cfg := telemetry.Config{
		Service: os.Getenv("OTEL_SERVICE_NAME"), Version: version, Resource: v.pairs("OTEL_RESOURCE_ATTRIBUTES"), Sampled: v.sampled(),
		TracesEvery: v.milliseconds("OTEL_BSP_SCHEDULE_DELAY"), MetricsEvery: v.milliseconds("OTEL_METRIC_EXPORT_INTERVAL"),
		Timeout: v.milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT"),
	}
	cfg.Service = cmp.Or(cfg.Service, cfg.Resource["service.name"])
	cfg.Bodies, _ = strconv.ParseBool(os.Getenv(envBodies))
	cfg.Parent, _ = telemetry.ParseTraceparent(os.Getenv("TRACEPARENT"))
	if off, _ := strconv.ParseBool(os.Getenv("OTEL_SDK_DISABLED")); !off {
		cfg.Traces, cfg.Metrics = v.endpoint("TRACES"), v.endpoint("METRICS")
	}
	return cfg
}

// endpoint is where traces or metrics go. What is said for one of them goes before what is said for both.
func (v *telemetryVariables) endpoint(signal string) (e telemetry.Endpoint) {
	of := func(name string) (variable, value string) {
		variable = "OTEL_EXPORTER_OTLP_" + signal + "_" + name
		if value = os.Getenv(variable); value == "" {
			variable = "OTEL_EXPORTER_OTLP_" + name
			value = os.Getenv(variable)
		}
		return variable, value
	}
	variable, to := of("ENDPOINT")
	if exporter := "OTEL_" + signal + "_EXPORTER"; to == "" || os.Getenv(exporter) == "none" {
		return e
	} else if given := os.Getenv(exporter); given != "" && given != "otlp" {
		v.mistake("%s is %q, and wrun knows otlp and none", exporter, given)
		return e
	}
	if protocol, is := of("PROTOCOL"); is != "" && is != "http/protobuf" {
		v.mistake("%s is %q, and wrun knows http/protobuf alone", protocol, is)
		return e
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		v.mistake("%s is no address of the form http://HOST:PORT", variable)
		return e
	}
	if variable == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		u = u.JoinPath("v1", strings.ToLower(signal))
	}
	headers, _ := of("HEADERS")
	return telemetry.Endpoint{URL: u.String(), Headers: v.pairs(headers)}
}

// pairs reads a list of the form KEY=VALUE,KEY=VALUE, with values as in a URL. Its values are not shown: they may be keys.
func (v *telemetryVariables) pairs(variable string) map[string]string {
	list := os.Getenv(variable)
	if strings.TrimSpace(list) == "" {
		return nil
	}
	pairs := map[string]string{}
	for pair := range strings.SplitSeq(list, ",") {
		key, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if key = strings.TrimSpace(key); !ok || key == "" || err != nil {
			v.mistake("%s is no list of the form KEY=VALUE,KEY=VALUE", variable)
			return nil
		}
		pairs[key] = value
	}
	return pairs
}

func (v *telemetryVariables) milliseconds(variable string) time.Duration {
	text := os.Getenv(variable)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n <= 0 {
		v.mistake("%s is %q, and no number of milliseconds", variable, text)
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// sampled is the share of runs that are traced. A run is the root of its trace, so there is no parent that would decide.
func (v *telemetryVariables) sampled() float64 {
	switch sampler := strings.TrimPrefix(os.Getenv("OTEL_TRACES_SAMPLER"), "parentbased_"); sampler {
	case "", "always_on":
		return 1
	case "always_off":
		return 0
	case "traceidratio":
		share, err := strconv.ParseFloat(cmp.Or(os.Getenv("OTEL_TRACES_SAMPLER_ARG"), "1"), 64)
		if err == nil && share >= 0 && share <= 1 {
			return share
		}
		v.mistake("OTEL_TRACES_SAMPLER_ARG is %q, and no share from 0 to 1", os.Getenv("OTEL_TRACES_SAMPLER_ARG"))
	default:
		v.mistake("OTEL_TRACES_SAMPLER is %q, and wrun knows always_on, always_off and traceidratio, also with parentbased_ before them", os.Getenv("OTEL_TRACES_SAMPLER"))
	}
	return 1
}

// startTelemetry begins to observe runs, where anybody wants that. Errors: that of a metrics listener.
func (a *app) startTelemetry() error {
	if a.telemetry != nil {
		return nil
	}
	var v telemetryVariables
	cfg := v.config()
	for _, wrong := range v.wrong {
		a.warn("telemetry: %s", wrong)
	}
	if cfg.Traces.URL == "" && cfg.Metrics.URL == "" && a.metricsListen == "" {
		return nil
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = cfg.Timeout
	cfg.Transport, cfg.Complain = transport, func(text string) { a.warn("%s", text) }
	a.telemetry = telemetry.Start(cfg)
	return a.listenForMetrics()
}

// observeIn tells in which journal the runs are that are observed.
func (a *app) observeIn(h *wrun.Host) error {
	id, ok := h.Journal().(journal.Identity)
	if a.telemetry == nil || !ok {
		return nil
	}
	d, err := id.ID()
	if err == nil {
		a.telemetry.Journal(d)
	}
	return err
}

// How long the command stays to send what is left, when it is done and when it was stopped. The second is within lastMoment, with the
// grace of what was in flight.
const (
	flushTime     = 2 * time.Second
	flushStopping = 500 * time.Millisecond
)

// endTelemetry sends what is left, for as long as that may take. What the command has to say was said before.
func (a *app) endTelemetry(ctx context.Context) {
	if a.telemetry == nil {
		return
	}
	if a.metricsServer != nil {
		_ = a.metricsServer.Close()
	}
	patience, until := flushTime, ctx
	if ctx.Err() != nil {
		patience, until = flushStopping, context.WithoutCancel(ctx)
	}
	until, cancel := context.WithTimeout(until, patience)
	defer cancel()
	a.telemetry.Close(until)
}
