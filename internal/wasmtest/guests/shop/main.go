// Command shop is a guest for tests of cases: it uses one host function of each kind, as an author would.
package main

import (
	"context"
	crand "crypto/rand"
	"encoding/json"
	"fmt"
	"math/rand"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("shop", "1.0.0", "Sells things.",
		sdk.Need(toolabi.FuncHTTPFetch, "to read prices", "https://api.example.com/prices/", "https://unused.example.com"),
		sdk.Need(toolabi.FuncHTTPSend, "to charge cards", "POST https://api.example.com/charges"),
		sdk.Secrets(toolabi.FuncHTTPSend, "api_key"),
		sdk.Need(toolabi.FuncToolCall, "to convert", "rates.get"),
		sdk.Need(toolabi.FuncConfigGet, "to know the currency", "currency"),
		sdk.Need(toolabi.FuncKVGet, "to remember orders"),
		sdk.Need(toolabi.FuncKVPut, "to remember orders"),
		sdk.Need(toolabi.FuncWorkspaceWrite, "to write reports"),
		sdk.Need(toolabi.FuncMailSend, "to tell customers", "@example.com"),
	)
	add("buy", sdk.NonIdempotent, buy)
	add("price", sdk.ReadOnly, price)
	add("convert", sdk.NonIdempotent, convert)
	add("remind", sdk.NonIdempotent, remind)
	add("ask", sdk.NonIdempotent, ask)
	add("report", sdk.Idempotent, report)
	add("tell", sdk.NonIdempotent, tell)
	add("double", sdk.Pure, func(_ context.Context, in Number) (Number, error) { return Number{2 * in.N}, nil })
	add("impure", sdk.Pure, func(context.Context, struct{}) (Text, error) { return Text{time.Now().UTC().Format(time.RFC3339)}, nil })
	add("name", sdk.ReadOnly, name)
	add("untested", sdk.Pure, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil })
}

func main() {}

func add[In, Out any](name string, promise toolabi.Idempotency, run func(context.Context, In) (Out, error)) {
	sdk.Register(sdk.Tool[In, Out]{Name: name, Description: name, Idempotency: promise, Run: run})
}

// Number is a number, Text a text.
type Number struct {
	N int64 `json:"n"`
}

// Text is a text.
type Text struct {
	Text string `json:"text"`
}

// Order is what is bought.
type Order struct {
	Order  string `json:"order"`
	Amount int64  `json:"amount"`
}

// buy charges an order, unless it was paid.
func buy(_ context.Context, in Order) (Text, error) {
	was, err := sdk.KVGet(toolabi.KVGetRequest{Key: "order/" + in.Order})
	if err != nil {
		return Text{}, err
	}
	if was.Found {
		return Text{string(was.Value)}, nil
	}
	sdk.Logf(toolabi.LevelInfo, "charging %d", in.Amount)
	body, err := json.Marshal(map[string]any{"amount": in.Amount, "order": in.Order})
	if err != nil {
		return Text{}, err
	}
	reply, err := sdk.HTTPSend(toolabi.HTTPRequest{
		Method: "POST", URL: "https://api.example.com/charges", Body: body,
		Headers: []toolabi.Header{{Name: "Authorization", Value: "Bearer {{secret:api_key}}"}},
	})
	if err != nil {
		return Text{}, err
	}
	if reply.Status != 201 {
		return Text{}, sdk.Fail("declined", fmt.Sprintf("declined with %d", reply.Status))
	}
	var charge struct{ ID string }
	if err := json.Unmarshal(reply.Body, &charge); err != nil {
		return Text{}, err
	}
	_, err = sdk.KVPut(toolabi.KVPutRequest{Key: "order/" + in.Order, Value: []byte(charge.ID)})
	return Text{charge.ID}, err
}

func price(_ context.Context, in Text) (Text, error) {
	reply, err := sdk.HTTPFetch(toolabi.HTTPRequest{Method: "GET", URL: "https://api.example.com/" + in.Text})
	return Text{string(reply.Body)}, err
}

func convert(_ context.Context, in Number) (Text, error) {
	currency, _, err := sdk.ConfigGet("currency")
	if err != nil {
		return Text{}, err
	}
	var rate struct{ Rate int64 }
	if err := sdk.CallTool("rates.get", map[string]string{"currency": currency}, &rate); err != nil {
		return Text{}, err
	}
	return Text{fmt.Sprint(in.N*rate.Rate, " ", currency)}, nil
}

// remind says when it was begun and when two hours had passed.
func remind(context.Context, struct{}) (Text, error) {
	began, err := sdk.Clock()
	if err != nil {
		return Text{}, err
	}
	if err := sdk.Sleep(2 * time.Hour); err != nil {
		return Text{}, err
	}
	now, err := sdk.Clock()
	return Text{began.UTC().Format("15:04") + " " + now.UTC().Format("15:04")}, err
}

func ask(_ context.Context, in Text) (Text, error) {
	reply, err := sdk.Approve(toolabi.ApproveRequest{Text: in.Text})
	return Text{reply.By + ": " + reply.Note}, err
}

func report(_ context.Context, in Text) (struct{}, error) {
	_, err := sdk.WorkspaceWrite(toolabi.WorkspaceWriteRequest{Path: "out/report.txt", Body: []byte(in.Text)})
	return struct{}{}, err
}

func tell(_ context.Context, in Text) (struct{}, error) {
	_, err := sdk.MailSend(toolabi.MailSendRequest{To: []string{"ann@example.com"}, Subject: "News", Text: in.Text})
	return struct{}{}, err
}

// name makes a name in one of several ways.
func name(_ context.Context, in Text) (Text, error) {
	switch in.Text {
	case "global":
		return Text{fmt.Sprintf("id-%x", rand.Int63())}, nil
	case "die":
		return Text{fmt.Sprint(crandInt() % 6)}, nil
	case "call":
		return Text{fmt.Sprintf("id-%x", crandInt())}, nil
	case "host":
		b, err := sdk.Random(8)
		return Text{fmt.Sprintf("id-%x", b)}, err
	}
	return in, nil
}

func crandInt() uint64 {
	var b [8]byte
	_, _ = crand.Read(b[:]) // it does not fail
	return uint64(b[0])<<8 | uint64(b[1])
}
