// Command mailer is a module of wrun: it sends mail through the operator's server.
package main

import (
	"context"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

func init() {
	sdk.Module("mailer", "0.1.0", "Sends mail.", sdk.Need(toolabi.FuncMailSend, "to send the mail that it is told to"))
	sdk.Register(sdk.Tool[Letter, Sent]{
		Name: "send", Description: "Sends a mail, once.", Idempotency: sdk.NonIdempotent, Destructive: true, Run: send,
	})
	sdk.Register(sdk.Tool[Letter, Sent]{
		Name: "notify", Description: "Sends a mail that may come twice, under one Message-ID.", Idempotency: sdk.Idempotent,
		Retry: sdk.Retry{Attempts: 3, Backoff: 200 * time.Millisecond}, Run: send,
	})
}

func main() {}

// Letter is the input of both tools.
type Letter struct {
	To      []string `json:"to" doc:"addresses such as ann@example.com"`
	Cc      []string `json:"cc,omitempty" doc:"who gets a copy"`
	Bcc     []string `json:"bcc,omitempty" doc:"who gets a copy that the others are not told of"`
	ReplyTo string   `json:"reply_to,omitempty" doc:"where answers go; the sender when missing"`
	Subject string   `json:"subject" doc:"one line" minLength:"1" maxLength:"900"`
	Text    string   `json:"text" doc:"the message" minLength:"1"`
	HTML    string   `json:"html,omitempty" doc:"the same for programs that show HTML"`
	Files   []File   `json:"files,omitempty" doc:"attachments"`
}

// File is an attachment.
type File struct {
	Name     string `json:"name" doc:"the file's name, without a path" minLength:"1"`
	Type     string `json:"type,omitempty" doc:"a media type such as text/csv"`
	Text     string `json:"text,omitempty" doc:"what is in it"`
	Artifact string `json:"artifact,omitempty" doc:"an artifact of the run, in place of text"`
}

// Sent is the output of both tools.
type Sent struct {
	MessageID string `json:"message_id" doc:"the Message-ID that the mail has"`
}

func send(_ context.Context, in Letter) (Sent, error) {
	req := toolabi.MailSendRequest{
		To: in.To, Cc: in.Cc, Bcc: in.Bcc, ReplyTo: in.ReplyTo, Subject: in.Subject, Text: in.Text, HTML: in.HTML,
	}
	for _, f := range in.Files {
		req.Attachments = append(req.Attachments, toolabi.MailAttachment{Name: f.Name, Type: f.Type, Body: []byte(f.Text), Artifact: f.Artifact})
	}
	sdk.Logf(toolabi.LevelInfo, "sending %q to %s", in.Subject, strings.Join(in.To, ", "))
	reply, err := sdk.MailSend(req)
	return Sent{MessageID: reply.MessageID}, err
}
