package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// send posts a JSON body to the ledger and reads its JSON reply. A status outside 200 to 299 is the failure with the detail refusal.
func send[Out interface{ known() bool }](ledger, path string, body any, timeoutMS uint32, refusal string) (Out, error) {
	reply, err := post(ledger, path, body, timeoutMS)
	if err != nil {
		var none Out
		return none, err
	}
	return understand[Out](reply, refusal)
}

func post(ledger, path string, body any, timeoutMS uint32) (toolabi.HTTPReply, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return toolabi.HTTPReply{}, err
	}
	return sdk.HTTPSend(toolabi.HTTPRequest{
		Method: "POST", URL: join(ledger, path), TimeoutMS: timeoutMS,
		Headers: []toolabi.Header{{Name: "Content-Type", Value: "application/json"}}, Body: b,
	})
}

func understand[Out interface{ known() bool }](reply toolabi.HTTPReply, refusal string) (Out, error) {
	var out Out
	if reply.Status/100 != 2 {
		return out, bad(reply, refusal)
	}
	if err := json.Unmarshal(reply.Body, &out); err != nil {
		return out, unreadable(reply, err.Error())
	}
	if !out.known() {
		return out, unreadable(reply, "it has no id")
	}
	return out, nil
}

// unreadable is the failure for a request that the ledger took, with a reply that does not say what came of it.
func unreadable(reply toolabi.HTTPReply, why string) error {
	return sdk.Fail("unreadable", fmt.Sprintf("the ledger took the request with status %d, and its reply is not understood: %s", reply.Status, why))
}

// bad is the failure for a reply whose status says no, with the beginning of what the ledger wrote.
func bad(reply toolabi.HTTPReply, detail string) *toolabi.Error {
	message := fmt.Sprintf("the ledger replied with status %d", reply.Status)
	if said := strings.TrimSpace(toolabi.CutText(string(reply.Body), 200)); said != "" {
		message += ": " + said
	}
	return sdk.Fail(detail, message)
}

func join(base, path string) string { return strings.TrimSuffix(base, "/") + path }
