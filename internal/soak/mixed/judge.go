package mixed

import (
	"slices"
	"time"
)

// quantity is something that must not grow.
type quantity struct {
	name  string
	bytes bool
	of    func(sample) int64
	// rest and load are how much more there may be at rest, and under load.
	rest, load slack
}

// slack is how much more of something there may be.
type slack struct{ percent, more int64 }

func (s slack) over(n int64) int64 { return n + n*s.percent/100 + s.more }

var quantities = []quantity{
	{"rss", true, func(m sample) int64 { return m.rss }, slack{10, 8 << 20}, slack{10, 8 << 20}},
	{"heap", true, func(m sample) int64 { return m.heap }, slack{10, 2 << 20}, slack{10, 8 << 20}},
	// The runtime of Go, and the allocator of the system's threads, come to have a few more mappings over time.
	{"mappings", false, func(m sample) int64 { return m.mappings }, slack{0, 40}, slack{10, 40}},
	{"descriptors", false, func(m sample) int64 { return m.descriptors }, slack{}, slack{10, 2}},
	{"goroutines", false, func(m sample) int64 { return m.goroutines }, slack{}, slack{10, 2}},
}

const (
	// longIdle is how long nothing has to be called until a sandbox has given back what it kept for the next calls.
	longIdle = 30 * time.Second
	// enough is how many measurements under load a median is taken of. There is one at rest for each cycle.
	enough = 24
)

// unsettled is what there may be more where idle is shorter than longIdle: instances that wait for the next call, and images of
// modules that nobody calls any more.
var unsettled = map[string]slack{"rss": {50, 128 << 20}, "heap": {50, 64 << 20}, "mappings": {50, 400}, "descriptors": {50, 24}}

// judge compares the last quarter of the cycles with the second one, each phase with itself.
func (r *Report) judge() []judgement {
	var all []judgement
	for _, q := range quantities {
		all = append(all, r.compare(q, phaseRest, r.slack(q, q.rest), 1))
	}
	all = append(all, r.shrinks()...)
	for _, p := range phases() {
		for _, q := range quantities {
			all = append(all, r.compare(q, p.name, r.slack(q, q.load), enough))
		}
	}
	return append(all, r.leftovers...)
}

// slack is what there may be more: settled, where what is kept for the next call had the time to go.
func (r *Report) slack(q quantity, settled slack) slack {
	if s, ok := unsettled[q.name]; ok && r.idle < longIdle {
		return s
	}
	return settled
}

func (r *Report) compare(q quantity, phase string, s slack, least int) judgement {
	j := judgement{phase: phase, what: q.name, bytes: q.bytes}
	early := r.values(q, phase, r.Cycles/4, r.Cycles/2)
	late := r.values(q, phase, r.Cycles-r.Cycles/4, r.Cycles)
	switch {
	case len(early) < least || len(late) < least:
		j.unjudged = "too few measurements"
	case slices.Max(early) == 0:
		j.unjudged = "this system does not say"
	}
	if j.unjudged == "" {
		j.before, j.after = median(early), median(late)
		j.most = s.over(j.before)
	}
	return j
}

// values returns what was measured in a phase of the cycles from first to before end.
func (r *Report) values(q quantity, phase string, first, end int) (v []int64) {
	for _, m := range r.marks {
		if m.phase == phase && m.cycle >= first && m.cycle < end {
			v = append(v, q.of(m.sample))
		}
	}
	return v
}

func median(v []int64) int64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// shrinks compares what is there at rest with what there was before the first call: instances that were kept are gone by
// then. Modules that came since are there for good, and take some mappings each.
func (r *Report) shrinks() []judgement {
	var all []judgement
	for _, q := range quantities {
		j := judgement{phase: "idle", what: q.name + " kept", bytes: q.bytes}
		s := slack{10, 32 << 20}
		switch q.name {
		case "mappings":
			s = slack{0, 40 + 4*int64(r.newcomers)}
		case "rss":
		default:
			continue
		}
		after := r.values(q, phaseRest, r.Cycles/4, r.Cycles)
		switch {
		case r.idle < longIdle:
			j.unjudged = "idle for less than " + longIdle.String()
		case q.of(r.start) == 0:
			j.unjudged = "this system does not say"
		default:
			j.before, j.after, j.most = q.of(r.start), median(after), s.over(q.of(r.start))
		}
		all = append(all, j)
	}
	return all
}

// left compares what there is once everything is closed with what there was before anything was opened.
func (r *Report) left(before, after sample) {
	for _, q := range quantities {
		s := q.rest
		switch q.name {
		case "rss":
			continue // the code of modules, and what the runtime of Go keeps for later
		case "heap":
			s = slack{0, 8 << 20}
		case "mappings":
			s = slack{0, 200} // the heap of Go comes to lie in more pieces, once
		case "descriptors":
			s = slack{0, 2} // through which the process asks the system what was written, from its first pooled instance on
		}
		j := judgement{phase: "closed", what: q.name, bytes: q.bytes, before: q.of(before), after: q.of(after), most: s.over(q.of(before))}
		if j.before == 0 {
			j.unjudged = "this system does not say"
		}
		r.leftovers = append(r.leftovers, j)
	}
}
