package otlptest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/wrun-dev/wrun/internal/telemetry"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// watched is an Observer that sends to a receiver.
func watched(r *receiver, change func(*telemetry.Config)) *telemetry.Observer {
	cfg := telemetry.Config{Traces: telemetry.Endpoint{URL: r.URL + "/v1/traces"}, Metrics: telemetry.Endpoint{URL: r.URL + "/v1/metrics"}, Sampled: 1}
	if change != nil {
		change(&cfg)
	}
	o := telemetry.Start(cfg)
	o.Journal(journal.Digest{1})
	return o
}

// moments tells an Observer of a run: each text is a phase, a step and a class.
func moments(o *telemetry.Observer, run string, texts ...string) {
	o.Observe(runtime.Event{Run: run, Phase: runtime.Driven, Driver: "plan"})
	phases := map[string]runtime.Phase{"begun": runtime.Begun, "ended": runtime.Ended, "served": runtime.Served, "failed": runtime.Ended}
	classes := map[string]toolabi.Class{"call": toolabi.Call, "once": toolabi.Once, "wait": toolabi.Wait}
	for _, text := range texts {
		w := strings.Fields(text)
		ev := runtime.Event{Run: run, Phase: phases[w[0]], Step: journal.Step(w[1]), Name: "t", Class: classes[w[2]]}
		if w[0] == "failed" {
			ev.Err = &toolabi.Error{Code: toolabi.Timeout, Message: "a message that is not sent", Effect: toolabi.EffectUnknown}
		}
		o.Observe(ev)
	}
}

// tree is every span with the step that it lies below.
func tree(r *receiver) (lines []string) {
	of := map[string]string{}
	label := func(s *traces.Span) string {
		as := attributes(s.Attributes)
		words := strings.Fields(strings.Fields(s.Name)[0] + " " + as["wrun.step"] + " " + as["wrun.outcome"])
		return strings.Join(words, " ")
	}
	for _, s := range r.spans {
		of[id(s.SpanId)] = label(s)
	}
	for _, s := range r.spans {
		lines = append(lines, fmt.Sprintf("%s < %s", label(s), of[id(s.ParentSpanId)]))
	}
	slices.Sort(lines)
	return lines
}

// Attempts, branches that run at the same time, calls inside of calls, and what is open when a run is let go of have their places.
func TestEveryStepHasItsPlace(t *testing.T) {
	r := newReceiver(t)
	o := watched(r, nil)
	moments(o, "r", "begun a call", "begun b call", "begun a/1 once", "begun b/1 call", "failed a/1 once", "failed a call", "begun a~2 call", "begun a~2/1 once",
		"ended a~2/1 once", "ended a~2 call", "begun b/1/1 once", "ended b/1/1 once", "ended b/1 call", "begun b/2 wait")
	o.Observe(runtime.Event{Run: "r", Phase: runtime.LetGo, Driver: "plan", Outcome: "waiting"})
	moments(o, "r", "begun b call", "served b/1 call", "served b/2 wait", "ended b call")
	o.Observe(runtime.Event{Run: "r", Phase: runtime.LetGo, Driver: "plan", Outcome: "ok", Finished: true})
	o.Close(t.Context())
	r.mu.Lock()
	defer r.mu.Unlock()
	want := []string{
		"call a failed < run ok", "call a~2 ok < run ok", "call b ok < run ok", "call b/1 ok < call b ok", "drive ok < run ok", "drive waiting < run ok", "run ok < ",
		"t a/1 failed < call a failed", "t a~2/1 ok < call a~2 ok", "t b/1/1 ok < call b/1 ok", "t b/2 open < call b ok",
	}
	if got := tree(r); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if bytes.Contains(r.raw, []byte("a message that is not sent")) {
		t.Error("an error's text was sent")
	}
}

