package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/soak/trials"
)

// world is a ledger and a provider of models, each of which keeps in a file what it did.
type world struct {
	ledger *ledger.Ledger
	model  *fakemodel.Fake
	bills  string // the provider's file

	money, thought   *trapped // the two, with traps
	moneyAt, modelAt *trials.Server
}

// openWorld starts both; their files begin with a name.
func openWorld(name string, says *script.Script) (*world, error) {
	w := &world{bills: name + "-bills.jsonl"}
	var err error
	if w.ledger, err = ledger.New(ledger.Config{File: name + "-ledger.jsonl"}); err != nil {
		return nil, err
	}
	if w.model, err = fakemodel.New(fakemodel.Config{Script: says, File: w.bills}); err != nil {
		return nil, errors.Join(err, w.close())
	}
	w.money, w.thought = &trapped{Handler: w.ledger}, &trapped{Handler: w.model}
	if w.moneyAt, err = trials.Serve(w.money); err == nil {
		w.modelAt, err = trials.Serve(w.thought)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *world) close() (err error) {
	for _, s := range []*trials.Server{w.moneyAt, w.modelAt} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if w.model != nil {
		err = errors.Join(err, w.model.Close())
	}
	return errors.Join(err, w.ledger.Close())
}

// settle returns when nothing that a dead process has sent is on its way any more.
func (w *world) settle(ctx context.Context) error {
	return errors.Join(w.moneyAt.Settle(ctx), w.modelAt.Settle(ctx))
}

// billed counts, from the provider's file, what each key was billed.
func (w *world) billed() (map[string]int, error) {
	text, err := os.ReadFile(w.bills)
	if err != nil {
		return nil, fmt.Errorf("read the bills: %w", err)
	}
	n := map[string]int{}
	for line := range bytes.Lines(text) {
		var b fakemodel.Bill
		if err := json.Unmarshal(line, &b); err != nil {
			return nil, fmt.Errorf("read the bills: %w in %s", err, line)
		}
		n[b.Key]++
	}
	return n, nil
}
