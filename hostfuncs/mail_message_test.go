package hostfuncs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// laidOut is the message of a request as it goes over the wire, without its end.
func laidOut(t *testing.T, req toolabi.MailSendRequest) (whole []byte, m *message) {
	t.Helper()
	c := Call{Key: "wrun-1", Began: time.Unix(1e9, 0), Grants: Grants{Mail: MailGrant{Server: "smtps://h:465", From: "desk@example.com", To: []string{"*"}}}}
	l, err := checkMail(c, req)
	if err != nil {
		t.Skip(err) // of a fuzz test
	}
	if err := l.sign(c, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if m, err = l.layOut(t.Context(), c); err != nil {
		t.Skip(err)
	}
	var b bytes.Buffer
	if err := m.writeTo(&b); err != nil {
		t.Fatal(err)
	}
	if int64(b.Len()) != m.size {
		t.Errorf("it has %d bytes and says %d", b.Len(), m.size)
	}
	return b.Bytes(), m
}

func FuzzAMessageIsReadAsItWasWritten(f *testing.F) {
	f.Add("Hello", "Good morning\n.\n", "<p>x</p>", "a.txt", "text/plain", []byte("x"))
	f.Add(" =?utf-8?q?x?= ü"+strings.Repeat("é ", 100), "\r\n.\r\nMAIL FROM:<x@y>\r\n", "", "ü\"\\;=.pdf", "", []byte(".\r\n"))
	f.Add("", "a\nb", strings.Repeat(".", 3000), strings.Repeat("日", 80), "application/x; a=b", make([]byte, 58))
	f.Fuzz(func(t *testing.T, subject, text, html, name, kind string, body []byte) {
		req := toolabi.MailSendRequest{To: []string{"ann@example.com"}, Subject: subject, Text: text, HTML: html}
		if name != "" {
			req.Attachments = []toolabi.MailAttachment{{Name: name, Type: kind, Body: body}}
		}
		whole, _ := laidOut(t, req)
		for line := range bytes.Lines(whole) {
			text, ok := bytes.CutSuffix(line, []byte("\r\n"))
			if !ok || len(text) > 998 || bytes.ContainsFunc(text, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }) {
				t.Fatalf("a line is %.1000q", line)
			}
		}
		read, err := mail.ReadMessage(bytes.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := new(mime.WordDecoder).DecodeHeader(read.Header.Get("Subject")); err != nil || got != subject {
			t.Errorf("the subject is %q, %v, want %q", got, err, subject)
		}
		if len(read.Header) > 10 || len(read.Header["Bcc"]) > 0 {
			t.Errorf("it has the headers %v", read.Header)
		}
		if name != "" || html != "" {
			return
		}
		b, err := io.ReadAll(quotedprintable.NewReader(read.Body))
		if want := strings.ReplaceAll(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n")+"\n", "\n", "\r\n"); err != nil || string(b) != want {
			t.Errorf("the text is %q, %v, want %q", b, err, want)
		}
	})
}

func FuzzDotsAreDoubledAtTheBeginOfLines(f *testing.F) {
	f.Add([]byte(".\r\n..\r\na.\r\n"), 3)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		var out bytes.Buffer
		d := &dotWriter{w: &out}
		cut = min(max(cut, 0), len(b))
		for _, part := range [][]byte{b[:cut], b[cut:]} {
			if n, err := d.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		var undone []byte
		for line := range bytes.Lines(out.Bytes()) {
			if string(line) == ".\r\n" {
				t.Fatalf("%q ends the message", out.Bytes())
			}
			undone = append(undone, bytes.TrimPrefix(line, []byte("."))...)
		}
		if !bytes.Equal(undone, b) {
			t.Errorf("%q was written as %q", b, out.Bytes())
		}
	})
}

