// Command notice is a module of wrun: it tells customers by mail that an order is on its way.
package main

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("notice", "1.0.0", "Tells customers of their orders.",
		sdk.Need(toolabi.FuncMailSend, "to tell a customer that an order is on its way", "@example.com"))
	sdk.Register(sdk.Tool[Order, Sent]{
		Name: "shipped", Description: "Tells a customer, once, that an order is on its way.", Idempotency: sdk.NonIdempotent, Run: shipped,
	})
}

func main() {}

// Order is the input of shipped.
type Order struct {
	Number int    `json:"number" minimum:"1"`
	Mail   string `json:"mail" doc:"the customer's address" minLength:"3"`
}

// Sent is the output of shipped.
type Sent struct {
	MessageID string `json:"message_id"`
}

func shipped(_ context.Context, in Order) (Sent, error) {
	reply, err := sdk.MailSend(toolabi.MailSendRequest{
		To: []string{in.Mail}, Subject: fmt.Sprintf("Your order %d", in.Number), Text: "It is on its way.\n",
	})
	return Sent{reply.MessageID}, err
}
