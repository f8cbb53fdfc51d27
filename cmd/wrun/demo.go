package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

func newDemo(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show the main job: charge once, kill the process, resume, repeat nothing",
		Long: `Show the main job with everything real: a ledger that takes money listens on loopback,
a plan charges it once, and the process that runs the plan is killed with SIGKILL,
(a) after the charge was sent and before its reply is recorded, (b) after the reply is
recorded. New processes resume. What the ledger counted decides whether it worked.

The bundled tools are built from source, which takes a minute the first time.`,
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
	defer func() { err = errors.Join(err, s.ledger.close()) }()
	for _, show := range []func(context.Context) error{s.caseA, s.caseB} {
		if err := show(ctx); err != nil {
			return err
		}
	}
	return s.verdict()
}

// demoPlan charges once, then looks the charge up, then writes a receipt.
const demoPlan = `name: demo
tools:
  payments: ./payments.wasm
  text: ./text.wasm
steps:
  - id: charge
    tool: payments.charge
    with:
      ledger: ${ .input.ledger }
      account: acme
      amount_cents: 4200
      reference: ${ .input.reference }
  - id: find
    tool: payments.find
    with:
      ledger: ${ .input.ledger }
      reference: ${ .input.reference }
  - id: receipt
    tool: text.render
    with:
      template: "{{.id}}: 42.00 for {{.reference}}"
      data: ${ .find.charges[0] }
output: ${ .receipt.text }
`

// setStage builds the tools, writes the plan and starts the ledger.
func (a *app) setStage(ctx context.Context, dir string) (*stage, error) {
	src, err := sources()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, tool := range []string{"payments", "text"} {
		a.say("building tools/%s from source", tool)
		wasm, err := a.buildTool(ctx, filepath.Join(src, "tools", tool))
		if err != nil {
			return nil, err
		}
		if err := writeFile(filepath.Join(dir, tool+".wasm"), wasm); err != nil {
			return nil, err
		}
	}
	plan := filepath.Join(dir, "demo.yaml")
	if err := writeFile(plan, []byte(demoPlan)); err != nil {
		return nil, err
	}
	l, err := openLedger(filepath.Join(dir, "ledger.jsonl"))
	if err != nil {
		return nil, err
	}
	s := &stage{app: a, dir: dir, plan: plan, self: self, ledger: l, journal: filepath.Join(dir, "journal.db")}
	if err := a.printf("a ledger listens on %s; the plan charges 42.00 once, looks the charge up, writes a receipt\n", l.url); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return s, nil
}

// verdict holds what the ledger counted against the promise.
func (s *stage) verdict() error {
	byReference := map[string]int{}
	for _, c := range s.ledger.Charges() {
		byReference[c.Reference]++
	}
	if err := s.app.printf("\nthe ledger counted: demo-a %d charge, demo-b %d charge\n", byReference["demo-a"], byReference["demo-b"]); err != nil {
		return err
	}
	for _, ref := range []string{"demo-a", "demo-b"} {
		if n := byReference[ref]; n != 1 {
			s.wrong = append(s.wrong, fmt.Errorf("%s was charged %d times", ref, n))
		}
	}
	if len(s.wrong) > 0 {
		return &codedError{codeDemo, errors.Join(s.wrong...)}
	}
	return s.app.printf("money moved once, each time\n")
}
