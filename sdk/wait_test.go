package sdk_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestApproveAsksThePersonOfTheTest(t *testing.T) {
	req := toolabi.ApproveRequest{Text: "Pay 5?", Detail: []byte(`{"cents":500}`), ExpiresMS: 1000}
	w := &sdktest.World{Approve: func(got toolabi.ApproveRequest) (toolabi.ApproveReply, error) {
		if strings.Contains(got.Text, "500") {
			return toolabi.ApproveReply{}, toolabi.NewError(toolabi.Denied, "mia: too much")
		}
		return toolabi.ApproveReply{By: "mia", Note: "fine"}, nil
	}}
	err := run(t, w, func() error {
		reply, err := sdk.Approve(req)
		if (reply != toolabi.ApproveReply{By: "mia", Note: "fine"}) {
			t.Errorf("got %+v", reply)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = run(t, w, func() error { _, err := sdk.Approve(toolabi.ApproveRequest{Text: "Pay 500?"}); return err })
	if !errors.Is(err, toolabi.Denied) || !strings.Contains(err.Error(), "mia: too much") {
		t.Errorf("got %v, want a no", err)
	}
	if len(w.Questions) != 2 || w.Questions[0].Text != "Pay 5?" || string(w.Questions[0].Detail) != `{"cents":500}` || w.Questions[0].ExpiresMS != 1000 {
		t.Errorf("the person was asked %+v", w.Questions)
	}
}

func TestQuestionsThatAreNotPut(t *testing.T) {
	w := &sdktest.World{Approve: func(toolabi.ApproveRequest) (toolabi.ApproveReply, error) {
		return toolabi.ApproveReply{By: "mia"}, nil
	}}
	for _, req := range []toolabi.ApproveRequest{
		{}, {Text: " "}, {Text: strings.Repeat("a", 4097)}, {Text: "a", Detail: []byte("{")}, {Text: "a", Detail: make([]byte, 16385)}, {Text: "\xff"},
		{Text: "a", ExpiresMS: toolabi.MaxManifestMS + 1},
	} {
		if err := run(t, w, func() error { _, err := sdk.Approve(req); return err }); !errors.Is(err, toolabi.Invalid) {
			t.Errorf("%.20q: got %v, want invalid", req.Text, err)
		}
	}
	if len(w.Questions) != 0 {
		t.Errorf("the person was asked %d times", len(w.Questions))
	}
}

func TestSleepingMovesTheClockOfTheTest(t *testing.T) {
	began := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	w := &sdktest.World{Clock: func() time.Time { return began }}
	err := run(t, w, func() error {
		err := errors.Join(
			sdk.Sleep(90*time.Minute), sdk.Sleep(time.Nanosecond), sdk.Sleep(0), sdk.Sleep(-1),
			sdk.SleepUntil(began.Add(2*time.Hour)), sdk.SleepUntil(began), sdk.SleepUntil(time.Unix(0, 0)))
		now, errClock := sdk.Clock()
		if want := began.Add(2 * time.Hour); !now.Equal(want) {
			t.Errorf("the clock says %s, want %s", now, want)
		}
		return errors.Join(err, errClock)
	})
	if err != nil {
		t.Error(err)
	}
	if want := []time.Duration{90 * time.Minute, time.Millisecond, 30*time.Minute - time.Millisecond, 0, 0}; !slices.Equal(w.Sleeps, want) {
		t.Errorf("slept %v, want %v", w.Sleeps, want)
	}
}

func TestSleepsThatAreTooLong(t *testing.T) {
	began := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	const longest = toolabi.MaxSleepMS * time.Millisecond
	w := &sdktest.World{Clock: func() time.Time { return began }}
	for what, sleep := range map[string]func() error{
		"for too long":      func() error { return sdk.Sleep(longest + 1) },
		"until too late":    func() error { return sdk.SleepUntil(began.Add(longest + 1)) },
		"until the year 1":  func() error { return sdk.SleepUntil(time.Time{}) },
		"until year 292277": func() error { return sdk.SleepUntil(time.Unix(1<<43, 0)) },
	} {
		if err := run(t, w, sleep); !errors.Is(err, toolabi.Invalid) {
			t.Errorf("%s: got %v, want invalid", what, err)
		}
	}
	if err := run(t, w, func() error { return sdk.Sleep(longest) }); err != nil || len(w.Sleeps) != 1 {
		t.Errorf("the longest sleep: %v, slept %v", err, w.Sleeps)
	}
}
