package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// approve agrees to what is asked first. The process that is told may be killed too.
func (t *trial) approve(ctx context.Context) error {
	asked := questions(t.log)[0].Step
	return t.say(ctx, Approving, []string{"--json", "approve", t.run, asked}, func() (settled bool) {
		for _, q := range questions(t.log) {
			if q.Step == asked {
				return false
			}
		}
		t.report.tell(func(r *Report) { r.Approved++ })
		return true
	})
}

// resolve looks up in the ledger what nobody knows, and says it. The process that is told may be killed too.
func (t *trial) resolve(ctx context.Context) error {
	doubts := inDoubt(t.log)
	if len(doubts) == 0 {
		return errors.New("the run is called uncertain, and no effect in its log is in doubt")
	}
	args, err := t.verdict(doubts[0])
	if err != nil {
		return err
	}
	return t.say(ctx, Resolving, append([]string{"--json", "resolve", t.run, doubts[0].Step}, args...), func() (settled bool) {
		for _, d := range inDoubt(t.log) {
			if d.Step == doubts[0].Step {
				return false
			}
		}
		t.report.tell(func(r *Report) { r.Uncertain++ })
		return true
	})
}

// say runs a command that settles something in the log.
func (t *trial) say(ctx context.Context, m Moment, args []string, settled func() bool) error {
	exit, err := t.until(ctx, t.briefly(), args)
	if err != nil {
		return err
	}
	ok := settled()
	switch {
	case exit.Killed():
		t.report.landed(m)
	case busy(exit):
		t.report.tell(func(r *Report) { r.Busy++ })
	case exit.Code != 0 || !ok:
		return fmt.Errorf("wrun %s: exit code %d, settled %v\n%s", args[1:], exit.Code, ok, exit.Stderr)
	}
	return nil
}

// verdict is what the ledger knows of a charge, as arguments of wrun resolve.
func (t *trial) verdict(doubt entry) ([]string, error) {
	var request struct {
		Body struct{ Reference string }
	}
	if err := json.Unmarshal(doubt.Body, &request); err != nil || request.Body.Reference == "" {
		return nil, fmt.Errorf("the intent of %s does not say what was asked: %v in %s", doubt.Step, err, doubt.line)
	}
	for _, c := range t.world.ledger.Charges() {
		if c.Reference == request.Body.Reference {
			reply, err := json.Marshal(map[string]any{"status": 201, "body": c})
			return []string{"--happened", string(reply), "--note", "the ledger has it as " + c.ID}, err
		}
	}
	return []string{"--did-not-happen", "--now", "--note", "the ledger does not have it"}, nil
}
