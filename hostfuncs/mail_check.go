package hostfuncs

import (
	"bytes"
	"fmt"
	"mime"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// letter is a request of mail_send that was found to be in order and granted.
type letter struct {
	server      origin
	from        address
	user        string
	secret      string // the name of the password; "" for no login
	to, cc, bcc []address
	replyTo     *address
	subject     string
	text, html  string
	attachments []toolabi.MailAttachment
	id          string // of the message, with its angle brackets; "" where there is no key yet
	boundary    string // what the lines between parts are made of
	date        time.Time
	timeout     time.Duration
	again       bool // whether it may be sent again
}

// checkMail judges everything about a request that can be judged without a network and without reading an artifact.
func checkMail(c Call, req toolabi.MailSendRequest) (*letter, error) {
	l := &letter{subject: req.Subject, text: req.Text, html: req.HTML, attachments: req.Attachments, timeout: mailTimeoutOf(req), again: c.Repeatable}
	if req.TimeoutMS > toolabi.MaxMailTimeout {
		return nil, invalidf("mail_send: a timeout of %d ms, at most %d are allowed", req.TimeoutMS, toolabi.MaxMailTimeout)
	}
	if err := l.readRecipients(req); err != nil {
		return nil, err
	}
	if err := checkTexts(req); err != nil {
		return nil, err
	}
	if len(req.Attachments) > toolabi.MaxMailAttachments {
		return nil, tooLargef("mail_send: %d attachments, at most %d are allowed", len(req.Attachments), toolabi.MaxMailAttachments)
	}
	for i, a := range req.Attachments {
		if err := checkAttachment(a); err != nil {
			return nil, invalidf("mail_send: attachment %d: %v", i+1, err)
		}
	}
	if err := l.permit(c); err != nil {
		return nil, err
	}
	return l, nil
}

// readRecipients reads the addresses of a request.
func (l *letter) readRecipients(req toolabi.MailSendRequest) error {
	n := len(req.To) + len(req.Cc) + len(req.Bcc)
	switch {
	case n == 0:
		return invalidf("mail_send: to whom? there is nobody in to, cc and bcc")
	case n > toolabi.MaxMailRecipients:
		return tooLargef("mail_send: %d recipients, at most %d are allowed", n, toolabi.MaxMailRecipients)
	}
	for _, list := range []struct {
		name string
		from []string
		to   *[]address
	}{{"to", req.To, &l.to}, {"cc", req.Cc, &l.cc}, {"bcc", req.Bcc, &l.bcc}} {
		for _, s := range list.from {
			a, err := parseAddress(s)
			if err != nil {
				return invalidf("mail_send: %s: %q is no address: %v", list.name, toolabi.CleanLine(s, 80), err)
			}
			*list.to = append(*list.to, a)
		}
	}
	if req.ReplyTo != "" {
		a, err := parseAddress(req.ReplyTo)
		if err != nil {
			return invalidf("mail_send: reply_to: %q is no address: %v", toolabi.CleanLine(req.ReplyTo, 80), err)
		}
		l.replyTo = &a
	}
	return nil
}

// recipients are those of the envelope, each once.
func (l *letter) recipients() []address {
	var all []address
	for _, a := range slices.Concat(l.to, l.cc, l.bcc) {
		if !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

func checkTexts(req toolabi.MailSendRequest) error {
	switch {
	case len(req.Subject) > toolabi.MaxMailSubject:
		return tooLargef("mail_send: a subject of %d bytes, at most %d are allowed", len(req.Subject), toolabi.MaxMailSubject)
	case !isOneLine(req.Subject):
		return invalidf("mail_send: the subject has to be one line of UTF-8 without control characters")
	case hasSecretRef(req.Subject):
		return noSecrets("the subject")
	case req.Text == "" && req.HTML == "" && len(req.Attachments) == 0:
		return invalidf("mail_send: there is nothing in it: want text, html or an attachment")
	}
	for name, text := range map[string]string{"text": req.Text, "html": req.HTML} {
		switch {
		case len(text) > toolabi.MaxMailText:
			return tooLargef("mail_send: %s of %d bytes, at most %d are allowed", name, len(text), toolabi.MaxMailText)
		case !utf8.ValidString(text) || strings.ContainsRune(text, 0) || strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r"):
			return invalidf("mail_send: %s has to be UTF-8 without NUL, and with line feed or carriage return and line feed at the end of lines", name)
		case hasSecretRef(text):
			return noSecrets(name)
		}
	}
	return nil
}

func hasSecretRef(s string) bool {
	names, bad := toolabi.SecretRefs(s)
	return len(names) > 0 || bad != ""
}

func noSecrets(where string) error {
	return invalidf("mail_send: %s refers to a secret: none is sent by mail", where)
}

// isOneLine says whether a text stays on a line wherever it is shown.
func isOneLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

func checkAttachment(a toolabi.MailAttachment) error {
	switch {
	case a.Name == "" || a.Name == "." || a.Name == ".." || len(a.Name) > toolabi.MaxArtifactName || !isOneLine(a.Name) || strings.ContainsAny(a.Name, `/\`):
		return fmt.Errorf("want a name of 1 to %d bytes on one line, and no path", toolabi.MaxArtifactName)
	case hasSecretRef(a.Name) || hasSecretRef(a.Type) || bytes.Contains(a.Body, []byte("{{secret:")):
		return fmt.Errorf("it refers to a secret: none is sent by mail")
	case a.Artifact != "" && len(a.Body) > 0:
		return fmt.Errorf("it has a body and an artifact, want one of them")
	}
	if _, ok := toolabi.ParseDigest(a.Artifact); a.Artifact != "" && !ok {
		return fmt.Errorf("%q is no artifact", toolabi.CleanLine(a.Artifact, 80))
	}
	_, err := mediaType(a.Type)
	return err
}

// mediaType returns the only spelling of the type of an attachment. Messages and what is made of parts are refused: base64 is not
// allowed in them.
func mediaType(s string) (string, error) {
	if s == "" {
		return "application/octet-stream", nil
	}
	kind, params, err := mime.ParseMediaType(s)
	written := mime.FormatMediaType(kind, params)
	switch {
	case len(s) > 255 || err != nil || written == "" || !strings.Contains(kind, "/") || len(written) > 900 || strings.ContainsFunc(written, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", fmt.Errorf("%q is no media type", toolabi.CleanLine(s, 80))
	case strings.HasPrefix(kind, "multipart/") || strings.HasPrefix(kind, "message/"):
		return "", fmt.Errorf("%s cannot be attached: name it application/octet-stream", kind)
	}
	return written, nil
}

func mailTimeoutOf(req toolabi.MailSendRequest) time.Duration {
	ms := req.TimeoutMS
	if ms == 0 {
		ms = toolabi.DefaultMailTimeout
	}
	return time.Duration(min(ms, toolabi.MaxMailTimeout)) * time.Millisecond
}
