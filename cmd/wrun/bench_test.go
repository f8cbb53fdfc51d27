package main

import (
	"strings"
	"testing"
	"time"
)

func TestWhatIsMeasuredIsJudged(t *testing.T) {
	for _, c := range []struct {
		m    measured
		want string
	}{
		{measured{median: time.Microsecond, alone: 20_000, calls: 100_000}, "it is memory"},
		{measured{median: 40 * time.Millisecond, alone: 20, calls: 100_000}, "every step that must not be lost waits 50ms"},
		{measured{median: time.Millisecond, alone: 800, calls: 100_000}, "waits 1.25ms for the disk; a call of a small tool takes 125 times less"},
		{measured{median: 50 * time.Microsecond, alone: 9000, calls: 4000}, "The processor decides"},
		{measured{median: time.Second}, "The disk is slow"},
	} {
		if got := c.m.judgement(); !strings.Contains(got, c.want) {
			t.Errorf("of %+v it says %q, want %q", c.m, got, c.want)
		}
	}
}
