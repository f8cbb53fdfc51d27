package hostfuncs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/mailserver"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestAMessageArrivesAsItWasWritten(t *testing.T) {
	big := make([]byte, 8<<20)
	rand.NewChaCha8([32]byte{1}).Read(big)
	files := folder{}
	long := strings.Repeat("long ", 5000)
	for name, req := range map[string]toolabi.MailSendRequest{
		"plain":            hello(),
		"dots":             {Subject: ".", Text: ".\n..\n.dot\n\n.\nend.\n"},
		"long lines":       {Subject: strings.Repeat("ü", 450), Text: long + "\n" + strings.Repeat("é", 3000) + "\n" + strings.Repeat(".", 2000) + "\n"},
		"spaces":           {Subject: " two  spaces ", Text: "trailing \t \n \n\n\t.\nFrom here\n"},
		"what looks coded": {Subject: "=?utf-8?q?x?=", Text: "=3D =\n=20\n--=_m\n"},
		"unicode":          {Subject: "Grüße 🎉 und mehr, in einer Zeile, die nicht auf eine passt", Text: "日本語 🎉\u200d\x1b[1m\n"},
		"long and plain":   {Subject: strings.Repeat("word ", 100) + "end", Text: "x\n"},
		"no subject":       {Text: "x\n"},
		"both":             {Subject: "s", Text: "text\n", HTML: "<p style=\"x\">.é</p>\n.\n"},
		"html only":        {Subject: "s", HTML: "<p>é</p>\n"},
		"attachments": {Subject: "s", Text: "see\n", HTML: "<b>see</b>\n", Attachments: []toolabi.MailAttachment{
			{Name: "a.txt", Type: "text/plain; charset=utf-8", Body: []byte(".\r\n.\n\x00")}, {Name: "Übersicht \"2026\"; x=y.pdf", Type: "application/pdf"},
			{Name: strings.Repeat("ü", 127), Body: []byte("x")}, {Name: "a.bin", Artifact: files.put([]byte(long))}}},
		"no text, 8 MB": {Attachments: []toolabi.MailAttachment{{Name: "big", Body: big}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := startMail(t, mailserver.Config{})
			if len(req.To) == 0 {
				req.To = []string{"ann@example.com"}
			}
			c := mayMail(s.URL())
			c.Artifacts = files
			reply, err := sendMail(t, hostfuncs.Config{}, c, req)
			if err != nil {
				t.Fatal(err)
			}
			taken := s.Messages()
			if len(taken) != 1 {
				t.Fatalf("the server has %d messages, want one", len(taken))
			}
			g := readMail(t, taken[0].Data)
			if g.subject != req.Subject || strings.TrimSuffix(g.text, "\n") != strings.TrimSuffix(req.Text, "\n") || g.html != req.HTML {
				t.Errorf("got %.200q, %.200q, %.200q\nwant %.200q, %.200q, %.200q", g.subject, g.text, g.html, req.Subject, req.Text, req.HTML)
			}
			if g.header.Get("Message-Id") != reply.MessageID {
				t.Errorf("its id is %s, the reply says %s", g.header.Get("Message-Id"), reply.MessageID)
			}
			if len(g.names) != len(req.Attachments) {
				t.Fatalf("got attachments %q, want %d", g.names, len(req.Attachments))
			}
			for i, a := range req.Attachments {
				want := a.Body
				if a.Artifact != "" {
					want = []byte(long)
				}
				if g.names[i] != a.Name || !bytes.Equal(g.attachments[i], want) {
					t.Errorf("attachment %d is %s with %d bytes, want %s with %d", i, g.names[i], len(g.attachments[i]), a.Name, len(want))
				}
			}
			if want := fmt.Sprintf("SIZE=%d", len(taken[0].Data)); taken[0].Params != want {
				t.Errorf("the server was told %s, want %s", taken[0].Params, want)
			}
		})
	}
}

func TestTheHeadOfAMessage(t *testing.T) {
	s := startMail(t, mailserver.Config{})
	req := toolabi.MailSendRequest{To: []string{"ann@example.com", "bob@Example.com"}, Cc: []string{"cy@example.com", "ann@example.com"},
		Bcc: []string{"dee@example.org"}, ReplyTo: "help@example.com", Subject: "Hello", Text: "x"}
	if _, err := sendMail(t, hostfuncs.Config{}, mayMail(s.URL()), req); err != nil {
		t.Fatal(err)
	}
	m := s.Messages()[0]
	want := "Date: Sun, 09 Sep 2001 01:46:40 +0000\r\nFrom: desk@example.com\r\nTo: ann@example.com,\r\n bob@example.com\r\nCc: cy@example.com,\r\n ann@example.com\r\n" +
		"Reply-To: help@example.com\r\nSubject: Hello\r\nMessage-ID: <wrun-0123456789abcdef0123456789abcdef@example.com>\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nx\r\n"
	if string(m.Data) != want {
		t.Errorf("got %s\nwant %s", m.Data, want)
	}
	if want := []string{"ann@example.com", "bob@example.com", "cy@example.com", "dee@example.org"}; m.From != "desk@example.com" || !slices.Equal(m.To, want) {
		t.Errorf("from %s to %q, want %q", m.From, m.To, want)
	}
	if got, want := s.Commands()[0], "EHLO [127.0.0.1]"; got != want {
		t.Errorf("it said %q, want %q: a name that says nothing of the host", got, want)
	}
	if strings.Contains(string(m.Data), "dee@") {
		t.Error("the message says who is in bcc")
	}
}

