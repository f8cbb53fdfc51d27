package hostfuncs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestASleepWaitsForTheClock(t *testing.T) {
	f := function(t, toolabi.FuncSleep)
	for _, tt := range []struct {
		c    hostfuncs.Call
		req  toolabi.SleepRequest
		due  time.Time
		says string
	}{
		{at(50), toolabi.SleepRequest{MS: 1}, time.Unix(50, 1e6), "for 1ms"},
		{hostfuncs.Call{}, toolabi.SleepRequest{MS: toolabi.MaxSleepMS}, time.Unix(1000, 0).Add(366 * 24 * time.Hour), "for 8784h0m0s"},
		{at(50), toolabi.SleepRequest{Until: 60e9}, time.Unix(60, 0), "until 1970-01-01T00:01:00Z"},
		{at(50), toolabi.SleepRequest{Until: 49e9}, time.Unix(49, 0), "until 1970-01-01T00:00:49Z"},
		{at(50), toolabi.SleepRequest{Until: -1 << 63}, time.Unix(0, -1<<63), "until 1677-09-21T00:12:43Z"},
	} {
		p, err := f.Await(tt.c, encode(t, tt.req))
		if err != nil {
			t.Errorf("%+v: %v", tt.req, err)
			continue
		}
		var reply toolabi.SleepReply
		if !p.Due.Equal(tt.due) || !p.Expires.IsZero() || p.Detail != nil || toolabi.Decode(p.Reply, &reply) != nil {
			t.Errorf("%+v waits for %+v, want it due at %s", tt.req, p, tt.due)
		}
		if want := "sleep until " + tt.due.UTC().Format(time.RFC3339); p.Text != want {
			t.Errorf("%+v says %q, want %q", tt.req, p.Text, want)
		}
		if got := f.Describe(encode(t, tt.req)); got != tt.says {
			t.Errorf("%+v is described as %q, want %q", tt.req, got, tt.says)
		}
	}
}

func TestSleepsThatDoNotBegin(t *testing.T) {
	f := function(t, toolabi.FuncSleep)
	for _, tt := range []struct {
		why string
		req toolabi.SleepRequest
	}{
		{"either how long or until when", toolabi.SleepRequest{}},
		{"either how long or until when", toolabi.SleepRequest{MS: 1, Until: 1}},
		{"at most 31622400000 are allowed", toolabi.SleepRequest{MS: toolabi.MaxSleepMS + 1}},
		{"at most 31622400000 are allowed", toolabi.SleepRequest{MS: 1<<64 - 1}},
		{"at most 366 days", toolabi.SleepRequest{Until: 50e9 + toolabi.MaxSleepMS*1e6 + 1}},
		{"at most 366 days", toolabi.SleepRequest{Until: 1<<63 - 1}},
	} {
		for what, err := range judgements(t, f, at(50), encode(t, tt.req)) {
			if e := wantError(t, err, toolabi.Invalid, toolabi.EffectNone); !strings.Contains(e.Message, tt.why) {
				t.Errorf("%s of %+v says %q, want %q", what, tt.req, e.Message, tt.why)
			}
		}
		f.Describe(encode(t, tt.req))
	}
}
