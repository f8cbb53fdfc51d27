package main

import (
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/runtime"
)

// Every limit names the flag that raises it.
func TestProblemsOfBudgets(t *testing.T) {
	for what, flag := range map[string]string{
		"steps": "--max-steps N", "tokens": "--max-tokens N", "cost": "--max-cost AMOUNT", "time": "--max-time DURATION", "patience": "",
	} {
		p := new(app).problem(&runtime.BudgetError{Run: "r", What: what, Used: "2.51", Limit: "2.50"})
		if p.code.id != "W0435" || p.exit != exitLimit || p.title != "run r reached its limit of "+what+": 2.51 of 2.50" ||
			p.next != strings.TrimSpace("wrun resume r "+flag) {
			t.Errorf("%s: %+v", what, p)
		}
		if got := limitIn(p.title); got != what && what != "patience" {
			t.Errorf("%q is a limit of %q", p.title, got)
		}
	}
	words := strings.Join(budgetWords(runtime.Budget{Steps: 1, Tokens: 2, Cost: 2_500_000, Time: time.Hour}), " ")
	if words != "--max-steps 1 --max-tokens 2 --max-cost 2.50 --max-time 1h0m0s" {
		t.Errorf("it is %s", words)
	}
}
