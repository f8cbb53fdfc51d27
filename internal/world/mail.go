package world

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/netip"
	"strings"

	"github.com/wrun-dev/wrun/internal/mailserver"
)

// startMail makes the mail server. It is reached at the address that the grant names, by connections that come to the Live.
func (l *Live) startMail() error {
	if l.mail.Server == "" {
		return nil
	}
	scheme, at, _ := strings.Cut(l.mail.Server, "://")
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		return err
	}
	l.post, err = mailserver.Start(mailserver.Config{
		TLS: l.authority.config(host), Implicit: scheme == "smtps", User: l.mail.User, Password: l.world.Secrets[l.mail.Secret], Judge: l.judge,
	})
	return err
}

func (l *Live) closeMail() error {
	if l.post == nil {
		return nil
	}
	return l.post.Close()
}

// isMail says whether what is dialled at target, IP and port, is the mail server.
func (l *Live) isMail(target string) bool {
	_, at, _ := strings.Cut(l.mail.Server, "://")
	host, port, err := net.SplitHostPort(at)
	ip, wrong := netip.ParseAddrPort(target)
	return err == nil && wrong == nil && hostIs(host, ip.Addr()) && strings.HasSuffix(target, ":"+port)
}

// judge decides what becomes of a message, and remembers it.
func (l *Live) judge(m mailserver.Message) mailserver.Fate {
	read, id := readMessage(m)
	read.Subject, read.Text, read.HTML = l.hide(read.Subject), l.hide(read.Text), l.hide(read.HTML)
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &Event{Kind: KindMail, Key: id, Message: &read}
	l.events = append(l.events, e)
	fate, ok := Nth(l.world.Mail, l.mails)
	l.mails++
	if !ok {
		e.Unexpected, e.Why = true, "the world has no mail server"
		return mailserver.Refuse
	}
	e.Acted = fate != Refuse
	switch fate {
	case Refuse:
		e.Reply = "refused"
		return mailserver.Refuse
	case Lost:
		e.Fault = LostReply
		return mailserver.Lose
	}
	e.Reply = "taken over"
	return mailserver.Take
}

// readMessage reads what a message says, as far as it can be read.
func readMessage(m mailserver.Message) (read Message, id string) {
	read = Message{From: m.From, To: m.To}
	parsed, err := mail.ReadMessage(bytes.NewReader(m.Data))
	if err != nil {
		read.Text = show(m.Data)
		return read, ""
	}
	read.Subject, err = new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject"))
	if err != nil {
		read.Subject = parsed.Header.Get("Subject")
	}
	read.part(parsed.Header.Get("Content-Type"), parsed.Header.Get("Content-Transfer-Encoding"), "", parsed.Body, 0)
	return read, parsed.Header.Get("Message-ID")
}

// maxParts is how deep parts of a message may lie in each other.
const maxParts = 8

// part reads a part of a message, and those in it.
func (m *Message) part(kind, encoding, disposition string, body io.Reader, depth int) {
	kind, params, err := mime.ParseMediaType(kind)
	if err != nil {
		kind = "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") && depth < maxParts {
		parts := multipart.NewReader(body, params["boundary"])
		for {
			p, err := parts.NextRawPart()
			if err != nil {
				return
			}
			m.part(p.Header.Get("Content-Type"), p.Header.Get("Content-Transfer-Encoding"), p.Header.Get("Content-Disposition"), p, depth+1)
		}
	}
	if how, params, err := mime.ParseMediaType(disposition); err == nil && how == "attachment" {
		m.Attachments = append(m.Attachments, params["filename"])
		return
	}
	switch strings.ToLower(encoding) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	b, _ := io.ReadAll(body) // as far as it can be read
	text := strings.ReplaceAll(show(b), "\r\n", "\n")
	if kind == "text/html" {
		m.HTML = text
		return
	}
	m.Text = text
}
