// Command flows is a guest for tests: its tools wait for a person, wait for a time, and call other tools.
package main

import (
	"context"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("flows", "1.0.0", "Waits, and calls other tools.", sdk.Need(toolabi.FuncToolCall, "to call what it is told"))
	sdk.Register(sdk.Tool[Question, Answer]{Name: "ask", Description: "Asks a person.", Run: ask})
	sdk.Register(sdk.Tool[Nap, Woken]{Name: "nap", Description: "Sleeps.", Run: nap})
	sdk.Register(sdk.Tool[Order, toolabi.RawJSON]{Name: "relay", Description: "Calls a tool.", Run: relay})
	sdk.Register(sdk.Tool[Order, toolabi.RawJSON]{
		Name: "reader", Description: "Calls a tool that reads.", Idempotency: sdk.ReadOnly, Run: relay,
	})
}

func main() {}

// Question is what ask asks.
type Question struct {
	Text      string          `json:"text"`
	Detail    toolabi.RawJSON `json:"detail,omitempty"`
	ExpiresMS uint64          `json:"expires_ms,omitempty"`
}

// Answer is who said yes.
type Answer struct {
	By   string `json:"by"`
	Note string `json:"note"`
}

func ask(_ context.Context, in Question) (Answer, error) {
	reply, err := sdk.Approve(toolabi.ApproveRequest{Text: in.Text, Detail: in.Detail, ExpiresMS: in.ExpiresMS})
	return Answer{reply.By, reply.Note}, err
}

// Nap is how long nap sleeps: for a time, or until one.
type Nap struct {
	MS    int64      `json:"ms,omitempty"`
	Until *time.Time `json:"until,omitempty"`
}

// Woken is how long the guest's own clock says that it was.
type Woken struct {
	MS int64 `json:"ms"`
}

func nap(_ context.Context, in Nap) (Woken, error) {
	began := time.Now()
	var err error
	if in.Until != nil {
		err = sdk.SleepUntil(*in.Until)
	} else {
		err = sdk.Sleep(time.Duration(in.MS) * time.Millisecond)
	}
	return Woken{time.Since(began).Milliseconds()}, err
}

// Order is which tool relay and reader call, and with what.
type Order struct {
	Tool  string          `json:"tool"`
	Input toolabi.RawJSON `json:"input"`
}

func relay(_ context.Context, in Order) (out toolabi.RawJSON, err error) {
	err = sdk.CallTool(in.Tool, in.Input, &out)
	return out, err
}
