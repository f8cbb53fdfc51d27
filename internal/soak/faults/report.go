package faults

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// Row is what came of one way to make faults.
type Row struct {
	// Fault is what goes wrong, How the way in which it is made.
	Fault, How string
	// Kind decides which invariants hold.
	Kind Kind
	// Trials were made, and in them Landed faults took place.
	Trials, Landed int
	// Effects are those that the oracles counted.
	Effects int
	// Repeated, Lost and Wrong are violations of I1, of I2 and I4, and of I3.
	Repeated, Lost, Wrong int
	// Found is everything that disagrees, with all that is needed to look at it.
	Found []string
	// Skipped says why nothing was tested.
	Skipped string
	// Took is how long it took.
	Took time.Duration

	mu sync.Mutex // guards everything above
}

// add counts a trial.
func (r *Row) add(name string, landed int, requests []ledger.Request, found []Violation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Trials++
	r.Landed += landed
	for _, q := range requests {
		if !q.Accepted.IsZero() {
			r.Effects++
		}
	}
	for _, v := range found {
		switch v.Invariant {
		case "I1":
			r.Repeated++
		case "I2", "I4":
			r.Lost++
		case "I3":
			r.Wrong++
		}
		r.Found = append(r.Found, fmt.Sprintf("%s: %s", name, v))
	}
}

// landed counts a fault that several trials have shared.
func (r *Row) landed(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Landed += n
}

// cut says whether enough faults have landed.
func (r *Row) cut(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Landed >= n || len(r.Found) >= maxFound
}

// fail notes a trial that did not come to its end.
func (r *Row) fail(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Trials++
	r.Found = append(r.Found, fmt.Sprintf("%s: %v", name, err))
}

// other counts what is found beside the three that have columns.
func (r *Row) other() int { return len(r.Found) - r.Repeated - r.Lost - r.Wrong }

func (r *Row) enough(n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.Trials >= n || len(r.Found) >= maxFound
}

// maxFound is how much is found before a way is given up.
const maxFound = 5

// Report is what came of a tier.
type Report struct {
	Seed uint64
	Rows []*Row
	// Controls are the broken builds, and what noticed each.
	Controls []Control
	Took     time.Duration
}

// Err says what is wrong, nil when every invariant held, every fault landed and every control was noticed.
func (r *Report) Err() error {
	var errs []error
	for _, row := range r.Rows {
		for i, f := range row.Found {
			if i == maxFound {
				errs = append(errs, fmt.Errorf("%s: and %d more", row.Fault, len(row.Found)-i))
				break
			}
			errs = append(errs, fmt.Errorf("%s: %s", row.Fault, f))
		}
		if row.Skipped == "" && row.Landed == 0 {
			errs = append(errs, fmt.Errorf("%s: no fault has landed in %d trials", row.Fault, row.Trials))
		}
	}
	for _, c := range r.Controls {
		if c.By == "" && c.Skipped == "" {
			errs = append(errs, fmt.Errorf("the control %s was not noticed: %s", c.Tag, c.Way))
		}
	}
	return errors.Join(errs...)
}

// atMost is how likely a fault does harm at most where none did in so many trials, with 95 % certainty, in percent.
func atMost(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3g %%", 300/float64(n))
}

// String is the report as a table, in the form in which docs/reliability.md has it.
func (r *Report) String() string {
	var b strings.Builder
	b.WriteString("| fault | how | trials | landed | effects | repeated | lost | wrongly certain | other | at most | took |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, row := range r.Rows {
		if row.Skipped != "" {
			fmt.Fprintf(&b, "| %s | SKIPPED: %s | | | | | | | | | |\n", row.Fault, row.Skipped)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %s | %s |\n", row.Fault, row.How, row.Trials, row.Landed, row.Effects,
			row.Repeated, row.Lost, row.Wrong, row.other(), atMost(row.Landed), row.Took.Round(time.Second))
	}
	if len(r.Controls) > 0 {
		b.WriteString("\n| control | fault | noticed |\n|---|---|---|\n")
	}
	for _, c := range r.Controls {
		by := c.By
		if c.Skipped != "" {
			by = "SKIPPED: " + c.Skipped
		} else if by == "" {
			by = "NOTHING"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Tag, c.Way, by)
	}
	fmt.Fprintf(&b, "\nseed %d, %s in all\n", r.Seed, r.Took.Round(time.Second))
	return b.String()
}
