package main

import (
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/runtime"
)

func TestACostIsExact(t *testing.T) {
	for text, want := range map[string]int64{
		"2.50": 2_500_000, "2": 2_000_000, "0.000001": 1, "0.1": 100_000, "9223372036853.999999": 9_223_372_036_853_999_999, "007.5": 7_500_000,
	} {
		if got, err := parseCost(text); err != nil || got != want {
			t.Errorf("%s is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "1.", ".5", "-1", "+1", "1e3", "1,5", "0", "0.000000", "0.0000001", "1.2.3", " 1", "1 ", "９", "0x1", "9223372036855", "99999999999999999999"} {
		if got, err := parseCost(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func FuzzCost(f *testing.F) {
	for _, s := range []string{"2.50", "0.000001", "1e3", "9223372036853.999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := parseCost(s)
		if err != nil {
			return
		}
		if n <= 0 {
			t.Fatalf("%q is %d", s, n)
		}
		if again, err := parseCost(costText(n)); err != nil || again != n {
			t.Errorf("%q is %d, written as %s, which is %d, %v", s, n, costText(n), again, err)
		}
	})
}

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
