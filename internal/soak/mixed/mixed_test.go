package mixed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/soak/mixed"
)

// short is the least that goes through everything and can be judged.
func short() mixed.Config {
	return mixed.Config{Duration: time.Second, Seed: 7, Cycles: 4}
}

func TestUnderLoadNothingGrowsAndEveryCallComesToWhatItHasTo(t *testing.T) {
	report, err := mixed.Run(t.Context(), short())
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + report.String())
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	for _, ending := range []string{"output", "failed", "trapped", "exited", "killed", "run", "limit_fuel", "limit_memory"} {
		if report.Calls[ending] == 0 {
			t.Errorf("no call came to %q", ending)
		}
	}
}

func TestASoakThatCannotBeJudgedIsRefused(t *testing.T) {
	for _, cfg := range []mixed.Config{{}, {Duration: time.Second, Cycles: 3}, {Duration: time.Second, Load: 1.1}, {Duration: time.Second, Load: -1}} {
		if _, err := mixed.Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "cycles") {
			t.Errorf("%+v: error %v, want one that says what it takes", cfg, err)
		}
	}
}
