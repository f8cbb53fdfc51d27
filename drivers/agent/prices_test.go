package agent_test

import (
	"errors"
	"math"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/model"
)

func TestAmountsAreExact(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "3": 3_000_000, "2.50": 2_500_000, "0.000001": 1, "999999999.999999": 999_999_999_999_999, "007": 7_000_000,
	} {
		if got, err := agent.ParseAmount(text); err != nil || got != want {
			t.Errorf("%s is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "1.", ".5", "1.0000001", "1e3", "1,5", " 1", "1000000000", "0x1", "٣"} {
		if got, err := agent.ParseAmount(text); !errors.Is(err, agent.ErrAmount) {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
	for millionths, want := range map[int64]string{
		0: "0.00", 1: "0.000001", 2_500_000: "2.50", 23_100: "0.0231", -2_500_000: "-2.50", math.MaxInt64: "9223372036854.775807", math.MinInt64: "-9223372036854.775808",
	} {
		if got := agent.FormatAmount(millionths); got != want {
			t.Errorf("%d is shown as %s, want %s", millionths, got, want)
		}
	}
}

func TestCostsAreRoundedUpAndDoNotOverflow(t *testing.T) {
	free := int64(0)
	p := &agent.Prices{Input: 3_000_000, Output: 15_000_000, CacheRead: &free}
	for _, c := range []struct {
		usage model.Usage
		want  int64
	}{
		{model.Usage{}, 0},
		{model.Usage{Input: 1}, 3},
		{model.Usage{Input: 1000, Output: 200}, 6000},
		{model.Usage{Input: 10, CacheRead: 1000, CacheWrite: 10}, 60},
		{model.Usage{Input: math.MaxInt64, Output: math.MaxInt64}, math.MaxInt64},
	} {
		if got := p.Of(c.usage); got != c.want {
			t.Errorf("%+v costs %d, want %d", c.usage, got, c.want)
		}
	}
	if got := (&agent.Prices{Input: 1}).Of(model.Usage{Input: 1}); got != 1 {
		t.Errorf("a part of a millionth costs %d, want 1", got)
	}
	if got := (*agent.Prices)(nil).Of(model.Usage{Input: 1000}); got != 0 {
		t.Errorf("without prices it costs %d", got)
	}
}

func FuzzParseAmount(f *testing.F) {
	for _, s := range []string{"2.50", "0.000001", "1e3", "999999999.999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := agent.ParseAmount(s)
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("%q is %d", s, n)
		}
		if again, err := agent.ParseAmount(agent.FormatAmount(n)); err != nil || again != n {
			t.Errorf("%q is %d, written as %s, which is %d, %v", s, n, agent.FormatAmount(n), again, err)
		}
	})
}
