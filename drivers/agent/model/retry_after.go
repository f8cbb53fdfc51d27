package model

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter returns how long a provider asks to be left alone, in milliseconds: Retry-After-Ms, or Retry-After as seconds, with a
// fraction too, or as a date (RFC 9110, section 10.2.3), which counts from the answer's own Date or else from now. 0 when it does
// not say, or not so that it can be understood. How long is too long is for the reader.
func retryAfter(h http.Header, now time.Time) uint64 {
	if ms, ok := decimal(h.Get("Retry-After-Ms")); ok {
		return toMS(ms)
	}
	said := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, ok := decimal(said); ok {
		return toMS(seconds * 1000)
	}
	until, err := http.ParseTime(said)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(strings.TrimSpace(h.Get("Date"))); err == nil {
		now = date
	}
	return uint64(max(until.Sub(now).Milliseconds(), 0))
}

// decimal reads a number of digits, with a fraction or without.
func decimal(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil || math.IsInf(n, 0)
}

func toMS(ms float64) uint64 {
	return uint64(min(math.Ceil(ms), 1<<50)) // the rest is for ever as well
}
