package sdktest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestMailThatTheHostWouldRefuse(t *testing.T) {
	w := &World{Mail: func(toolabi.MailSendRequest) (toolabi.MailSendReply, error) {
		return toolabi.MailSendReply{MessageID: "<1@example.com>"}, nil
	}}
	s := &stage{World: w, t: t, module: &toolabi.Manifest{Capabilities: []toolabi.Capability{
		{Name: toolabi.FuncMailSend, Targets: []string{"ann@example.com", "@example.org"}}}}}
	type request = toolabi.MailSendRequest
	file := func(a toolabi.MailAttachment) func(*request) {
		return func(r *request) { r.Attachments = []toolabi.MailAttachment{a} }
	}
	for name, c := range map[string]struct {
		change func(*request)
		code   toolabi.Code // 0 for a message that is sent
	}{
		"fine":                  {func(*request) {}, 0},
		"a domain":              {func(r *request) { r.Cc = []string{"bob@Example.org"} }, 0},
		"attachment":            {file(toolabi.MailAttachment{Name: "a", Body: []byte("{")}), 0},
		"nobody":                {func(r *request) { r.To = nil }, toolabi.Invalid},
		"a name":                {func(r *request) { r.To = []string{"Ann <ann@example.com>"} }, toolabi.Invalid},
		"reply to nowhere":      {func(r *request) { r.ReplyTo = "x" }, toolabi.Invalid},
		"two lines":             {func(r *request) { r.Subject = "a\nb" }, toolabi.Invalid},
		"empty":                 {func(r *request) { r.Text = "" }, toolabi.Invalid},
		"NUL":                   {func(r *request) { r.Text = "\x00" }, toolabi.Invalid},
		"secret":                {func(r *request) { r.HTML = toolabi.SecretRef("a") }, toolabi.Invalid},
		"path":                  {file(toolabi.MailAttachment{Name: "a/b"}), toolabi.Invalid},
		"body and artifact":     {file(toolabi.MailAttachment{Name: "a", Body: []byte("x"), Artifact: "x"}), toolabi.Invalid},
		"too long":              {func(r *request) { r.Text = strings.Repeat("x", toolabi.MaxMailText+1) }, toolabi.TooLarge},
		"too many":              {func(r *request) { r.Bcc = slices.Repeat(r.To, toolabi.MaxMailRecipients) }, toolabi.TooLarge},
		"not among the targets": {func(r *request) { r.Bcc = []string{"bob@example.com"} }, toolabi.Denied},
	} {
		req := request{To: []string{"ann@example.com"}, Subject: "s", Text: "t"}
		c.change(&req)
		w.Mails = nil
		reply, err := s.mail(req)
		if c.code == 0 && (err != nil || reply.MessageID == "" || len(w.Mails) != 1) || c.code != 0 && (!errors.Is(err, c.code) || len(w.Mails) != 0) {
			t.Errorf("%s: got %+v, %v and %d messages, want code %d", name, reply, err, len(w.Mails), c.code)
		}
	}
}
