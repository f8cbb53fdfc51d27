package big

import (
	"fmt"
	"strings"
	"time"
)

// Report is what was measured.
type Report struct {
	// Commands are the names of what was measured at each size, in order.
	Commands []string
	Sizes    []Size
	// Backup, Restore and Compact are of the whole journal, and BundleBytes how long the backup is.
	Backup, Restore, Compact Use
	BundleBytes              int64
}

// Size is a journal of some size, and the median of what each command took in it.
type Size struct {
	Entries, Runs int
	Bytes         int64
	Took          map[string]time.Duration
}

// Use is what a process took.
type Use struct {
	Took time.Duration
	// Anonymous is the most memory of its own that it was seen to have, in bytes; the pages of mapped files are not in it. 0 where
	// that is not known.
	Anonymous int64
}

// String is the report for people.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-18s", "entries")
	for _, s := range r.Sizes {
		fmt.Fprintf(&b, "%12d", s.Entries)
	}
	fmt.Fprintf(&b, "\n%-18s", "runs")
	for _, s := range r.Sizes {
		fmt.Fprintf(&b, "%12d", s.Runs)
	}
	fmt.Fprintf(&b, "\n%-18s", "file, MB")
	for _, s := range r.Sizes {
		fmt.Fprintf(&b, "%12d", s.Bytes/1e6)
	}
	for _, c := range r.Commands {
		fmt.Fprintf(&b, "\n%-18s", c+", ms")
		for _, s := range r.Sizes {
			fmt.Fprintf(&b, "%12.1f", float64(s.Took[c].Microseconds())/1000)
		}
	}
	fmt.Fprintln(&b)
	for _, u := range []struct {
		what string
		use  Use
	}{{"backup", r.Backup}, {"restore", r.Restore}, {"compact", r.Compact}} {
		if u.use.Took > 0 {
			fmt.Fprintf(&b, "%s of all: %.1f s, at most %d MB of memory of its own\n", u.what, u.use.Took.Seconds(), u.use.Anonymous/1e6)
		}
	}
	if r.BundleBytes > 0 {
		fmt.Fprintf(&b, "the backup has %d MB\n", r.BundleBytes/1e6)
	}
	return b.String()
}
