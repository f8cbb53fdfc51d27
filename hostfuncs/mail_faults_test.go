package hostfuncs_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/mailserver"
	"github.com/wrun-dev/wrun/toolabi"
)

// wanted is what should come of a message.
type wanted struct {
	code   toolabi.Code
	effect toolabi.EffectState
	detail string
	retry  toolabi.Retry
}

const none = toolabi.EffectNone

func TestWhatAServerDoesWrongIsKnownForWhatItIs(t *testing.T) {
	endless := strings.Repeat("250-x\r\n", 1000)
	overlong := strings.Repeat("x", 10<<20)
	for _, c := range []struct {
		name  string
		fault mailserver.Fault
		want  wanted
	}{
		{"no greeting", mailserver.Fault{At: mailserver.Greeting, Close: true}, wanted{toolabi.Unavailable, none, "greeting", toolabi.RetrySafe}},
		{"not now", mailserver.Fault{At: mailserver.Greeting, Reply: "421 4.3.2 come back\r\n", Close: true}, wanted{toolabi.Failed, none, "smtp_421", toolabi.RetryAfter}},
		{"never", mailserver.Fault{At: mailserver.Greeting, Reply: "554-no\r\n554 mail here\r\n", Close: true}, wanted{toolabi.Failed, none, "smtp_554", toolabi.RetryNever}},
		{"another protocol", mailserver.Fault{At: mailserver.Greeting, Reply: "HTTP/1.1 400 Bad Request\r\n\r\n", Close: true}, wanted{toolabi.Unavailable, none, "greeting", toolabi.RetrySafe}},
		{"no hello", mailserver.Fault{At: "EHLO", Reply: "502 5.5.1 what?\r\n"}, wanted{toolabi.Failed, none, "smtp_502", toolabi.RetryNever}},
		{"hello, gone", mailserver.Fault{At: "EHLO", Close: true}, wanted{toolabi.Unavailable, none, "hello", toolabi.RetrySafe}},
		{"hello without end", mailserver.Fault{At: "EHLO", Reply: endless, Flood: true}, wanted{toolabi.Unavailable, none, "hello", toolabi.RetrySafe}},
		{"hello of 10 MB", mailserver.Fault{At: "EHLO", Reply: "250-" + overlong + "\r\n250 x\r\n", Close: true}, wanted{toolabi.Unavailable, none, "hello", toolabi.RetrySafe}},
		{"line without end", mailserver.Fault{At: "EHLO", Reply: overlong, Flood: true}, wanted{toolabi.Unavailable, none, "hello", toolabi.RetrySafe}},
		{"two codes", mailserver.Fault{At: "EHLO", Reply: "250-a\r\n251 b\r\n"}, wanted{toolabi.Unavailable, none, "hello", toolabi.RetrySafe}},
		{"said too much", mailserver.Fault{At: "EHLO", Reply: "250 a\r\n250 b\r\n"}, wanted{toolabi.Unavailable, none, "sender", toolabi.RetrySafe}},
		{"sender, later", mailserver.Fault{At: "MAIL", Reply: "451 4.7.1 greylisted\r\n"}, wanted{toolabi.Failed, none, "smtp_451", toolabi.RetryAfter}},
		{"sender, gone", mailserver.Fault{At: "MAIL", Close: true}, wanted{toolabi.Unavailable, none, "sender", toolabi.RetrySafe}},
		{"sender, another answer", mailserver.Fault{At: "MAIL", Reply: "354 go on\r\n"}, wanted{toolabi.Unavailable, none, "sender", toolabi.RetrySafe}},
		{"recipient, no", mailserver.Fault{At: "RCPT", Reply: "550 5.1.1 nobody\r\n"}, wanted{toolabi.Failed, none, "smtp_550", toolabi.RetryNever}},
		{"recipient, gone", mailserver.Fault{At: "RCPT", Reply: "250 2", Close: true}, wanted{toolabi.Unavailable, none, "recipient", toolabi.RetrySafe}},
		{"data, no", mailserver.Fault{At: "DATA", Reply: "554 5.5.1 none\r\n"}, wanted{toolabi.Failed, none, "smtp_554", toolabi.RetryNever}},
		{"data, done already", mailserver.Fault{At: "DATA", Reply: "250 2.0.0 done\r\n"}, wanted{toolabi.Unavailable, none, "data", toolabi.RetrySafe}},
		{"data, gone", mailserver.Fault{At: "DATA", Close: true}, wanted{toolabi.Unavailable, none, "data", toolabi.RetrySafe}},
		{"end, not now", mailserver.Fault{At: mailserver.End, Reply: "452 4.3.1 full\r\n"}, wanted{toolabi.Failed, none, "smtp_452", toolabi.RetryAfter}},
		{"end, no", mailserver.Fault{At: mailserver.End, Reply: "554 5.7.1 spam\x00\x1b[2J\r\n", Close: true}, wanted{toolabi.Failed, none, "smtp_554", toolabi.RetryNever}},
		{"end, gone", mailserver.Fault{At: mailserver.End, Close: true}, wanted{toolabi.Unavailable, unknown, "closed", toolabi.RetryNever}},
		{"taken, gone", mailserver.Fault{At: mailserver.Taken, Close: true}, wanted{toolabi.Unavailable, unknown, "closed", toolabi.RetryNever}},
		{"taken, half a reply", mailserver.Fault{At: mailserver.Taken, Reply: "250-2.0.0 tak", Close: true}, wanted{toolabi.Unavailable, unknown, "closed", toolabi.RetryNever}},
		{"taken, nonsense", mailserver.Fault{At: mailserver.Taken, Reply: "\x00\xff\r\n"}, wanted{toolabi.Unavailable, unknown, "malformed", toolabi.RetryNever}},
		{"taken, another answer", mailserver.Fault{At: mailserver.Taken, Reply: "354 go on\r\n"}, wanted{toolabi.Unavailable, unknown, "malformed", toolabi.RetryNever}},
		{"taken, without end", mailserver.Fault{At: mailserver.Taken, Reply: endless, Flood: true}, wanted{toolabi.Unavailable, unknown, "malformed", toolabi.RetryNever}},
		{"taken, 10 MB", mailserver.Fault{At: mailserver.Taken, Reply: "250 " + overlong, Flood: true}, wanted{toolabi.Unavailable, unknown, "malformed", toolabi.RetryNever}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startMail(t, mailserver.Config{Faults: []mailserver.Fault{c.fault}})
			call := mayMail(s.URL())
			began := false
			call.BeforeSend = func() error { began = true; return nil }
			req := hello()
			req.Cc = []string{"bob@example.com"}
			_, err := sendMail(t, hostfuncs.Config{}, call, req)
			e := wantError(t, err, c.want.code, c.want.effect)
			if e.Detail != c.want.detail || e.Retry != c.want.retry || (e.Retry == toolabi.RetryAfter) != (e.RetryAfterMS > 0) {
				t.Errorf("got %+v, want %+v", e, c.want)
			}
			if toolabi.CleanLine(e.Message, len(e.Message)) != e.Message || len(e.Message) > 600 {
				t.Errorf("its message is not fit to be shown: %.900q", e.Message)
			}
			taken := c.fault.At == mailserver.Taken
			if n := len(s.Messages()); (n == 1) != taken || n > 1 {
				t.Errorf("the server has %d messages, want them only if it took the message over", n)
			}
			if want := taken || c.fault.At == mailserver.End; began != want {
				t.Errorf("asked whether it may send: %v, want %v", began, want)
			}
		})
	}
}