func TestAMessageToBccAloneNamesNobody(t *testing.T) {
	s := startMail(t, mailserver.Config{})
	if _, err := sendMail(t, hostfuncs.Config{}, mayMail(s.URL()), toolabi.MailSendRequest{Bcc: []string{"ann@example.com"}, Text: "x"}); err != nil {
		t.Fatal(err)
	}
	if m := s.Messages()[0]; strings.Contains(string(m.Data), "ann@") || !strings.Contains(string(m.Data), "To: undisclosed-recipients:;\r\n") {
		t.Errorf("got %s", m.Data)
	}
}

func TestTheSameStepMakesTheSameBytes(t *testing.T) {
	s := startMail(t, mailserver.Config{})
	req := hello()
	req.HTML, req.Attachments = "<p>Good morning</p>", []toolabi.MailAttachment{{Name: "a", Body: []byte("b")}}
	c := mayMail(s.URL())
	c.Now = time.Now
	other := c
	other.Key, other.Began = "wrun-ffffffffffffffffffffffffffffffff", time.Time{}
	for _, c := range []hostfuncs.Call{c, c, other} {
		if _, err := sendMail(t, hostfuncs.Config{}, c, req); err != nil {
			t.Fatal(err)
		}
	}
	got := s.Messages()
	if string(got[0].Data) != string(got[1].Data) {
		t.Errorf("the same step made\n%s\nand\n%s", got[0].Data, got[1].Data)
	}
	if string(got[0].Data) == string(got[2].Data) {
		t.Error("another step made the same message")
	}
}

func TestAddressesBeyondASCIINeedAServerThatTakesThem(t *testing.T) {
	for name, without := range map[string][]string{"able": nil, "unable": {"SMTPUTF8"}, "7 bit": {"8BITMIME"}} {
		t.Run(name, func(t *testing.T) {
			s := startMail(t, mailserver.Config{Without: without})
			req := hello()
			req.To = []string{"jörg@example.com"}
			_, err := sendMail(t, hostfuncs.Config{}, mayMail(s.URL()), req)
			if without != nil {
				if e := wantError(t, err, toolabi.Unavailable, toolabi.EffectNone); e.Detail != "smtputf8" || e.Retry != toolabi.RetryNever || len(s.Messages()) != 0 {
					t.Errorf("got %+v", e)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			m := s.Messages()[0]
			if list, err := readMail(t, m.Data).header.AddressList("To"); err != nil || list[0].Address != "jörg@example.com" || !strings.Contains(m.Params, "BODY=8BITMIME SMTPUTF8") {
				t.Errorf("got %v, %v, params %s", list, err, m.Params)
			}
		})
	}
}

func TestAServerThatTakesLessIsNotSentMore(t *testing.T) {
	s := startMail(t, mailserver.Config{Size: 200})
	_, err := sendMail(t, hostfuncs.Config{}, mayMail(s.URL()), hello())
	if e := wantError(t, err, toolabi.TooLarge, toolabi.EffectNone); e.Detail != "server_size" {
		t.Errorf("got %+v", e)
	}
	if slices.Contains(s.Commands(), "DATA") {
		t.Error("the message was sent")
	}
}

func TestBytesSentAreThoseOfTheMessage(t *testing.T) {
	s := startMail(t, mailserver.Config{})
	c := mayMail(s.URL())
	asked, sent := 0, int64(0)
	c.BeforeSend = func() error {
		if asked++; s.Commands()[len(s.Commands())-1] != "DATA" {
			t.Errorf("asked after %q, want after DATA", s.Commands())
		}
		return nil
	}
	c.Sent = func(n int64) { sent = n }
	req := hello()
	req.Text = ".\n"
	if _, err := sendMail(t, hostfuncs.Config{}, c, req); err != nil {
		t.Fatal(err)
	}
	if want := int64(len(s.Messages()[0].Data) + len(".") + len(".\r\n")); asked != 1 || sent != want {
		t.Errorf("asked %d times and told of %d bytes, want once and %d", asked, sent, want)
	}
}

func TestWhatMayNotBeSentIsNotSent(t *testing.T) {
	s := startMail(t, mailserver.Config{})
	c := mayMail(s.URL())
	no := toolabi.NewError(toolabi.Timeout, "too late")
	c.BeforeSend = func() error { return no }
	c.Sent = func(int64) { t.Error("told of bytes sent") }
	if _, err := sendMail(t, hostfuncs.Config{}, c, hello()); err != no {
		t.Errorf("got %v, want the refusal itself", err)
	}
	if n := len(s.Messages()); n != 0 {
		t.Errorf("the server has %d messages", n)
	}
}
