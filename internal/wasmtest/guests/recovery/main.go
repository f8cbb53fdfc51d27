// Command recovery is a guest for tests: its tools do what a script says, and there is one for each promise that a tool can
// make about being done twice.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("recovery", "1.0.0", "Does what a script says.",
		sdk.Need(toolabi.FuncHTTPFetch, "to read"), sdk.Need(toolabi.FuncHTTPSend, "to act"), sdk.Need(toolabi.FuncToolCall, "to call the tools of this module"))
	promise("pure", sdk.Tool[Order, []string]{Idempotency: sdk.Pure})
	promise("read", sdk.Tool[Order, []string]{Idempotency: sdk.ReadOnly})
	promise("idempotent", sdk.Tool[Order, []string]{Idempotency: sdk.Idempotent})
	promise("keyed", sdk.Tool[Order, []string]{Idempotency: sdk.Keyed, KeyTTL: 24 * time.Hour})
	promise("once", sdk.Tool[Order, []string]{})
	promise("looked_up", sdk.Tool[Order, []string]{Lookup: "seen", Settle: time.Minute})
	sdk.Register(sdk.Tool[sdk.LookupInput, sdk.LookupOutput]{
		Name: "seen", Description: "Asks the server what became of a request.", Idempotency: sdk.ReadOnly, Run: seen,
	})
}

func main() {}

// promise registers a tool, and another one with the same promise for it to call. Only the first is tried again.
func promise(name string, t sdk.Tool[Order, []string]) {
	t.Name, t.Description, t.Run = name+"_inner", "Does what a script says.", perform
	sdk.Register(t)
	t.Name, t.Retry = name, sdk.Retry{Attempts: 2, Backoff: time.Hour}
	sdk.Register(t)
}

// Order is a script.
type Order struct {
	Script []Act `json:"script"`
}

// Act is one thing to do.
type Act struct {
	// Do is log, fetch, send, sleep, approve, call or fail.
	Do string `json:"do"`
	// What is a text, an address, a tool.
	What string `json:"what,omitempty"`
	// With is the input of a call.
	With toolabi.RawJSON `json:"with,omitempty"`
	// Must makes an error, and the status of one, that of the tool.
	Must bool `json:"must,omitempty"`
	// Again does it a second time when its outcome is unknown.
	Again bool `json:"again,omitempty"`
}

// perform does what the script says, and tells what it saw of each thing.
func perform(_ context.Context, in Order) ([]string, error) {
	saw := []string{}
	for _, act := range in.Script {
		said, err := do(act)
		if unknown(err) && act.Again {
			saw = append(saw, inWords(err))
			said, err = do(act)
		}
		if err != nil && act.Must {
			return saw, err
		}
		if err != nil {
			said = inWords(err)
		}
		saw = append(saw, said)
	}
	return saw, nil
}

func do(act Act) (string, error) {
	switch act.Do {
	case "log":
		sdk.Log(toolabi.LevelInfo, act.What)
		return "said", nil
	case "fetch":
		reply, err := sdk.HTTPFetch(toolabi.HTTPRequest{URL: act.What})
		return status(act, reply, err)
	case "send":
		reply, err := sdk.HTTPSend(toolabi.HTTPRequest{Method: "POST", URL: act.What})
		return status(act, reply, err)
	case "sleep":
		return "slept", sdk.Sleep(time.Hour)
	case "approve":
		_, err := sdk.Approve(toolabi.ApproveRequest{Text: act.What})
		return "agreed", err
	case "call":
		var saw []string
		err := sdk.CallTool(act.What, act.With, &saw)
		return strings.Join(saw, ", "), err
	}
	return "", again("told_to", "it was told to fail")
}

func status(act Act, reply toolabi.HTTPReply, err error) (string, error) {
	if err == nil && act.Must && reply.Status >= 500 {
		err = again("status", "the server is not ready")
	}
	return fmt.Sprint(reply.Status), err
}

func again(detail, message string) error {
	e := sdk.Fail(detail, message)
	e.Retry = toolabi.RetrySafe
	return e
}

func unknown(err error) bool {
	var e *toolabi.Error
	return errors.As(err, &e) && e.Effect == toolabi.EffectUnknown
}

func inWords(err error) string {
	var e *toolabi.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return e.Code.String()
}

// seen asks at the address of the request, which answers with the verdict.
func seen(_ context.Context, in sdk.LookupInput) (out sdk.LookupOutput, err error) {
	var request struct{ URL string }
	if err := json.Unmarshal(in.Request, &request); err != nil {
		return out, err
	}
	reply, err := sdk.HTTPFetch(toolabi.HTTPRequest{URL: request.URL + "?key=" + in.Key})
	if err != nil {
		return out, err
	}
	if reply.Status != 200 {
		return out, sdk.Fail("status", "the server does not say")
	}
	return out, json.Unmarshal(reply.Body, &out)
}