func TestOneRefusedRecipientLeavesEverybodyWithoutMail(t *testing.T) {
	s := startMail(t, mailserver.Config{Faults: []mailserver.Fault{{At: "RCPT", Skip: 1, Times: 1, Reply: "550 5.1.1 no bob here\r\n"}}})
	req := hello()
	req.Cc, req.Bcc = []string{"bob@example.com"}, []string{"cy@example.com"}
	_, err := sendMail(t, hostfuncs.Config{}, mayMail(s.URL()), req)
	e := wantError(t, err, toolabi.Failed, none)
	if !strings.Contains(e.Message, "bob@example.com") || !strings.Contains(e.Message, "no bob here") {
		t.Errorf("got %q, want who was refused and why", e.Message)
	}
	s.Drain()
	want := []string{"RCPT TO:<ann@example.com>", "RCPT TO:<bob@example.com>", "RSET", "QUIT"}
	if got := s.Commands(); !slices.Equal(got[2:], want) || len(s.Messages()) != 0 {
		t.Errorf("it said %q, want %q at the end", got, want)
	}
}

func TestWhatMayBeRepeatedCanBeTriedAgainAtOnce(t *testing.T) {
	s := startMail(t, mailserver.Config{Faults: []mailserver.Fault{{At: mailserver.Taken, Times: 1, Close: true}}})
	c := mayMail(s.URL())
	c.Repeatable = true
	_, err := sendMail(t, hostfuncs.Config{}, c, hello())
	if e := wantError(t, err, toolabi.Unavailable, unknown); e.Retry != toolabi.RetrySafe {
		t.Errorf("got %+v", e)
	}
	reply, err := sendMail(t, hostfuncs.Config{}, c, hello())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Messages() {
		if id := readMail(t, m.Data).header.Get("Message-Id"); id != reply.MessageID {
			t.Errorf("got the id %s, want %s in both", id, reply.MessageID)
		}
	}
}

