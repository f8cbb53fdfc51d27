package main

import (
	"testing"
	"time"
)

func TestQuantilesAreWithinAThirtieth(t *testing.T) {
	var d durations
	if got := d.quantile(0.5); got != 0 {
		t.Errorf("of none: %s", got)
	}
	for ms := range 1000 {
		d.add(time.Duration(ms+1) * time.Millisecond)
	}
	for part, want := range map[float64]time.Duration{0: time.Millisecond, 0.5: 500 * time.Millisecond, 0.99: 990 * time.Millisecond, 1: time.Second} {
		if got := d.quantile(part); (got - want).Abs() > want/30 {
			t.Errorf("%v of them took %s at most, want %s", part, got, want)
		}
	}
	d.add(0)
	d.add(1<<63 - 1)
	if got := d.quantile(1); got <= time.Hour {
		t.Errorf("the longest took %s", got)
	}
	for d, want := range map[time.Duration]string{0: "0s", 123456 * time.Microsecond: "120ms", 99 * time.Second: "1m39s", 1234: "1.2µs"} {
		if got := rough(d); got != want {
			t.Errorf("%d ns: got %s, want %s", d, got, want)
		}
	}
}
