package hostfuncs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime/quotedprintable"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// message is a letter laid out: pieces that follow each other, all of them in lines of ASCII that end with carriage return and
// line feed. Only addresses beyond ASCII are UTF-8. Everything in it comes from the request, the key and the time of the intent,
// so that the same step makes the same bytes whenever it is done.
type message struct {
	id     string
	size   int64 // in bytes, without the dots that are doubled on the way
	pieces []piece
}

// piece is a part of a message: text as it is, or data that is written in base64.
type piece struct {
	text   []byte
	data   io.ReadCloser
	length int64 // of data, in bytes
}

// sign gives a letter its Message-ID and its date. They are those of the step: done again, it makes the same message.
func (l *letter) sign(c Call, now time.Time) error {
	if c.Key == "" || strings.ContainsFunc(c.Key, notInLocal) || len(c.Key) > 64 {
		return errors.New("mail_send: the idempotency key cannot be the name of a message") // the host's own fault
	}
	sum := sha256.Sum256([]byte("wrun mail boundary " + c.Key))
	l.id, l.boundary, l.date = "<"+c.Key+"@"+l.from.domain+">", hex.EncodeToString(sum[:12]), now
	if !c.Began.IsZero() {
		l.date = c.Began
	}
	return nil
}

// layOut makes the message of a signed letter. The caller closes it.
func (l *letter) layOut(ctx context.Context, c Call) (*message, error) {
	m := &message{id: l.id}
	m.text(string(l.mailHeader()))
	mixed, other := "=_m"+l.boundary, "=_a"+l.boundary // neither base64 nor quoted-printable ever has =_ in it
	if len(l.attachments) > 0 {
		m.text("Content-Type: multipart/mixed; boundary=\"" + mixed + "\"\r\n\r\n--" + mixed + "\r\n")
	}
	switch {
	case l.html == "":
		m.text(textHeader("text/plain") + quoted(l.text))
	case l.text == "":
		m.text(textHeader("text/html") + quoted(l.html))
	default:
		m.text("Content-Type: multipart/alternative; boundary=\"" + other + "\"\r\n\r\n--" + other + "\r\n" + textHeader("text/plain") + quoted(l.text) +
			"\r\n--" + other + "\r\n" + textHeader("text/html") + quoted(l.html) + "\r\n--" + other + "--\r\n")
	}
	for _, a := range l.attachments {
		if err := m.attach(ctx, c, mixed, a); err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	if len(l.attachments) > 0 {
		m.text("\r\n--" + mixed + "--\r\n")
	}
	if m.size > toolabi.MaxMailMessage {
		m.Close()
		return nil, tooLargef("mail_send: a message of %d bytes, at most %d are allowed; a third more than an attachment's own size is sent", m.size, toolabi.MaxMailMessage)
	}
	return m, nil
}

func (m *message) text(s string) {
	m.pieces = append(m.pieces, piece{text: []byte(s)})
	m.size += int64(len(s))
}

// attach adds an attachment; an artifact is opened, and not read.
func (m *message) attach(ctx context.Context, c Call, boundary string, a toolabi.MailAttachment) error {
	kind, err := mediaType(a.Type)
	if err != nil {
		return invalidf("mail_send: %v", err)
	}
	p := piece{data: io.NopCloser(bytes.NewReader(a.Body)), length: int64(len(a.Body))}
	if d, ok := toolabi.ParseDigest(a.Artifact); ok {
		if c.Artifacts == nil {
			return toolabi.NewError(toolabi.NotFound, fmt.Sprintf("mail_send: the run has no artifact %s", a.Artifact))
		}
		if p.data, p.length, err = c.Artifacts.Open(ctx, d); err != nil {
			return err
		}
	}
	m.text("\r\n--" + boundary + "\r\n" + attachmentHeader(kind, a.Name))
	m.pieces = append(m.pieces, p)
	m.size += encodedLength(p.length)
	return nil
}

// Close closes the artifacts of a message.
func (m *message) Close() error {
	var errs []error
	for _, p := range m.pieces {
		if p.data != nil {
			errs = append(errs, p.data.Close())
		}
	}
	return errors.Join(errs...)
}

// quoted writes a text as quoted-printable, ending with a line's end.
func quoted(s string) string {
	var b strings.Builder
	w := quotedprintable.NewWriter(&b)
	io.WriteString(w, s) // a Builder takes everything
	w.Close()
	if !strings.HasSuffix(s, "\n") {
		b.WriteString("\r\n")
	}
	return b.String()
}

// rawLine is how many bytes stand in a line of base64.
const rawLine = 57

// encodedLength is how long n bytes are in lines of base64, with the ends of the lines.
func encodedLength(n int64) int64 {
	full, rest := n/rawLine, n%rawLine
	size := full * (rawLine/3*4 + 2)
	if rest > 0 {
		size += (rest+2)/3*4 + 2
	}
	return size
}

// writeTo writes the message. An error is a *readingError when an artifact could not be read, and w's otherwise.
func (m *message) writeTo(w io.Writer) error {
	for _, p := range m.pieces {
		if p.data == nil {
			if _, err := w.Write(p.text); err != nil {
				return err
			}
			continue
		}
		if err := p.encode(w); err != nil {
			return err
		}
	}
	return nil
}

// readingError says that what was to be sent cannot be read.
type readingError struct{ err error }

func (e *readingError) Error() string { return "read an attachment: " + e.err.Error() }
func (e *readingError) Unwrap() error { return e.err }

// encode writes data in lines of base64.
func (p piece) encode(w io.Writer) error {
	raw := make([]byte, 512*rawLine)
	lines := make([]byte, 0, encodedLength(int64(len(raw))))
	var done int64
	for {
		n, err := io.ReadFull(p.data, raw)
		done += int64(n)
		lines = lines[:0]
		for rest := raw[:n]; len(rest) > 0; rest = rest[min(len(rest), rawLine):] {
			lines = base64.StdEncoding.AppendEncode(lines, rest[:min(len(rest), rawLine)])
			lines = append(lines, '\r', '\n')
		}
		if done > p.length {
			return &readingError{errors.New("it is longer than it was")}
		}
		if _, failed := w.Write(lines); failed != nil {
			return failed
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			if done != p.length {
				return &readingError{errors.New("it is shorter than it was")}
			}
			return nil
		case err != nil:
			return &readingError{err}
		}
	}
}