// What is not text, and what is very long, is sent all the same.
func TestWhatAToolSaysCannotSpoilAMessage(t *testing.T) {
	r := newReceiver(t)
	o := watched(r, func(c *telemetry.Config) { c.Bodies = true })
	o.Observe(runtime.Event{Run: "r", Phase: runtime.Driven, Driver: "call"})
	o.Observe(runtime.Event{Run: "r", Step: "s", Phase: runtime.Ended, Name: "\xff\xfe" + strings.Repeat("n", 5000), Class: toolabi.Call, Request: bytes.Repeat([]byte{0xc3}, 1<<20)})
	for i := range 200 {
		o.Observe(runtime.Event{Run: "r", Step: journal.Step(fmt.Sprintf("s[%d]", i)), Phase: runtime.Served, Class: toolabi.Call})
	}
	o.Observe(runtime.Event{Run: "r", Phase: runtime.LetGo, Driver: "call", Outcome: "ok", Finished: true})
	o.Close(t.Context())
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.one(t, "drive call"); len(d.Events) != 128 || d.DroppedEventsCount != 72 {
		t.Errorf("%d events, %d dropped", len(d.Events), d.DroppedEventsCount)
	}
	if len(r.raw) > 100<<10 {
		t.Errorf("%d bytes were sent", len(r.raw))
	}
}

// A share of runs is traced wholly, and the others not at all.
func TestASampledRunIsTracedWholly(t *testing.T) {
	r := newReceiver(t)
	o := watched(r, func(c *telemetry.Config) { c.Sampled = 0.5 })
	for i := range 100 {
		moments(o, fmt.Sprint("r", i), "begun a call", "ended a call")
		o.Observe(runtime.Event{Run: fmt.Sprint("r", i), Phase: runtime.LetGo, Driver: "plan", Outcome: "ok", Finished: true})
	}
	o.Close(t.Context())
	r.mu.Lock()
	defer r.mu.Unlock()
	n := map[string]int{}
	for _, s := range r.spans {
		n[id(s.TraceId)]++
	}
	if len(n) < 20 || len(n) > 80 {
		t.Errorf("%d of 100 runs were traced", len(n))
	}
	for trace, spans := range n {
		if spans != 3 {
			t.Errorf("trace %s has %d spans, want 3", trace, spans)
		}
	}
}

// Prometheus reads what is counted, by as many as count at the same time.
func TestPrometheusReadsTheMetrics(t *testing.T) {
	o := telemetry.Start(telemetry.Config{})
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			run := fmt.Sprint("r", i)
			moments(o, run, "begun a call", "ended a call", "failed b once", "served c wait")
			o.Observe(runtime.Event{Run: run, Phase: runtime.LetGo, Driver: `a "driver"\n`, Outcome: "ok", Finished: true})
		})
	}
	all.Wait()
	var b bytes.Buffer
	if err := o.Metrics().WritePrometheus(&b); err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(&b)
	if err != nil {
		t.Fatal(err)
	}
	if got := families["wrun_runs_total"].GetMetric()[0].GetCounter().GetValue(); got != 20 {
		t.Errorf("%v runs, want 20", got)
	}
	if got := len(families["wrun_steps_total"].GetMetric()); got != 3 {
		t.Errorf("%d kinds of steps, want 3", got)
	}
	h := families["wrun_step_duration_seconds"].GetMetric()[0].GetHistogram()
	if h.GetSampleCount() != 20 || h.GetBucket()[len(h.GetBucket())-1].GetCumulativeCount() != 20 {
		t.Errorf("the histogram is %v", h)
	}
	o.Close(t.Context())
}

// What a receiver does not take is dropped and counted, and whoever observes waits for nothing.
func TestWhatDoesNotFitIsDroppedAndCounted(t *testing.T) {
	released := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-released }))
	defer s.Close()
	defer close(released)
	said := 0
	o := telemetry.Start(telemetry.Config{Traces: telemetry.Endpoint{URL: s.URL}, Sampled: 1, Complain: func(string) { said++ }})
	const steps = 5000
	o.Observe(runtime.Event{Run: "r", Phase: runtime.Driven, Driver: "plan"})
	for range steps {
		o.Observe(runtime.Event{Run: "r", Step: "a", Phase: runtime.Ended, Name: "t", Class: toolabi.Once})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.Close(ctx)
	var b bytes.Buffer
	if err := o.Metrics().WritePrometheus(&b); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("wrun_telemetry_dropped_total %d\n", steps); !strings.Contains(b.String(), want) || said != 1 {
		t.Errorf("complained %d times, want once; want %s in %s", said, want, b.String())
	}
}
