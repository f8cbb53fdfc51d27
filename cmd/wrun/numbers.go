package main

import (
	"fmt"
	"strconv"
	"time"
)

// number is how many there are of something.
func number(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// bytesText is a number of bytes for people.
func bytesText(n int64) string {
	for _, u := range []struct {
		of   int64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if n >= u.of {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.of), u.name)
		}
	}
	return number(uint64(n), "byte", "bytes")
}

// compact is a number in at most five signs, rounded where it has more digits.
func compact(n uint64) string {
	if n < 100_000 {
		return strconv.FormatUint(n, 10)
	}
	v, unit := float64(n)/1e3, 0
	for v >= 999.5 && unit < 5 {
		v, unit = v/1e3, unit+1
	}
	digits := 0
	if v < 99.95 {
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + "kMGTPE"[unit:unit+1]
}

// tookText is a duration in at most six signs.
func tookText(ns int64) string {
	d := time.Duration(max(ns, 0))
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1fms", float64(d)/1e6)
	case d < time.Second:
		return fmt.Sprintf("%dms", d/time.Millisecond)
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", float64(d/(100*time.Millisecond))/10)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 100*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}
