package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/runtime"
)

// budgetFlags say what a run may take in all.
type budgetFlags struct {
	steps, tokens int64
	cost          string
	time          time.Duration
}

func (b *budgetFlags) add(c *cobra.Command) {
	c.Flags().Int64Var(&b.steps, "max-steps", 0, "let the run take at most `N` steps in all")
	c.Flags().Int64Var(&b.tokens, "max-tokens", 0, "let the run use at most `N` tokens of a model in all")
	c.Flags().StringVar(&b.cost, "max-cost", "", "let the run cost at most this `AMOUNT` in all, such as 2.50")
	c.Flags().DurationVar(&b.time, "max-time", 0, "let the run be driven for at most this `DURATION` in all, such as 1h")
}

// budget is what the flags allow. Those that are not there allow nothing.
func (b *budgetFlags) budget(c *cobra.Command) (runtime.Budget, error) {
	budget := runtime.Budget{Steps: b.steps, Tokens: b.tokens, Time: b.time}
	for name, n := range map[string]int64{"max-steps": b.steps, "max-tokens": b.tokens, "max-time": int64(b.time)} {
		if c.Flags().Changed(name) && n <= 0 {
			return budget, usage(c, "--%s: want more than nothing", name)
		}
	}
	if c.Flags().Changed("max-cost") {
		var err error
		if budget.Cost, err = agent.ParseAmount(b.cost); err != nil {
			return budget, usage(c, "--max-cost: want %v", err)
		}
		if budget.Cost == 0 {
			return budget, usage(c, "--max-cost: want more than nothing")
		}
	}
	return budget, nil
}

// budgetWords are the flags that allow as much.
func budgetWords(b runtime.Budget) (words []string) {
	if b.Steps != 0 {
		words = append(words, fmt.Sprintf("--max-steps %d", b.Steps))
	}
	if b.Tokens != 0 {
		words = append(words, fmt.Sprintf("--max-tokens %d", b.Tokens))
	}
	if b.Cost != 0 {
		words = append(words, "--max-cost "+agent.FormatAmount(b.Cost))
	}
	if b.Time != 0 {
		words = append(words, "--max-time "+b.Time.String())
	}
	return words
}

// budgetLine is a budget as --json shows it.
func budgetLine(b runtime.Budget) map[string]any {
	l := map[string]any{}
	if b.Steps != 0 {
		l["steps"] = b.Steps
	}
	if b.Tokens != 0 {
		l["tokens"] = b.Tokens
	}
	if b.Cost != 0 {
		l["cost"] = agent.FormatAmount(b.Cost)
	}
	if b.Time != 0 {
		l["time"] = b.Time.String()
	}
	return l
}

// raise is the command that lets a run go on which has reached a limit.
func (a *app) raise(run, what string) string {
	more := map[string]string{"steps": "N", "tokens": "N", "cost": "AMOUNT", "time": "DURATION"}[what]
	if more == "" {
		return a.cmd("resume " + run)
	}
	return a.cmd(fmt.Sprintf("resume %s --max-%s %s", run, what, more))
}