func TestAServerThatFallsSilentIsGivenUpInTime(t *testing.T) {
	for _, c := range []struct {
		at   mailserver.Moment
		want wanted
		most time.Duration // of a timeout of a minute
	}{
		{mailserver.Greeting, wanted{toolabi.Timeout, none, "greeting", toolabi.RetrySafe}, 30 * time.Second},
		{"EHLO", wanted{toolabi.Timeout, none, "hello", toolabi.RetrySafe}, 30 * time.Second},
		{"MAIL", wanted{toolabi.Timeout, none, "sender", toolabi.RetrySafe}, 30 * time.Second},
		{"RCPT", wanted{toolabi.Timeout, none, "recipient", toolabi.RetrySafe}, 30 * time.Second},
		{"DATA", wanted{toolabi.Timeout, none, "data", toolabi.RetrySafe}, 30 * time.Second},
		{"reads nothing", wanted{toolabi.Timeout, none, "message", toolabi.RetrySafe}, 45 * time.Second},
		{mailserver.End, wanted{toolabi.Timeout, unknown, "timeout", toolabi.RetryNever}, time.Minute},
		{mailserver.Taken, wanted{toolabi.Timeout, unknown, "timeout", toolabi.RetryNever}, time.Minute},
	} {
		t.Run(string(c.at), func(t *testing.T) {
			s := startMail(t, mailserver.Config{Faults: []mailserver.Fault{{At: c.at, Stall: true}}})
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				served := make(chan struct{})
				cfg := hostfuncs.Config{Dial: func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						defer close(served)
						if c.at == "reads nothing" {
							theirs = deafAfter{theirs, "354"}
						}
						s.ServeConn(theirs)
					}()
					return ours, nil
				}}
				_, err := sendMail(t, cfg, mayMail(s.URL()), hello())
				e := wantError(t, err, c.want.code, c.want.effect)
				if took := time.Since(began); e.Detail != c.want.detail || e.Retry != c.want.retry || took != c.most {
					t.Errorf("got %+v after %s, want %+v after %s", e, took, c.want, c.most)
				}
				<-served
			})
		})
	}
}

// deafAfter is a connection on which nothing is read any more once something was said.
type deafAfter struct {
	net.Conn
	said string
}

func (d deafAfter) Write(b []byte) (int, error) {
	n, err := d.Conn.Write(b)
	if strings.HasPrefix(string(b), d.said) {
		time.Sleep(10 * time.Minute) // of the bubble's clock
	}
	return n, err
}

func TestAMessageThatIsGivenUpHalfwayDoesNotArrive(t *testing.T) {
	s := startMail(t, mailserver.Config{})
	c := mayMail(s.URL())
	files := folder{}
	req := hello()
	req.Attachments = []toolabi.MailAttachment{{Name: "a", Body: make([]byte, 1<<20)}, {Name: "b", Artifact: files.put([]byte("x"))}}
	ctx, cancel := context.WithCancel(t.Context())
	c.Artifacts = files
	c.BeforeSend = func() error { cancel(); return nil }
	_, err := use[toolabi.MailSendRequest, toolabi.MailSendReply](ctx, hostfuncs.Config{}, toolabi.FuncMailSend, c, req)
	e := wantError(t, err, toolabi.Unavailable, none)
	s.Drain()
	if e.Detail != "message" || len(s.Messages()) != 0 {
		t.Errorf("got %+v, and %d messages arrived", e, len(s.Messages()))
	}
}