func FuzzRepliesOfMailServers(f *testing.F) {
	f.Add([]byte("250-a\r\n250 b\r\n"))
	f.Add([]byte("354\n"))
	f.Add([]byte("250-a\r\n251 b\r\n"))
	f.Add([]byte("250" + strings.Repeat("x", 3000)))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bufio.NewReader(bytes.NewReader(b))
		reply, err := readMailReply(in)
		var bad *replyError
		switch {
		case errors.As(err, &bad), errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Fatal(err)
		}
		size := 0
		for _, line := range reply.lines {
			size += len(line)
		}
		if reply.code < 200 || reply.code > 599 || len(reply.lines) == 0 || size > maxMailLine*maxMailLines {
			t.Errorf("%q is read as %+v", b, reply)
		}
		reply.extensions()
	})
}

func TestAReplyWithoutEndIsBounded(t *testing.T) {
	for _, s := range []string{strings.Repeat("250-x\r\n", 1e6), strings.Repeat("2", 1e7), strings.Repeat("\r\n", 10), "250-" + strings.Repeat("x", 1e7), "\x00\x00\x00\r\n", "150 x\r\n", "650 x\r\n", "250x\r\n"} {
		in := bufio.NewReader(strings.NewReader(s))
		var bad *replyError
		if reply, err := readMailReply(in); !errors.As(err, &bad) {
			t.Errorf("%.20q… is read as %+v, %v", s, reply, err)
		}
	}
}

func TestAnArtifactThatChangesEndsAMessageBeforeItsEnd(t *testing.T) {
	for name, p := range map[string]piece{
		"longer":  {data: io.NopCloser(strings.NewReader("four")), length: 3},
		"shorter": {data: io.NopCloser(strings.NewReader("four")), length: 5},
		"damaged": {data: io.NopCloser(io.MultiReader(strings.NewReader("four"), broke{})), length: 4},
	} {
		var unread *readingError
		if err := (&message{pieces: []piece{p}}).writeTo(io.Discard); !errors.As(err, &unread) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// broke is a reader that says that something is damaged.
type broke struct{}

func (broke) Read([]byte) (int, error) { return 0, errors.New("damaged") }

func TestWhatAPersonSaysOfAMessage(t *testing.T) {
	reply, err := parseSaidMail([]byte(`{"message_id":"<wrun-1@example.com>"}`))
	if err != nil {
		t.Fatal(err)
	}
	if said, err := shown(saidForm)(reply); err != nil || string(said) != "{\"message_id\":\"<wrun-1@example.com>\"}\n" {
		t.Errorf("got %s, %v", said, err)
	}
	for _, s := range []string{``, `{}`, `null`, `[]`, `"<a@b>"`, `{"message_id":1}`, `{"message_id":""}`, `{"message_id":"a@b"}`, `{"message_id":"<a>"}`, `{"message_id":"<@>"}`,
		`{"message_id":"<a@b>","x":1}`, `{"Message_ID":"<a@b>"}`, `{"message_id":"<a@b>\r\nX: y"}`, `{"message_id":"<a@b> <c@d>"}`, `{"message_id":"<a@b>`} {
		if _, err := parseSaidMail([]byte(s)); err == nil || strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("%s: got %v", s, err)
		}
	}
}

func TestWhatPeopleAreShownOfAMessage(t *testing.T) {
	raw, err := toolabi.Encode(toolabi.MailSendRequest{To: []string{"ann@example.com"}, Bcc: []string{"bob@example.com"}, Subject: "Hi\x1b[2J <you>", Text: "t",
		Attachments: []toolabi.MailAttachment{{Name: "a", Body: []byte("abc")}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := described(mailWords)(raw), "to ann@example.com and 1 more: Hi <you>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	shown, err := shown(askedForm)(raw)
	const want = `{"to":["ann@example.com"],"bcc":["bob@example.com"],"subject":"Hi\u001b[2J <you>","text":"t",` +
		`"attachments":[{"name":"a","size":3,"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}]}` + "\n"
	if err != nil || string(shown) != want {
		t.Errorf("got %s, %v, want %s", shown, err, want)
	}
	if d := described(mailWords)([]byte{0xff}); d != "" {
		t.Errorf("got %q for what is no request", d)
	}
}
