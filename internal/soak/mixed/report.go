package mixed

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Report is what came of a soak.
type Report struct {
	Seed   uint64
	Cycles int
	Took   time.Duration
	// Calls are how many calls came to which ending: "output", "killed", "no room", "run" for a run of a host, or the code of
	// an error.
	Calls map[string]int64

	start     sample // before the first call, with all modules loaded
	marks     []mark
	newcomers int
	idle      time.Duration
	leftovers []judgement
}

// judgement is two figures that were compared.
type judgement struct {
	phase, what   string
	before, after int64
	most          int64  // what after may be
	unjudged      string // why it was not; then the figures mean nothing
	bytes         bool
}

func (j judgement) grown() bool { return j.unjudged == "" && j.after > j.most }

func (j judgement) String() string {
	verdict := "flat"
	if j.grown() {
		verdict = "GROWN"
	}
	return fmt.Sprintf("%-7s %-13s %9s then %9s, at most %9s: %s", j.phase, j.what, j.figure(j.before), j.figure(j.after), j.figure(j.most), verdict)
}

func (j judgement) figure(n int64) string {
	if j.bytes {
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprint(n)
}

// Err says what has grown.
func (r *Report) Err() error {
	var errs []error
	for _, j := range r.judge() {
		if j.grown() {
			errs = append(errs, errors.New(strings.Join(strings.Fields(j.String()), " ")))
		}
	}
	return errors.Join(errs...)
}

// String has all figures.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d cycles in %v; %s\n", r.Seed, r.Cycles, r.Took.Round(time.Second), endings(r.Calls))
	unjudged := map[string][]string{}
	for _, j := range r.judge() {
		if j.unjudged == "" {
			fmt.Fprintln(&b, j)
			continue
		}
		unjudged[j.unjudged] = append(unjudged[j.unjudged], j.phase+" "+j.what)
	}
	for _, why := range slices.Sorted(maps.Keys(unjudged)) {
		fmt.Fprintf(&b, "not judged, %s: %s\n", why, strings.Join(unjudged[why], ", "))
	}
	return b.String()
}

// endings lists counts, the largest first.
func endings(calls map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(calls), func(a, b string) int {
		if calls[a] != calls[b] {
			return int(calls[b] - calls[a])
		}
		return strings.Compare(a, b)
	})
	total, parts := int64(0), []string{}
	for _, n := range names {
		total += calls[n]
		parts = append(parts, fmt.Sprintf("%s %d", n, calls[n]))
	}
	return fmt.Sprintf("%d calls: %s", total, strings.Join(parts, ", "))
}

// tell prints a line when it is time for one.
func (s *soak) tell(m mark) {
	now := time.Now()
	if now.Sub(s.told) < s.Every {
		return
	}
	calls, total := s.count.all(), int64(0)
	for _, n := range calls {
		total += n
	}
	since := now.Sub(s.told)
	fmt.Fprintf(s.Progress, "%v cycle %d %s: %s, %.0f/s; %v\n", now.Sub(s.began).Round(time.Second), m.cycle, m.phase, endings(calls), float64(total-s.toldCalls)/since.Seconds(), m.sample)
	s.told, s.toldCalls = now, total
}

func (m sample) String() string {
	mb := func(n int64) float64 { return float64(n) / (1 << 20) }
	return fmt.Sprintf("rss %.1f MB (anon %.1f, shmem %.1f), heap %.1f MB, %d mappings, %d descriptors, %d goroutines",
		mb(m.rss), mb(m.anon), mb(m.shmem), mb(m.heap), m.mappings, m.descriptors, m.goroutines)
}
