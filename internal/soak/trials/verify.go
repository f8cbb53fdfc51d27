package trials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// verify holds the log of a run that is done against the ledger, and resumes it once more: nothing may change by that.
func (t *trial) verify(ctx context.Context) error {
	again, err := t.wrun.Run(ctx, "--json", "resume", t.run)
	if err != nil {
		return err
	}
	n := len(t.log)
	if err := t.readLog(ctx); err != nil {
		return err
	}
	if again.Code != 0 || again.Stdout != t.output || len(t.log) != n {
		return fmt.Errorf("the finished run was resumed to exit code %d, %d new entries, and returned %q after %q", again.Code, len(t.log)-n, again.Stdout, t.output)
	}
	made, err := t.made()
	if err != nil {
		return err
	}
	return errors.Join(t.verifyLog(made), t.verifyOutput(made))
}

// made returns the charges of the run by their references, each of which the ledger must have once.
func (t *trial) made() (map[string]ledger.Charge, error) {
	times, made := map[string]int{}, map[string]ledger.Charge{}
	for _, c := range t.world.Charges() {
		if strings.HasPrefix(c.Reference, t.run+"-") {
			times[c.Reference]++
			made[c.Reference] = c
		}
	}
	var errs []error
	for _, w := range planCharges(t.run) {
		n := times[w.reference]
		delete(times, w.reference)
		t.report.tell(func(r *Report) {
			r.Charges += n
			r.Repeated += max(0, n-1)
			r.Missing += max(0, 1-n)
		})
		if n != 1 || made[w.reference].AmountCents != w.cents {
			errs = append(errs, fmt.Errorf("the ledger has %s %d times, over %d cents; want it once, over %d", w.reference, n, made[w.reference].AmountCents, w.cents))
		}
	}
	for ref := range times {
		errs = append(errs, fmt.Errorf("the ledger has %s, which is not in the plan", ref))
	}
	return made, errors.Join(errs...)
}

// verifyLog wants exactly one result for every charge, with the ledger's own name for it, and one key for all attempts.
func (t *trial) verifyLog(made map[string]ledger.Charge) error {
	keys, ids, results := map[string]string{}, map[string]string{}, map[string]int{}
	var errs []error
	for _, e := range t.log {
		switch {
		case e.Kind == "late":
			errs = append(errs, fmt.Errorf("a late entry: %s", e.line))
		case !e.once():
		case e.Kind == "intent":
			if k, ok := keys[e.first()]; ok && k != e.Key || e.Key == "" {
				errs = append(errs, fmt.Errorf("%s has the key %q after %q", e.Step, e.Key, k))
			}
			keys[e.first()] = e.Key
		case e.Kind == "result":
			results[e.first()]++
			var reply struct{ Body struct{ ID string } }
			if err := json.Unmarshal(e.Body, &reply); err != nil {
				errs = append(errs, fmt.Errorf("result of %s: %w", e.Step, err))
			}
			ids[e.first()] = reply.Body.ID
		}
	}
	if doubts := inDoubt(t.log); len(doubts) > 0 {
		errs = append(errs, fmt.Errorf("the run is done, and %s is in doubt", doubts[0].Step))
	}
	wanted := planCharges(t.run)
	for _, w := range wanted {
		c := made[w.reference]
		if results[w.step] != 1 || ids[w.step] != c.ID || keys[w.step] != c.Key {
			errs = append(errs, fmt.Errorf("%s: the journal has %d results, charge %q and key %q; the ledger has %q and %q", w.step, results[w.step], ids[w.step], keys[w.step], c.ID, c.Key))
		}
	}
	if len(results) != len(wanted) {
		errs = append(errs, fmt.Errorf("the journal has results of %d charges, the plan makes %d", len(results), len(wanted)))
	}
	return errors.Join(errs...)
}

func (t *trial) verifyOutput(made map[string]ledger.Charge) error {
	all := planCharges(t.run)
	want := fmt.Sprintf("{\"first\":%q,\"last\":%q}\n", made[all[0].reference].ID, made[all[len(all)-1].reference].ID)
	if t.output != want {
		return fmt.Errorf("the run returned %q, want %q", t.output, want)
	}
	return nil
}
