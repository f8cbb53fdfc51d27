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
	if err := t.world.settle(ctx); err != nil {
		return err
	}
	requests := len(t.requests(""))
	second, err := t.wrun.Run(ctx, "--json", "resume", t.run)
	if err != nil {
		return err
	}
	n := len(t.log)
	if err := t.readLog(ctx); err != nil {
		return err
	}
	t.report.tell(func(r *Report) { r.Again += again(t.log) })
	code := 0
	if t.failed >= 0 {
		code = exitFailed
	}
	if second.Code != code || second.Stdout != t.output || len(t.log) != n || len(t.requests("")) != requests {
		return fmt.Errorf("the finished run was resumed to exit code %d, %d new entries, and returned %q after %q", second.Code, len(t.log)-n, second.Stdout, t.output)
	}
	made, err := t.made()
	if err != nil {
		return err
	}
	return errors.Join(t.verifyLog(made), t.verifyLookups(), t.verifyRequests(), t.verifyOutput(made))
}

// made returns the charges of the run by their references, each of which the ledger must have as often as it is due.
func (t *trial) made() (map[string]ledger.Charge, error) {
	times, made := map[string]int{}, map[string]ledger.Charge{}
	for _, c := range t.world.Charges() {
		if strings.HasPrefix(c.Reference, t.run+"-") {
			times[c.Reference]++
			made[c.Reference] = c
		}
	}
	var errs []error
	for i, w := range t.provider.planCharges(t.run) {
		n := times[w.reference]
		least, most := t.due(i)
		delete(times, w.reference)
		t.report.tell(func(r *Report) {
			r.Charges += n
			r.Repeated += max(0, n-most)
			r.Missing += max(0, least-n)
			if i == t.failed && n > 0 {
				r.UnsettledMade++
			}
		})
		if n < least || n > most || n > 0 && made[w.reference].AmountCents != w.cents {
			errs = append(errs, fmt.Errorf("the ledger has %s %d times, over %d cents; want it %d to %d times, over %d", w.reference, n, made[w.reference].AmountCents, least, most, w.cents))
		}
	}
	for ref := range times {
		errs = append(errs, fmt.Errorf("the ledger has %s, which is not in the plan", ref))
	}
	return made, errors.Join(errs...)
}

// due says how often a charge of the plan has to be in the ledger: once, unless the run failed with it or before it.
func (t *trial) due(i int) (least, most int) {
	switch {
	case t.failed < 0 || i < t.failed:
		return 1, 1
	case i == t.failed && t.detail == unsettled:
		return 0, 1
	}
	return 0, 0
}

// verifyLog wants exactly one result for every charge, with the ledger's own name for it, and one key for all attempts.
func (t *trial) verifyLog(made map[string]ledger.Charge) error {
	home := t.homes()
	keys, ids, results := map[string]string{}, map[string]string{}, map[string]int{}
	var errs []error
	for _, e := range t.log {
		step := home(e)
		switch {
		case e.Kind == "late":
			errs = append(errs, fmt.Errorf("a late entry: %s", e.line))
		case !e.effect():
		case e.Kind == "intent":
			if k, ok := keys[step]; ok && k != e.Key || e.Key == "" {
				errs = append(errs, fmt.Errorf("%s has the key %q after %q", e.Step, e.Key, k))
			}
			keys[step] = e.Key
		case e.Kind == "result":
			var reply struct {
				Status int
				Body   struct{ ID string }
			}
			if err := json.Unmarshal(e.Body, &reply); err != nil {
				errs = append(errs, fmt.Errorf("result of %s: %w", e.Step, err))
			}
			if reply.Status/100 == 2 {
				results[step]++
				ids[step] = reply.Body.ID
			}
		}
	}
	if doubts := inDoubt(t.log); len(doubts) > 0 {
		errs = append(errs, fmt.Errorf("the run is done, and %s is in doubt", doubts[0].Step))
	}
	wanted := t.provider.planCharges(t.run)
	if t.failed >= 0 {
		wanted = wanted[:t.failed]
	}
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

// homes returns how to find the step that stands for an entry: a keyed call may send again what was not answered, in steps
// of their own, and all of them have to be the one request.
func (t *trial) homes() func(entry) string {
	keyed := map[string]string{}
	for _, w := range t.provider.planCharges(t.run) {
		if w.keyed {
			keyed[w.call] = w.step
		}
	}
	return func(e entry) string {
		call, _, _ := strings.Cut(e.first(), "/")
		if step, ok := keyed[call]; ok {
			return step
		}
		return e.first()
	}
}

func (t *trial) verifyOutput(made map[string]ledger.Charge) error {
	if t.failed >= 0 {
		return nil
	}
	all := t.provider.planCharges(t.run)
	want := fmt.Sprintf("{\"first\":%q,\"last\":%q}\n", made[all[0].reference].ID, made[all[len(all)-1].reference].ID)
	if t.output != want {
		return fmt.Errorf("the run returned %q, want %q", t.output, want)
	}
	return nil
}
