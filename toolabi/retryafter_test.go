package toolabi_test

import (
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestRetryAfterIsRead(t *testing.T) {
	const date = "Sun, 29 Nov 2026 10:00:00 GMT"
	for _, c := range []struct {
		said, date string
		want       uint64
	}{
		{"", date, 0},
		{"0", date, 0},
		{"120", "", 120_000},
		{" 7 ", "", 7000},
		{"-1", date, 0},
		{"1.5", date, 0},
		{"soon", date, 0},
		{"1000000000", "", 1_000_000_000_000},
		{"99999999999999999999999999", "", 1000 << 50},
		{"Sun, 29 Nov 2026 10:02:00 GMT", date, 120_000},
		{"Sun, 29 Nov 2026 09:02:00 GMT", date, 0},
		{"Sun, 29 Nov 2026 10:02:00 GMT", "", 0},
		{"Sun, 29 Nov 2026 10:02:00 GMT", "yesterday", 0},
	} {
		r := toolabi.HTTPReply{Headers: []toolabi.Header{{Name: "Date", Value: c.date}, {Name: "Retry-After", Value: c.said}}}
		if got := r.RetryAfterMS(); got != c.want {
			t.Errorf("Retry-After %q with Date %q: got %d ms, want %d", c.said, c.date, got, c.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120", "Sun, 29 Nov 2026 10:00:00 GMT")
	f.Fuzz(func(t *testing.T, said, date string) {
		r := toolabi.HTTPReply{Headers: []toolabi.Header{{Name: "Date", Value: date}, {Name: "Retry-After", Value: said}}}
		if got := r.RetryAfterMS(); got > 1000<<50 {
			t.Errorf("%q: %d ms", said, got)
		}
	})
}
