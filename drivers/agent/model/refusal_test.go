package model_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/toolabi"
)

// TestAStatusSaysWhatIsKnown holds what each status means for the effect, and for another attempt.
func TestAStatusSaysWhatIsKnown(t *testing.T) {
	const none, unknown = toolabi.EffectNone, toolabi.EffectUnknown
	const never, safe, after = toolabi.RetryNever, toolabi.RetrySafe, toolabi.RetryAfter
	cases := []struct {
		status  int
		headers []string
		code    toolabi.Code
		effect  toolabi.EffectState
		retry   toolabi.Retry
		ms      uint64
	}{
		{300, nil, toolabi.Invalid, none, never, 0},
		{302, []string{"Location: http://127.0.0.1:1/"}, toolabi.Invalid, none, never, 0},
		{307, []string{"Location: /elsewhere"}, toolabi.Invalid, none, never, 0},
		{400, nil, toolabi.Invalid, none, never, 0},
		{401, nil, toolabi.Denied, none, never, 0},
		{403, nil, toolabi.Denied, none, never, 0},
		{404, nil, toolabi.NotFound, none, never, 0},
		{413, nil, toolabi.TooLarge, none, never, 0},
		{422, nil, toolabi.Invalid, none, never, 0},
		{400, []string{"Retry-After: 3"}, toolabi.Invalid, none, never, 0},
		{400, []string{"X-Should-Retry: true"}, toolabi.Invalid, none, safe, 0},
		{408, nil, toolabi.Timeout, unknown, safe, 0},
		{409, nil, toolabi.Conflict, unknown, safe, 0},
		{429, nil, toolabi.RateLimited, none, safe, 0},
		{429, []string{"Retry-After: 7"}, toolabi.RateLimited, none, after, 7000},
		{429, []string{"Retry-After: 7", "Retry-After-Ms: 250"}, toolabi.RateLimited, none, after, 250},
		{429, []string{"Retry-After: Mon, 30 Nov 2026 10:00:09 GMT", "Date: Mon, 30 Nov 2026 10:00:00 GMT"}, toolabi.RateLimited, none, after, 9000},
		{429, []string{"Retry-After: 7", "X-Should-Retry: false"}, toolabi.RateLimited, none, never, 0},
		{500, nil, toolabi.Unavailable, unknown, safe, 0},
		{500, []string{"X-Should-Retry: false"}, toolabi.Unavailable, unknown, never, 0},
		{502, nil, toolabi.Unavailable, unknown, safe, 0},
		{502, []string{"Retry-After: 1"}, toolabi.Unavailable, unknown, after, 1000},
		{503, nil, toolabi.Unavailable, none, safe, 0},
		{503, []string{"Retry-After: 1"}, toolabi.Unavailable, none, after, 1000},
		{504, nil, toolabi.Timeout, unknown, safe, 0},
		{520, nil, toolabi.Unavailable, unknown, safe, 0},
		{529, nil, toolabi.Unavailable, none, safe, 0},
		{529, []string{"Retry-After: 1"}, toolabi.Unavailable, none, after, 1000},
	}
	for _, c := range cases {
		p := startProvider(t, says(reply(c.status, `{"error":{"type":"some_error","message":"because \u001b[31mof\nthis, `+secret+`"}}`, c.headers...)))
		for i, s := range sides(p.url, c.status%2 == 1) {
			_, err := s.client.Send(t.Context(), question(t, s.client), patient())
			e := told(t, err)
			name := fmt.Sprintf("%s, status %d %v", s.name, c.status, c.headers)
			if e.Code != c.code || e.Effect != c.effect || e.Retry != c.retry || e.RetryAfterMS != c.ms || e.Detail != fmt.Sprintf("status_%d", c.status) {
				t.Errorf("%s: %+v\nwant %v %v %v %d", name, *e, c.code, c.effect, c.retry, c.ms)
			}
			said := "because of this, [key]"
			if c.status < 400 {
				said = "somewhere else"
			}
			if !strings.Contains(e.Message, fmt.Sprintf("status %d: ", c.status)) || !strings.Contains(e.Message, said) {
				t.Errorf("%s: the message is %q", name, e.Message)
			}
			if c.effect == unknown && !strings.Contains(e.Message, "the request was sent; no answer came whole") {
				t.Errorf("%s: the message is %q", name, e.Message)
			}
			if all, conns, _ := p.arrived(); len(all) != i+1 || conns != i+1 {
				t.Errorf("%s: %d requests, want %d", name, len(all), i+1)
			}
		}
	}
}

// TestABillThatIsNotPaidIsNotWaitedFor: a quota that is used up has the status of a limit on the rate.
func TestABillThatIsNotPaidIsNotWaitedFor(t *testing.T) {
	p := startProvider(t, says(reply(429, `{"error":{"message":"check your plan","type":"insufficient_quota","code":"insufficient_quota"}}`, "Retry-After: 1")))
	c := sides(p.url, false)[0].client
	_, err := c.Send(t.Context(), question(t, c), patient())
	if e := told(t, err); e.Retry != toolabi.RetryNever || e.RetryAfterMS != 0 || e.Code != toolabi.RateLimited {
		t.Errorf("%+v", *e)
	}
}

// TestWhatAProviderSaysOfAnErrorIsFound holds the forms that it comes in.
func TestWhatAProviderSaysOfAnErrorIsFound(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"a","type":"b"}}`:                               "a",
		`{"type":"error","error":{"type":"overloaded_error","message":"a"}}`: "a",
		`{"error":"a"}`:                     "a",
		`{"message":"a"}`:                   "a",
		`{"error":{"type":"b"}}`:            "b",
		`{"error":{"code":500,"type":"b"}}`: "b",
		`{"detail":[{"msg":"a"}]}`:          "",
		`<html>`:                            "",
		``:                                  "",
	} {
		if got := model.ErrorMessage([]byte(body)); got != want {
			t.Errorf("%s says %q, want %q", body, got, want)
		}
	}
}

// TestRetryAfterIsReadInEachForm holds how long a provider asks to be left alone.
func TestRetryAfterIsReadInEachForm(t *testing.T) {
	now := time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header, value, date string
		ms                  uint64
	}{
		{"Retry-After", "", "", 0},
		{"Retry-After", "0", "", 0},
		{"Retry-After", " 12 ", "", 12000},
		{"Retry-After", "1.5", "", 1500},
		{"Retry-After", "-3", "", 0},
		{"Retry-After", "1e3", "", 0},
		{"Retry-After", "soon", "", 0},
		{"Retry-After", "99999999999999999999999999", "", 1 << 50},
		{"Retry-After", "Mon, 30 Nov 2026 10:00:05 GMT", "", 5000},
		{"Retry-After", "Mon, 30 Nov 2026 10:00:05 GMT", "Mon, 30 Nov 2026 10:00:02 GMT", 3000},
		{"Retry-After", "Mon, 30 Nov 2026 09:00:05 GMT", "", 0},
		{"Retry-After-Ms", "20.5", "", 21},
		{"Retry-After-Ms", "x", "", 0},
	} {
		h := http.Header{}
		h.Set(c.header, c.value)
		h.Set("Date", c.date)
		if got := model.RetryAfterOf(h, now); got != c.ms {
			t.Errorf("%s: %q is %d ms, want %d", c.header, c.value, got, c.ms)
		}
	}
}
