package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// Observer makes spans and metrics of events. Its methods may be called concurrently, and return at once.
type Observer struct {
	cfg     Config
	metrics *Metrics
	sender  *sender // nil where nothing is sent

	mu      sync.Mutex
	journal journal.Digest                      // guarded by mu
	open    map[string]map[journal.Step]*opened // guarded by mu: of runs that are driven now, "" for the driving itself
}

// opened is what has begun and not ended.
type opened struct {
	event  runtime.Event // with which it began
	at     time.Time     // in this process
	events []moment
	unkept int
}

// Start begins to observe. The caller closes the Observer.
func Start(cfg Config) *Observer {
	o := &Observer{cfg: cfg.withDefaults(), metrics: newMetrics(), open: map[string]map[journal.Step]*opened{}}
	if o.cfg.Traces.URL != "" || o.cfg.Metrics.URL != "" {
		o.sender = startSender(o.cfg, o.metrics)
	}
	return o
}

// Close sends what is left, and returns when that is done or ctx has ended. Nothing is observed from then on.
func (o *Observer) Close(ctx context.Context) {
	if o.sender != nil {
		o.sender.close(ctx)
	}
}

// Metrics are what has been counted.
func (o *Observer) Metrics() *Metrics { return o.metrics }

// Journal says which journal the runs are in that are observed from now on. Traces are named after it.
func (o *Observer) Journal(id journal.Digest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.journal = id
}

// Waited counts a wait for other processes to let go of the journal.
func (o *Observer) Waited(d time.Duration) { o.metrics.waits.observe(d.Seconds()) }

// Observe takes an event. It is for runtime.Config.Observe.
func (o *Observer) Observe(ev runtime.Event) {
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	switch ev.Phase {
	case runtime.Driven:
		o.open[ev.Run] = map[journal.Step]*opened{"": {event: ev, at: now}}
	case runtime.Begun:
		if run := o.open[ev.Run]; run != nil {
			run[ev.Step] = &opened{event: ev, at: now}
		}
	case runtime.Served:
		o.served(ev, now)
	case runtime.Ended:
		o.ended(ev, now)
	case runtime.LetGo:
		o.letGo(ev, now)
		delete(o.open, ev.Run)
	}
}

// served notes what came from the journal at the call that it belongs to, or at the driving of the run. It is no work, and has no span.
func (o *Observer) served(ev runtime.Event, now time.Time) {
	o.metrics.step(ev, "served", 0)
	in := o.open[ev.Run][ev.Step.Parent()]
	if in == nil {
		return
	}
	if len(in.events) >= maxMoments {
		in.unkept++
		return
	}
	in.events = append(in.events, moment{now, "served", []attribute{
		text("wrun.step", string(ev.Step)), text("wrun.name", ev.Name), text("wrun.class", ev.Class.String()), text("wrun.outcome", outcomeOf(ev.Err)),
	}})
}

// ended makes the span of a step.
func (o *Observer) ended(ev runtime.Event, now time.Time) {
	began := o.open[ev.Run][ev.Step]
	if began == nil { // it waited since another process began it, or it was refused
		began = &opened{event: ev, at: now}
	}
	delete(o.open[ev.Run], ev.Step)
	o.metrics.step(ev, outcomeOf(ev.Err), now.Sub(began.at))
	if o.traces(ev.Run) {
		o.sender.add(o.stepSpan(ev, began, now, outcomeOf(ev.Err)))
	}
}

// letGo makes the spans of what is not over, of the driving, and of the run when it is.
func (o *Observer) letGo(ev runtime.Event, now time.Time) {
	driving := o.open[ev.Run][""]
	if driving == nil {
		return
	}
	o.metrics.drive(ev, now.Sub(driving.at))
	if !o.traces(ev.Run) {
		return
	}
	for step, left := range o.open[ev.Run] {
		// A call goes on in another process, which makes its span; there is no other one for it.
		if step != "" && (ev.Finished || left.event.Class != toolabi.Call) {
			o.sender.add(o.stepSpan(left.event, left, now, "open"))
		}
	}
	trace := traceOf(o.journal, ev.Run)
	as := []attribute{text("wrun.run", ev.Run), text("wrun.driver", ev.Driver), text("wrun.outcome", ev.Outcome)}
	if ev.Err != nil {
		as = append(as, text("error.type", ev.Err.Code.String()))
	}
	run := SpanContext{trace, spanOf(trace, "")}
	o.sender.add(&span{
		SpanContext: SpanContext{trace, anySpan()}, parent: run.Span, name: "drive " + clean(ev.Driver, maxText), kind: internal, start: driving.at, end: now,
		attributes: as, events: driving.events, unkept: driving.unkept, link: o.cfg.Parent, failed: ev.Err != nil,
	})
	if ev.Finished {
		o.sender.add(&span{
			SpanContext: run, name: "run " + clean(ev.Driver, maxText), kind: internal, start: ev.Began, end: now, attributes: as, failed: ev.Err != nil,
		})
	}
}

// stepSpan is the span of a step.
func (o *Observer) stepSpan(ev runtime.Event, began *opened, now time.Time, outcome string) *span {
	trace := traceOf(o.journal, ev.Run)
	s := &span{
		SpanContext: SpanContext{trace, anySpan()}, parent: spanOf(trace, ev.Step.Parent()), start: began.at, end: now,
		events: began.events, unkept: began.unkept, failed: ev.Err != nil,
	}
	if ev.Class == toolabi.Call {
		s.Span = spanOf(trace, ev.Step)
	}
	if !ev.Began.IsZero() && ev.Began.Before(s.start) {
		s.start = ev.Began
	}
	s.name, s.kind, s.attributes = o.describe(ev)
	s.attributes = append(s.attributes, text("wrun.outcome", outcome))
	if effect := effectOf(ev); effect != "" && outcome != "open" {
		s.attributes = append(s.attributes, text("wrun.effect", effect))
	}
	if ev.Fuel > 0 {
		s.attributes = append(s.attributes, attribute{"wrun.fuel", int64(ev.Fuel)})
	}
	if ev.Err != nil {
		s.attributes = append(s.attributes, text("error.type", ev.Err.Code.String()))
	}
	return s
}

// traces says whether a run is traced.
func (o *Observer) traces(run string) bool {
	return o.sender != nil && o.cfg.Traces.URL != "" && sampled(traceOf(o.journal, run), o.cfg.Sampled)
}
