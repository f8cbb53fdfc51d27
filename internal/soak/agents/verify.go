package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// cost is what "wrun cost --json" says.
type cost struct {
	Paid, Replayed struct{ Answers int }
	Twice          []struct{ Step, Key string } `json:"possibly_paid_twice"`
}

func (t *trial) readCost(ctx context.Context) (c cost, err error) {
	exit, err := t.wrun.Run(ctx, "--json", "cost", t.run)
	switch {
	case err != nil:
		return c, err
	case exit.Code != 0:
		return c, fmt.Errorf("cost of %s: exit code %d\n%s", t.run, exit.Code, exit.Stderr)
	}
	if err := json.Unmarshal([]byte(exit.Stdout), &c); err != nil {
		return c, fmt.Errorf("cost of %s: %w in %s", t.run, err, exit.Stdout)
	}
	return c, nil
}

// account is what was paid under one key.
type account struct{ bills, recorded, doubts, unanswered int }

// double is how many bills there are beyond the one of the answer, hidden how many of these nobody says.
func (a account) double() int { return max(0, a.bills-max(1, a.recorded)) }
func (a account) hidden() int { return max(0, a.bills-a.recorded-a.doubts) }

// accounts holds the bills against the log and against what the program says of them.
func (t *trial) accounts(ctx context.Context) (map[string]*account, error) {
	said, err := t.readCost(ctx)
	if err != nil {
		return nil, err
	}
	bills, err := t.world.billed()
	if err != nil {
		return nil, err
	}
	all, sum := map[string]*account{}, 0
	recorded, unanswered := fromLog(t.log)
	for _, e := range t.log {
		if e.thinks() && e.Kind == "intent" && all[e.Key] == nil {
			all[e.Key] = &account{bills: bills[e.Key], recorded: recorded[e.Key], unanswered: unanswered[e.Key]}
			sum += recorded[e.Key]
		}
	}
	for _, d := range said.Twice {
		if all[d.Key] == nil {
			return nil, fmt.Errorf("the cost doubts %s under a key that is not in the log", d.Step)
		}
		all[d.Key].doubts++
	}
	if said.Paid.Answers != sum {
		return nil, fmt.Errorf("the cost has %d answers, the log has %d", said.Paid.Answers, sum)
	}
	var errs []error
	for key, a := range all {
		if a.hidden() > 0 || a.bills < a.recorded || a.doubts > a.unanswered || t.knows && a.double() > 0 {
			t.report.tell(func(r *Report) { r.Hidden += a.hidden() })
			errs = append(errs, fmt.Errorf("%s: %d bills, %d answers recorded, %d doubts in the cost, %d requests without an answer in the log (the provider knows keys: %v)",
				key, a.bills, a.recorded, a.doubts, a.unanswered, t.knows))
		}
	}
	return all, errors.Join(errs...)
}

// audit looks at the accounts of a run that is not at its end.
func (t *trial) audit(ctx context.Context) error {
	if len(t.log) == 0 || t.rng.IntN(2) == 0 {
		return nil
	}
	_, err := t.accounts(ctx)
	return err
}

// verify holds the log of a run that is done against the world, and resumes it once more: nothing may change by that.
func (t *trial) verify(ctx context.Context) error {
	all, err := t.accounts(ctx)
	if err != nil {
		return err
	}
	var bills int
	for key, a := range all {
		if a.recorded != 1 {
			return fmt.Errorf("%s: %d answers are recorded at the end", key, a.recorded)
		}
		bills += a.bills
		t.report.tell(func(r *Report) {
			r.Bills, r.Answers, r.Double = r.Bills+a.bills, r.Answers+a.recorded, r.Double+a.double()
			r.Doubts, r.Surplus = r.Doubts+a.doubts, r.Surplus+a.doubts-a.double()
		})
	}
	// What is no UTF-8 in an answer is a mark in what it says, and the answer is one all the same.
	if len(all) != answers || strings.ReplaceAll(t.output, "\uFFFD", "") != output(t.run) {
		return fmt.Errorf("the run has %d answers and returned %q", len(all), t.output)
	}
	n := len(t.log)
	second, err := t.until(ctx, fate{}, []string{"--json", "resume", t.run})
	if err != nil {
		return err
	}
	again, err := t.accounts(ctx)
	if err != nil {
		return err
	}
	for _, a := range again {
		bills -= a.bills
	}
	if second.Code != 0 || second.Stdout != t.output || len(t.log) != n || bills != 0 {
		return fmt.Errorf("the finished run was resumed to exit code %d, %d new entries, %d new bills, and returned %q after %q",
			second.Code, len(t.log)-n, -bills, second.Stdout, t.output)
	}
	return t.verifyCharges()
}

// verifyCharges wants every charge of the run in the ledger once.
func (t *trial) verifyCharges() error {
	var made []string
	for _, c := range t.world.ledger.Charges() {
		if strings.HasPrefix(c.Reference, t.run+"-") {
			made = append(made, c.Reference)
		}
	}
	slices.Sort(made)
	want := charges(t.run)
	if slices.Equal(made, want) {
		return nil
	}
	t.report.tell(func(r *Report) {
		for _, ref := range want {
			r.Missing += max(0, 1-count(made, ref))
		}
		for _, ref := range slices.Compact(slices.Clone(made)) {
			r.Repeated += max(0, count(made, ref)-count(want, ref))
		}
	})
	return fmt.Errorf("the ledger has %q, want %q", made, want)
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}
