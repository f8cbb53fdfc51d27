package hostfuncs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// askedMail is the form in which a request of mail_send is shown.
type askedMail struct {
	To          []string          `json:"to,omitempty"`
	Cc          []string          `json:"cc,omitempty"`
	Bcc         []string          `json:"bcc,omitempty"`
	ReplyTo     string            `json:"reply_to,omitempty"`
	Subject     string            `json:"subject"`
	Text        string            `json:"text,omitempty"`
	HTML        string            `json:"html,omitempty"`
	Attachments []askedAttachment `json:"attachments,omitempty"`
}

// askedAttachment names the bytes of an attachment.
type askedAttachment struct {
	Name   string `json:"name"`
	Type   string `json:"type,omitempty"`
	Size   int    `json:"size,omitempty"` // in bytes, where they are in the request
	SHA256 string `json:"sha256"`
}

// askedForm is the form of a request; of attachments only what they are.
func askedForm(r toolabi.MailSendRequest) askedMail {
	shown := askedMail{To: r.To, Cc: r.Cc, Bcc: r.Bcc, ReplyTo: r.ReplyTo, Subject: r.Subject, Text: r.Text, HTML: r.HTML}
	for _, a := range r.Attachments {
		said := askedAttachment{Name: a.Name, Type: a.Type, SHA256: a.Artifact}
		if a.Artifact == "" {
			said.Size, said.SHA256 = len(a.Body), toolabi.DigestOf(a.Body).String()
		}
		shown.Attachments = append(shown.Attachments, said)
	}
	return shown
}

// saidMail is the form in which a person writes down that a server took a message over.
type saidMail struct {
	MessageID string `json:"message_id"`
}

// parseSaidMail makes the reply of mail_send of {"message_id":"<…>"}.
func parseSaidMail(text []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	var s saidMail
	if toolabi.StrictJSON(text) != nil || json.Unmarshal(text, &fields) != nil || len(fields) != 1 || fields["message_id"] == nil || json.Unmarshal(text, &s) != nil {
		return nil, errors.New(`reply: want {"message_id":"<…>"}, with the Message-ID of the message that was sent`)
	}
	left, right, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(s.MessageID, "<"), ">"), "@")
	if !ok || left == "" || right == "" || len(s.MessageID) > 998 || "<"+left+"@"+right+">" != s.MessageID ||
		strings.ContainsFunc(s.MessageID[1:len(s.MessageID)-1], func(r rune) bool { return r <= ' ' || r > '~' || r == '<' || r == '>' }) {
		return nil, fmt.Errorf("reply: message_id %.80q, want it in angle brackets as the message has it, such as <wrun-…@example.com>", s.MessageID)
	}
	return toolabi.Encode(toolabi.MailSendReply{MessageID: s.MessageID})
}

// saidForm is the form of a reply, which parseSaidMail reads.
func saidForm(r toolabi.MailSendReply) saidMail { return saidMail(r) }

func mailTimeout(raw []byte) time.Duration {
	var req toolabi.MailSendRequest
	if toolabi.Decode(raw, &req) != nil {
		return 0 // will be refused at once
	}
	return mailTimeoutOf(req)
}

// mailWords say to whom and about what.
func mailWords(req toolabi.MailSendRequest) string {
	all := append(append(req.To, req.Cc...), req.Bcc...)
	if len(all) == 0 {
		return ""
	}
	to := toolabi.CleanLine(all[0], 100)
	if len(all) > 1 {
		to += fmt.Sprintf(" and %d more", len(all)-1)
	}
	return toolabi.CleanLine(fmt.Sprintf("to %s: %s", to, req.Subject), 200)
}
