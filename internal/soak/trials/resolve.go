package trials

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// resolve looks up in the ledger what nobody knows, and says it. The process that is told may be killed too.
func (t *trial) resolve(ctx context.Context) error {
	doubt := inDoubt(t.log)[0]
	if told, err := t.mayTell(ctx, doubt); err != nil || told {
		return err
	}
	args, happened, err := t.verdict(doubt)
	if err != nil {
		return err
	}
	var f fate
	if t.rng.IntN(8) == 0 && !t.enough() {
		f.after = 1 + time.Duration(t.rng.Int64N(int64(40*time.Millisecond)))
	}
	exit, err := t.until(ctx, f, append([]string{"--json", "resolve", t.run, doubt.Step}, args...))
	if err != nil {
		return err
	}
	if err := t.readLog(ctx); err != nil {
		return err
	}
	t.report.tell(func(r *Report) { r.Processes++ })
	switch {
	case exit.Killed():
		t.report.landed(Resolving)
	case busy(exit):
		t.report.tell(func(r *Report) { r.Busy++ })
	case t.provider.waits && tooSoon(exit):
		return Pause(ctx, 50*time.Millisecond) // the two clocks were read at different times
	case exit.Code != 0:
		return fmt.Errorf("resolve %s: exit code %d\n%s", doubt.Step, exit.Code, exit.Stderr)
	}
	settled := len(inDoubt(t.log)) == 0
	if exit.Code == 0 && !settled {
		return fmt.Errorf("resolve %s left the step open", doubt.Step)
	}
	t.count(doubt.Step, settled, happened)
	return nil
}

// mayTell returns when the ledger can be asked what became of an effect. told says that nothing is left to be said.
func (t *trial) mayTell(ctx context.Context, doubt entry) (told bool, err error) {
	if !t.provider.waits {
		return false, t.world.settle(ctx)
	}
	// The request left by SendBy or not at all, and was given as long again to arrive.
	until := doubt.SendBy.Add(doubt.SendBy.Sub(doubt.Time))
	reference, err := asked(doubt)
	if err != nil || t.charged(reference) != nil {
		return false, err // it happened, and that can be said at any time
	}
	if time.Until(until) > replyTimeout/2 {
		if told, err := t.tellTooSoon(ctx, doubt, until); err != nil || told {
			return told, err
		}
	}
	return false, Pause(ctx, time.Until(until))
}

// tellTooSoon says that an effect did not happen while it still may, which has to be refused. A machine that is slow may
// have let the time pass; then it was not too soon.
func (t *trial) tellTooSoon(ctx context.Context, doubt entry, until time.Time) (told bool, err error) {
	exit, err := t.wrun.Run(ctx, "--json", "resolve", t.run, doubt.Step, "--did-not-happen")
	t.report.tell(func(r *Report) { r.Processes++ })
	switch {
	case err != nil || busy(exit):
		return false, err
	case tooSoon(exit):
		t.report.tell(func(r *Report) { r.TooSoon++ })
		return false, nil
	case exit.Code == 0 && !time.Now().Before(until):
		t.count(doubt.Step, true, false)
		return true, t.readLog(ctx)
	}
	return false, fmt.Errorf("resolve %s before it can be known: exit code %d\n%s", doubt.Step, exit.Code, exit.Stderr)
}

func tooSoon(e Exit) bool { return e.Code == exitUncertain && strings.Contains(e.Stderr, "W0412") }

// asked returns the reference of the charge that an intent announced.
func asked(doubt entry) (string, error) {
	var request struct {
		Body struct{ Reference string }
	}
	if err := json.Unmarshal(doubt.Body, &request); err != nil || request.Body.Reference == "" {
		return "", fmt.Errorf("the intent of %s does not say what was asked: %s", doubt.Step, errors.Join(err, errors.New(doubt.line)))
	}
	return request.Body.Reference, nil
}

// charged returns the charge with a reference as the ledger has it now, nil when it has none.
func (t *trial) charged(reference string) *ledger.Charge {
	for _, c := range t.world.Charges() {
		if c.Reference == reference {
			return &c
		}
	}
	return nil
}

// verdict is what the ledger knows of an effect, as arguments of wrun resolve.
func (t *trial) verdict(doubt entry) (args []string, happened bool, err error) {
	reference, err := asked(doubt)
	if err != nil {
		return nil, false, err
	}
	c := t.charged(reference)
	if c == nil {
		args := []string{"--did-not-happen", "--note", "the ledger does not have it"}
		if !t.provider.waits {
			args = append(args, "--now")
		}
		return args, false, nil
	}
	reply, err := json.Marshal(map[string]any{"status": 201, "body": c})
	if err != nil {
		return nil, false, err
	}
	return []string{"--happened", string(reply), "--note", "the ledger has it as " + c.ID}, true, nil
}

func (t *trial) count(step string, settled, happened bool) {
	if !settled || t.settled[step] {
		return
	}
	t.settled[step] = true
	t.report.tell(func(r *Report) {
		r.Uncertain++
		if happened {
			r.Happened++
		} else {
			r.DidNotHappen++
		}
	})
}
