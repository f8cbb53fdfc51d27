package telemetry

import (
	"math"
	"time"
)

// scope names this library in what is sent.
const scope = "github.com/wrun-dev/wrun"

// resource is a Resource message: who sends.
func resource(as []attribute) []byte {
	var m message
	m.attributes(1, as)
	return m
}

// request is an ExportTraceServiceRequest or an ExportMetricsServiceRequest: the field 2 of their scopes holds items.
func request(resource []byte, version string, items [][]byte) []byte {
	var named, scoped, from, all message
	named.text(1, scope)
	named.text(2, version)
	scoped.inner(1, named)
	for _, i := range items {
		scoped.inner(2, i)
	}
	from.inner(1, resource)
	from.inner(2, scoped)
	all.inner(1, from)
	return all
}

// encode is a Span message.
func (s *span) encode() []byte {
	var m message
	m.bytes(1, s.Trace[:])
	m.bytes(2, s.Span[:])
	if s.parent != [8]byte{} {
		m.bytes(4, s.parent[:])
	}
	m.text(5, s.name)
	m.uint(6, uint64(s.kind))
	m.time(7, s.start)
	end := s.end
	if end.Before(s.start) { // a clock that was set back
		end = s.start
	}
	m.time(8, end)
	m.attributes(9, s.attributes)
	for _, e := range s.events {
		var event message
		event.time(1, e.at)
		event.text(2, e.name)
		event.attributes(3, e.attributes)
		m.inner(11, event)
	}
	m.uint(12, uint64(s.unkept))
	if s.link != (SpanContext{}) {
		var link message
		link.bytes(1, s.link.Trace[:])
		link.bytes(2, s.link.Span[:])
		m.inner(13, link)
	}
	if s.failed {
		var status message
		status.uint(3, 2) // STATUS_CODE_ERROR
		m.inner(15, status)
	}
	return m
}

// cumulative is the temporality of what is counted from the beginning of the process.
const cumulative = 2

// encode is a Metric message, nil where nothing was counted.
func (m *metric) encode(since, now time.Time) []byte {
	points := m.snapshot()
	if len(points) == 0 {
		return nil
	}
	var data message
	for _, p := range points {
		var point message
		point.time(2, since)
		point.time(3, now)
		if m.bounds == nil {
			point.counter(p)
		} else {
			point.histogram(p, m.bounds)
		}
		data.inner(1, point)
	}
	data.uint(2, cumulative)
	var out message
	out.text(1, m.name)
	out.text(2, m.help)
	out.text(3, m.unit)
	if m.bounds == nil {
		data.uint(3, 1) // it only grows
		out.inner(7, data)
	} else {
		out.inner(9, data)
	}
	return out
}

// counter writes what a NumberDataPoint has of its own. All that is counted here are whole numbers.
func (m *message) counter(p point) {
	m.fixed(6, uint64(math.Round(p.sum)))
	m.attributes(7, p.attributes)
}

// histogram writes what a HistogramDataPoint has of its own.
func (m *message) histogram(p point, bounds []float64) {
	m.fixed(4, p.count)
	m.float(5, p.sum)
	var counts, limits message
	for _, n := range p.buckets {
		counts = appendFixed(counts, n)
	}
	for _, b := range bounds {
		limits = appendFixed(limits, math.Float64bits(b))
	}
	m.inner(6, counts)
	m.inner(7, limits)
	m.attributes(9, p.attributes)
}
