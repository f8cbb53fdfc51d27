package hostfuncs

import (
	"bytes"
	"encoding/base64"
	"mime"
	"strings"
	"time"
	"unicode/utf8"
)

// mailHeader writes the head of a message, up to the fields that say what it is made of. Who is in bcc is not in it.
func (l *letter) mailHeader() []byte {
	var b bytes.Buffer
	line := func(name, value string) { b.WriteString(name + ": " + value + "\r\n") }
	line("Date", l.date.UTC().Format(time.RFC1123Z))
	line("From", l.from.String())
	if len(l.to) > 0 {
		line("To", addressList(l.to))
	}
	if len(l.cc) > 0 {
		line("Cc", addressList(l.cc))
	}
	if len(l.to)+len(l.cc) == 0 {
		line("To", "undisclosed-recipients:;")
	}
	if l.replyTo != nil {
		line("Reply-To", l.replyTo.String())
	}
	line("Subject", subjectText(l.subject))
	line("Message-ID", l.id)
	line("MIME-Version", "1.0")
	return b.Bytes()
}

// addressList writes each address on a line of its own.
func addressList(list []address) string {
	var words []string
	for _, a := range list {
		words = append(words, a.String())
	}
	return strings.Join(words, ",\r\n ")
}

// maxPlainSubject is how long a text may be that stands in a header as it is, in bytes: with its name it stays on a line.
const maxPlainSubject = 66

// subjectText writes a text so that whoever reads the header gets every byte of it: as it is where nothing could be lost, and in
// encoded words of RFC 2047 otherwise, each on a line of its own and none of them ending inside a character.
func subjectText(s string) string {
	plain := len(s) <= maxPlainSubject && strings.TrimSpace(s) == s && !strings.Contains(s, "=?") && !strings.Contains(s, "  ")
	if plain && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return s
	}
	const most = 39 // bytes, which with name and marks are a line of 72 at most
	var words []string
	for len(s) > 0 {
		n := min(len(s), most)
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n--
		}
		words = append(words, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(s[:n]))+"?=")
		s = s[n:]
	}
	return strings.Join(words, "\r\n ")
}

// textHeader writes the head of a text.
func textHeader(kind string) string {
	return "Content-Type: " + kind + "; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
}

// attachmentHeader writes the head of an attachment, whose type is in its only spelling. A name beyond ASCII is written as
// RFC 2231 has it.
func attachmentHeader(kind, name string) string {
	return "Content-Type: " + kind + "\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: " +
		mime.FormatMediaType("attachment", map[string]string{"filename": name}) + "\r\n\r\n"
}
