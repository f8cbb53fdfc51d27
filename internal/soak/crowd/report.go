package crowd

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Report is what came of a crowd.
type Report struct {
	Config Config
	// Processes were started while the crowd was there and to bring its runs to their end, Kills of them killed.
	Processes, Kills int
	// Exits are how they ended, by verb and exit code; -1 was killed.
	Exits map[string]map[int]int
	// Runs are the runs that were begun, Unborn those of which nothing was written because their process was killed before, and
	// Removed those that gc has removed.
	Runs, Unborn, Removed int
	// Charges are those that the ledger has. Uncertain were the effects that were in doubt at the end and were settled, Named those
	// that a cancelled run left in doubt and that its log names.
	Charges, Uncertain, Named int
	// Waits are how long processes waited for others to let go of the journal, in order of their length.
	Waits []time.Duration
	// Missing are the verbs that the program does not have, and that were left out.
	Missing []string
	// Faults say what disagrees.
	Faults []string
}

// readWaits reads what the processes have written.
func (r *Report) readWaits(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nobody waited
	}
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var pid int
		var wait int64
		if n, err := fmt.Sscanf(lines.Text(), "%d %d", &pid, &wait); n != 2 {
			return fmt.Errorf("%s: %q: %w", path, lines.Text(), err)
		}
		r.Waits = append(r.Waits, time.Duration(wait))
	}
	slices.Sort(r.Waits)
	return lines.Err()
}

// quantile is the wait that so many percent of all are not longer than.
func (r *Report) quantile(percent int) time.Duration {
	if len(r.Waits) == 0 {
		return 0
	}
	return r.Waits[(len(r.Waits)*percent+99)/100-1]
}

func (r *Report) mean() time.Duration {
	if len(r.Waits) == 0 {
		return 0
	}
	var sum time.Duration
	for _, w := range r.Waits {
		sum += w
	}
	return sum / time.Duration(len(r.Waits))
}

// Err says what is wrong, nil when everything agrees.
func (r *Report) Err() error {
	var errs []error
	for _, f := range r.Faults {
		errs = append(errs, errors.New(f))
	}
	if most := r.quantile(100); most > r.Config.MaxWait {
		errs = append(errs, fmt.Errorf("a process waited %s for another that was alive, at most %s are allowed", most, r.Config.MaxWait))
	}
	return errors.Join(errs...)
}

// String is the report for people.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "crowd: %d processes at once for %s, seed %d\n\n", r.Config.Processes, r.Config.Duration, r.Config.Seed)
	for _, l := range []struct {
		what string
		n    int
	}{
		{"processes", r.Processes}, {"killed", r.Kills}, {"runs", r.Runs}, {"runs of which nothing was written", r.Unborn}, {"runs that gc has removed", r.Removed},
		{"charges in the ledger", r.Charges}, {"effects in doubt at the end, settled", r.Uncertain},
		{"left in doubt by a cancelled run, named", r.Named}, {"faults", len(r.Faults)},
	} {
		fmt.Fprintf(&b, "%-42s %7d\n", l.what, l.n)
	}
	fmt.Fprintf(&b, "\nwaits for the journal       count      mean       p50       p99       max\n%31d %9s %9s %9s %9s\n",
		len(r.Waits), short(r.mean()), short(r.quantile(50)), short(r.quantile(99)), short(r.quantile(100)))
	fmt.Fprintf(&b, "\n%-10s exit codes\n", "verb")
	for _, verb := range slices.Sorted(maps.Keys(r.Exits)) {
		fmt.Fprintf(&b, "%-10s", verb)
		for _, code := range slices.Sorted(maps.Keys(r.Exits[verb])) {
			name := fmt.Sprint(code)
			if code == -1 {
				name = "killed"
			}
			fmt.Fprintf(&b, "  %s: %d", name, r.Exits[verb][code])
		}
		b.WriteByte('\n')
	}
	if len(r.Missing) > 0 {
		fmt.Fprintf(&b, "\nLEFT OUT, because this wrun has no such verb: %s\n", strings.Join(r.Missing, ", "))
	}
	return b.String()
}

func short(d time.Duration) string {
	if d < time.Millisecond {
		return d.Round(time.Microsecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}
