package telemetry

import (
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// Metrics are the counters and histograms of a process. They count from when it began, and may be used concurrently.
type Metrics struct {
	since time.Time

	runs, steps, fuel, dropped             *metric
	runSeconds, stepSeconds, tokens, waits *metric
}

// The bounds of histograms: seconds of runs and steps, seconds of waits, tokens as the conventions for generative AI say.
var (
	seconds     = []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 1800, 3600}
	waitSeconds = []float64{.0001, .0005, .001, .005, .01, .05, .1, .5, 1, 5}
	tokenCounts = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

func newMetrics() *Metrics {
	counter := func(name, unit, help string) *metric {
		return &metric{name: name, unit: unit, help: help, points: map[string]*point{}}
	}
	histogram := func(name, unit, help string, bounds []float64) *metric {
		return &metric{name: name, unit: unit, help: help, bounds: bounds, points: map[string]*point{}}
	}
	return &Metrics{
		since:       time.Now(),
		runs:        counter("wrun.runs", "{run}", "How often a run was driven, by what came of it."),
		runSeconds:  histogram("wrun.run.duration", "s", "How long runs were driven.", seconds),
		steps:       counter("wrun.steps", "{step}", "Steps that were executed or served from the journal."),
		stepSeconds: histogram("wrun.step.duration", "s", "How long steps took that were executed.", seconds),
		fuel:        counter("wrun.fuel", "{fuel}", "What calls computed, in units of 16 instructions."),
		tokens:      histogram("gen_ai.client.token.usage", "{token}", "Tokens of one answer of a model.", tokenCounts),
		waits:       histogram("wrun.journal.wait", "s", "How long this process waited for others to let go of the journal.", waitSeconds),
		dropped:     counter("wrun.telemetry.dropped", "{span}", "Spans that could not be sent."),
	}
}

// all are the metrics in the order in which they are shown.
func (m *Metrics) all() []*metric {
	return []*metric{m.runs, m.runSeconds, m.steps, m.stepSeconds, m.fuel, m.tokens, m.waits, m.dropped}
}

// drive counts a driving of a run that is over.
func (m *Metrics) drive(ev runtime.Event, took time.Duration) {
	as := []attribute{text("wrun.driver", ev.Driver), text("wrun.outcome", ev.Outcome)}
	m.runs.add(1, as...)
	m.runSeconds.observe(took.Seconds(), as...)
}

// step counts a step that is over.
func (m *Metrics) step(ev runtime.Event, outcome string, took time.Duration) {
	class := text("wrun.class", ev.Class.String())
	m.steps.add(1, class, text("wrun.outcome", outcome))
	if outcome == "served" {
		return
	}
	m.stepSeconds.observe(took.Seconds(), class)
	if ev.Fuel > 0 {
		m.fuel.add(float64(ev.Fuel))
	}
	answer := new(model.Answer)
	if !asksModel(ev) || ev.Reply == nil || toolabi.Decode(ev.Reply, answer) != nil {
		return
	}
	of, _ := modelOf(ev)
	of = slices.Clip(of)
	u := answer.Usage
	m.tokens.observe(float64(u.Input+u.CacheRead+u.CacheWrite), append(of, text("gen_ai.token.type", "input"))...)
	m.tokens.observe(float64(u.Output), append(of, text("gen_ai.token.type", "output"))...)
}

// metric is a counter, or with bounds a histogram.
type metric struct {
	name, unit, help string
	bounds           []float64

	mu     sync.Mutex
	points map[string]*point // guarded by mu: by attributes
}

// point is what was counted with the same attributes.
type point struct {
	attributes []attribute
	sum        float64
	count      uint64
	buckets    []uint64 // one more than there are bounds
}

// maxPoints is how many different attributes a metric has; what comes then counts as one more.
const maxPoints = 1000

func (m *metric) add(n float64, as ...attribute) { m.observe(n, as...) }

func (m *metric) observe(v float64, as ...attribute) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.at(as)
	p.sum += v
	p.count++
	if m.bounds != nil {
		p.buckets[sort.SearchFloat64s(m.bounds, v)]++
	}
}

// at finds a point, or makes it.
func (m *metric) at(as []attribute) *point {
	key := ""
	for _, a := range as {
		key += a.key + "\x00" + a.value.(string) + "\x00"
	}
	if p := m.points[key]; p != nil {
		return p
	}
	if len(m.points) >= maxPoints {
		if p := m.points["+"]; p != nil {
			return p
		}
		key, as = "+", []attribute{text("otel.metric.overflow", "true")}
	}
	p := &point{attributes: slices.Clone(as), buckets: make([]uint64, len(m.bounds)+1)}
	m.points[key] = p
	return p
}

// snapshot is the points as they are now, in a steady order.
func (m *metric) snapshot() []point {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := make([]string, 0, len(m.points))
	for k := range m.points {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	points := make([]point, len(keys))
	for i, k := range keys {
		points[i] = *m.points[k]
		points[i].buckets = slices.Clone(points[i].buckets)
	}
	return points
}
