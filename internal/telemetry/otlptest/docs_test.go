package otlptest

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
)

var row = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// section returns what stands in the first column of the tables below a heading of docs/telemetry.md.
func section(t *testing.T, heading string) (names []string) {
	t.Helper()
	page, err := os.ReadFile(wrun(t, "docs/telemetry.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/telemetry.md has no section %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for _, m := range row.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// documented holds what was received against docs/telemetry.md: nothing of it is missing there, and what the page names and this run has
// no use for is listed here.
func documented(t *testing.T, r *receiver) {
	t.Helper()
	spans, metricNames := map[string]bool{}, map[string]bool{}
	for _, s := range r.spans {
		for k := range attributes(s.Attributes) {
			spans[k] = true
		}
		for _, e := range s.Events {
			for k := range attributes(e.Attributes) {
				spans[k] = true
			}
		}
	}
	same(t, "Attributes of spans", spans, "error.type")
	for name, m := range r.metrics {
		metricNames[name] = true
		for k := range metricAttributes(m) {
			metricNames[k] = true
		}
	}
	same(t, "Metrics", metricNames, "wrun.telemetry.dropped", "wrun.journal.wait", "otel.metric.overflow")
	same(t, "Who sends", keysOf(r.from), "service.version")
}

func keysOf[V any](m map[string]V) map[string]bool {
	keys := map[string]bool{}
	for k := range m {
		keys[k] = k != "deployment.environment.name" // the test's own
	}
	return keys
}

func metricAttributes(m *metrics.Metric) map[string]string {
	as := map[string]string{}
	for _, p := range m.GetSum().GetDataPoints() {
		maps.Copy(as, attributes(p.Attributes))
	}
	for _, p := range m.GetHistogram().GetDataPoints() {
		maps.Copy(as, attributes(p.Attributes))
	}
	return as
}

func same(t *testing.T, heading string, received map[string]bool, unused ...string) {
	t.Helper()
	names := section(t, heading)
	for name, is := range received {
		if is && !slices.Contains(names, name) {
			t.Errorf("docs/telemetry.md, %s: %s is missing", heading, name)
		}
	}
	for _, name := range names {
		if !received[name] && !slices.Contains(unused, name) {
			t.Errorf("docs/telemetry.md, %s: %s was not received", heading, name)
		}
	}
}
