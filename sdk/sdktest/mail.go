package sdktest

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// mail hands a message to the test, after the checks that the host makes.
func (s *stage) mail(req toolabi.MailSendRequest) (toolabi.MailSendReply, error) {
	if err := s.checkMail(req); err != nil {
		return toolabi.MailSendReply{}, err
	}
	s.Mails = append(s.Mails, req)
	return s.Mail(req)
}

// checkMail refuses what the contract of toolabi.MailSendRequest refuses, and recipients that are not among the module's targets.
func (s *stage) checkMail(req toolabi.MailSendRequest) error {
	invalid := func(what string) error { return toolabi.NewError(toolabi.Invalid, "mail_send: "+what) }
	to := slices.Concat(req.To, req.Cc, req.Bcc)
	if len(to) == 0 {
		return invalid("to whom? there is nobody in to, cc and bcc")
	}
	all := to
	if req.ReplyTo != "" {
		all = append(slices.Clone(to), req.ReplyTo)
	}
	for _, a := range all {
		if !isAddress(a) {
			return invalid(fmt.Sprintf("%.80q is no address", a))
		}
	}
	if strings.ContainsFunc(req.Subject, func(r rune) bool { return r < ' ' || r == 0x7f }) || req.TimeoutMS > toolabi.MaxMailTimeout {
		return invalid("the subject is more than a line, or the timeout is over its cap")
	}
	if req.Text == "" && req.HTML == "" && len(req.Attachments) == 0 {
		return invalid("there is nothing in it")
	}
	size := 0
	texts := []string{req.Subject, req.Text, req.HTML}
	for _, a := range req.Attachments {
		if a.Name == "" || len(a.Name) > toolabi.MaxArtifactName || strings.ContainsAny(a.Name, "/\\\r\n\x00") || a.Artifact != "" && len(a.Body) > 0 {
			return invalid(fmt.Sprintf("attachment %.80q: want a name without a path, and a body or an artifact", a.Name))
		}
		texts, size = append(texts, a.Name), size+len(a.Body)/3*4
	}
	for _, text := range texts {
		if _, bad := toolabi.SecretRefs(text); bad != "" || strings.Contains(text, "{{secret:") || strings.ContainsRune(text, 0) || !utf8.ValidString(text) {
			return invalid("a text refers to a secret, has a NUL in it or is not UTF-8")
		}
		size += len(text)
	}
	if len(to) > toolabi.MaxMailRecipients || len(req.Attachments) > toolabi.MaxMailAttachments || size > toolabi.MaxMailMessage ||
		len(req.Subject) > toolabi.MaxMailSubject || len(req.Text) > toolabi.MaxMailText || len(req.HTML) > toolabi.MaxMailText {
		return toolabi.NewError(toolabi.TooLarge, "mail_send: something is over its cap")
	}
	return s.targetsMail(to)
}

// isAddress says whether s is an address without a name.
func isAddress(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s && !strings.ContainsAny(s, "\" \t")
}

// targetsMail denies recipients that are not among the targets of the module, where it has any.
func (s *stage) targetsMail(to []string) error {
	for _, c := range s.module.Capabilities {
		if c.Name != toolabi.FuncMailSend || len(c.Targets) == 0 {
			continue
		}
		for _, a := range to {
			_, domain, _ := strings.Cut(a, "@")
			if !slices.ContainsFunc(c.Targets, func(t string) bool { return t == "*" || t == a || strings.EqualFold(t, "@"+domain) }) {
				return toolabi.NewError(toolabi.Denied, a+" is not among the targets of the module")
			}
		}
	}
	return nil
}
