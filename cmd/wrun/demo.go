package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/internal/ledger"
)

func newDemo(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show the main job: pay once, kill the process, resume, repeat nothing",
		Long: `Show the main job with everything real: a ledger that takes money and a model that charges
for its answers listen on loopback and count what they are asked for. An agent pays once, and
its process is killed with SIGKILL (a) after the payment was made and while its tool asks for
something else, (b) after the payment was sent and before its reply is recorded. New processes
resume. What the ledger and the model counted decides whether it worked.

The model's answers come from a script. The bundled tool is built from source, which takes a
minute the first time.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), 5*time.Minute)
			defer cancel()
			return a.demo(ctx)
		},
	}
}

func (a *app) demo(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "wrun-demo-")
	if err != nil {
		return fileError(err)
	}
	defer func() {
		if removeErr := os.RemoveAll(dir); err == nil && removeErr != nil {
			err = fileError(removeErr)
		}
	}()
	s, err := a.setStage(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.ledger.Close(), s.model.Close()) }()
	for _, show := range []func(context.Context) error{s.threeRounds, s.uncertain} {
		if err := show(ctx); err != nil {
			return err
		}
	}
	return s.verdict()
}

// demoAgent pays with a tool. Its file names a script, and the environment another model.
const demoAgent = `name: cashier
model:
  use: scripted
  script: replies.yaml
  stream: false
  prices: { input: 3, output: 15 }
instructions: You take payments with the tool, once, and say what was paid.
tools:
  payments: { from: ./payments.wasm, use: [pay] }
`

// demoReplies answer by what they are told, as a model does: a process that is new asks for nothing again.
const demoReplies = `replies:
  - when: .results | length > 0
    say: "${ .results[0].output.account } has paid ${ .results[0].output.paid_cents } cents in all."
  - call: payments.pay
    with:
      ledger: ${ .task | capture("at (?<url>[^ ]+)").url }
      account: ${ .task | capture("from (?<name>[^ ]+)").name }
      amount_cents: 4200
      reference: ${ .task | capture("reference (?<id>[^ ]+)").id }
`

// setStage builds the tool, writes the agent, and starts the ledger and the model.
func (a *app) setStage(ctx context.Context, dir string) (*stage, error) {
	src, err := sources()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	a.say("building tools/payments from source")
	wasm, err := a.buildTool(ctx, filepath.Join(src, "tools", "payments"))
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{"payments.wasm": wasm, "agent.yaml": []byte(demoAgent), "replies.yaml": []byte(demoReplies)} {
		if err := writeFile(filepath.Join(dir, name), content); err != nil {
			return nil, err
		}
	}
	replies, err := script.Parse([]byte(demoReplies))
	if err != nil {
		return nil, err
	}
	s := &stage{app: a, dir: dir, agent: filepath.Join(dir, "agent.yaml"), self: self, journal: filepath.Join(dir, "journal.db")}
	if s.ledger, err = ledger.Start(ledger.Config{File: filepath.Join(dir, "ledger.jsonl")}); err != nil {
		return nil, err
	}
	if s.model, err = fakemodel.Start(fakemodel.Config{Script: replies, File: filepath.Join(dir, "bills.jsonl")}); err != nil {
		return nil, errors.Join(err, s.ledger.Close())
	}
	err = a.tell("a ledger listens on %s, and a model on %s; both count what they are asked for\n", s.ledger.URL(), s.model.URL())
	if err != nil {
		return nil, errors.Join(err, s.ledger.Close(), s.model.Close())
	}
	return s, nil
}

// verdict holds what the ledger and the model counted against the promise.
func (s *stage) verdict() error {
	charges := map[string]int{}
	for _, c := range s.ledger.Charges() {
		charges[c.Reference]++
	}
	keys := map[string]int{}
	for _, b := range s.model.Bills() {
		keys[b.Key]++
	}
	if err := s.app.tell("\nthe ledger counted: demo-a %d charge, demo-b %d charge; the model was paid for %d answers to %d questions\n",
		charges["demo-a"], charges["demo-b"], len(s.model.Bills()), len(keys)); err != nil {
		return err
	}
	for _, ref := range []string{"demo-a", "demo-b"} {
		if n := charges[ref]; n != 1 {
			s.wrong = append(s.wrong, fmt.Errorf("%s was charged %d times", ref, n))
		}
	}
	if n := len(s.model.Bills()); n != 4 || len(keys) != n {
		s.wrong = append(s.wrong, fmt.Errorf("the model was paid %d times for %d questions instead of once for each of 4", n, len(keys)))
	}
	if s.app.json {
		if err := s.app.line(map[string]any{
			"charges": charges, "answers": len(s.model.Bills()), "questions": len(keys), "kept": len(s.wrong) == 0,
		}); err != nil {
			return err
		}
	}
	if len(s.wrong) > 0 {
		return &codedError{codeDemo, errors.Join(s.wrong...)}
	}
	return s.app.tell("money moved once, and each answer was paid once\n")
}

// tell shows people what happens: on standard output, or on standard error where that is for JSON.
func (a *app) tell(format string, args ...any) error {
	if !a.json {
		return a.printf(format, args...)
	}
	a.say("%s", strings.TrimSuffix(fmt.Sprintf(format, args...), "\n"))
	return nil
}
