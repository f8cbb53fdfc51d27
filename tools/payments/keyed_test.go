package main

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// broken is the host's error for a keyed request whose connection ended without a reply.
func broken() *toolabi.Error {
	e := toolabi.NewError(toolabi.Unavailable, "the connection broke before a complete reply; 212 bytes were sent")
	e.Effect, e.Retry = toolabi.EffectUnknown, toolabi.RetrySafe
	return e
}

// answers is a world that gives one answer after the other: a status, or an error.
func answers(said ...any) *sdktest.World {
	n := 0
	return &sdktest.World{Exchange: func(string, toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
		a := said[n]
		n++
		if status, ok := a.(int); ok {
			return toolabi.HTTPReply{Status: uint16(status), Body: []byte(`{"id":"ch_1","account":"acme","amount_cents":5,"reference":"r"}`)}, nil
		}
		return toolabi.HTTPReply{}, a.(error)
	}}
}

func TestAKeyedChargeIsSentAgainWhenNoReplyCame(t *testing.T) {
	w := answers(broken(), broken(), 201)
	got, err := sdktest.Call(t, w, "charge_keyed", chargeInput)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"id":"ch_1","account":"acme","amount_cents":5,"reference":"r"}`; got != want {
		t.Errorf("charge_keyed returned %s, want %s", got, want)
	}
	if len(w.Requests) != 3 || string(w.Requests[0].Body) != string(w.Requests[2].Body) {
		t.Errorf("%d requests, want the same one 3 times: %+v", len(w.Requests), w.Requests)
	}
	w = answers(broken(), broken(), broken())
	var e *toolabi.Error
	if _, err := sdktest.Call(t, w, "charge_keyed", chargeInput); !errors.As(err, &e) || e.Code != toolabi.Unavailable || e.Effect != toolabi.EffectUnknown {
		t.Errorf("after three broken connections: %v, want what the host says of the last", err)
	}
}

func TestWhatLeftAKeyedRequestUnsentOrUnansweredInTimeIsForTheCaller(t *testing.T) {
	late := broken()
	late.Code = toolabi.Timeout
	for name, answer := range map[string]*toolabi.Error{
		"nothing was sent": toolabi.NewError(toolabi.Unavailable, "connection refused; nothing was sent"), "timeout": late,
	} {
		w := answers(answer)
		var e *toolabi.Error
		if _, err := sdktest.Call(t, w, "charge_keyed", chargeInput); !errors.As(err, &e) || e.Code != answer.Code || e.Effect != answer.Effect {
			t.Errorf("%s: %v, want %v", name, err, answer)
		}
	}
}

// In one call an answered request that is sent again gets another key, and would be a second charge.
func TestAnAnswerThatLeavesAKeyedChargeOpenIsNoRefusalAndIsNotSentAgain(t *testing.T) {
	for _, status := range []int{408, 409, 425, 429, 500, 502, 503} {
		w := answers(status)
		_, err := sdktest.Call(t, w, "charge_keyed", chargeInput)
		wantFailure(t, err, "unsettled", fmt.Sprint(status))
		var e *toolabi.Error
		if errors.As(err, &e) && (e.Effect != toolabi.EffectUnknown || e.Retry != toolabi.RetryAfter || e.RetryAfterMS == 0) {
			t.Errorf("%d: effect %s, retry %d after %d ms; want unknown, and after a while", status, e.Effect, e.Retry, e.RetryAfterMS)
		}
	}
	for _, status := range []int{400, 402, 422} {
		_, err := sdktest.Call(t, answers(status), "charge_keyed", chargeInput)
		wantFailure(t, err, "declined", fmt.Sprint(status))
	}
}

func TestATimeoutIsPassedToTheHost(t *testing.T) {
	for _, tool := range []string{"charge", "charge_keyed", "charge_lookup"} {
		w := &sdktest.World{HTTP: &ledger{limit: 1000}}
		if _, err := sdktest.Call(t, w, tool, `{"ledger":"https://ledger.test","account":"a","amount_cents":5,"reference":"r","timeout_ms":1500}`); err != nil {
			t.Fatal(err)
		}
		if got := w.Requests[0]; got.TimeoutMS != 1500 || got.Method != http.MethodPost {
			t.Errorf("%s sent %+v, want a timeout of 1500 ms", tool, got)
		}
	}
}
