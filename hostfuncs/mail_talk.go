package hostfuncs

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// talk is a conversation with a mail server, one command at a time. It is not net/smtp, which writes the end of a message and
// waits for its reply in one call, so that nobody could say whether the end was written, and which reads lines of any length.
type talk struct {
	letter *letter
	vault  *Vault
	roots  *x509.CertPool

	conn   net.Conn
	in     *bufio.Reader
	has    map[string]string // what the server has besides, by its keyword in upper case
	secure bool              // under TLS
	phase  string            // what is being done, for people and as the detail of an error
	began  time.Time
}

// until is where in the time of an exchange its parts have to end: the conversation before the message, the message but its end.
// The rest is for the reply to the end, since only without that one nobody knows what became of the message.
func (t *talk) until(numerator time.Duration) time.Time {
	return t.began.Add(t.letter.timeout * numerator / 4)
}

// bound lets what is read and written fail when ctx ends. end ends that, and says whether ctx has ended before.
func (t *talk) bound(ctx context.Context) (end func() error) {
	conn := t.conn
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	return func() error {
		if !stop() || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
}

// use makes conn what is talked over.
func (t *talk) use(conn net.Conn) { t.conn, t.in = conn, bufio.NewReaderSize(conn, 4<<10) }

// expect reads a reply, whose first digit has to be want. Another one is a *refusal.
func (t *talk) expect(want int) (mailReply, error) {
	reply, err := readMailReply(t.in)
	switch {
	case err != nil:
		return reply, err
	case reply.kind() == want:
		return reply, nil
	case reply.kind() < 4:
		return reply, malformed(fmt.Sprintf("the server answered %d, which is no answer to that", reply.code))
	}
	return reply, &refusal{reply}
}

// ask sends a command and reads its reply.
func (t *talk) ask(want int, command string) (mailReply, error) {
	switch {
	case strings.ContainsAny(command, "\r\n\x00"):
		return mailReply{}, errors.New("mail_send: a command of more than one line") // nothing that was judged leads here
	case t.in.Buffered() > 0:
		return mailReply{}, malformed("the server said something unasked")
	}
	if _, err := io.WriteString(t.conn, command+"\r\n"); err != nil {
		return mailReply{}, err
	}
	return t.expect(want)
}

// open waits for the server's greeting, asks what it has, and goes under TLS where that is needed and not done.
func (t *talk) open(ctx context.Context) error {
	t.phase = "greeting"
	if _, err := t.expect(2); err != nil {
		return err
	}
	if err := t.hello(); err != nil {
		return err
	}
	if t.secure || t.letter.local() && (t.letter.user == "" || t.has["AUTH"] != "") {
		return nil
	}
	if err := t.startTLS(ctx); err != nil {
		return err
	}
	return t.hello()
}

// hello asks what the server has. The name it is told is true of every host, and says nothing of this one.
func (t *talk) hello() error {
	t.phase = "hello"
	reply, err := t.ask(2, "EHLO [127.0.0.1]")
	t.has = reply.extensions()
	return err
}

// startTLS goes under TLS. What the server said before it in the clear counts for nothing afterwards.
func (t *talk) startTLS(ctx context.Context) error {
	t.phase = "tls"
	if _, ok := t.has["STARTTLS"]; !ok {
		return &unfit{"tls", "the server does not have STARTTLS, and nothing is sent to it in the clear"}
	}
	if _, err := t.ask(2, "STARTTLS"); err != nil {
		return err
	}
	if t.in.Buffered() > 0 {
		return malformed("the server said something before TLS that would be taken for an answer under it")
	}
	return t.handshake(ctx)
}

// handshake goes under TLS at once.
func (t *talk) handshake(ctx context.Context) error {
	t.phase = "tls"
	conn := tls.Client(t.conn, &tls.Config{ServerName: t.letter.server.host, RootCAs: t.roots, MinVersion: tls.VersionTLS12})
	if err := conn.HandshakeContext(ctx); err != nil {
		return err
	}
	t.use(tlsConn{conn, t.conn})
	t.secure = true
	return nil
}

// local says whether the server is on this host, as the operator wrote it: no name leads there but localhost.
func (l *letter) local() bool { return l.server.host == "localhost" || l.server.addr.IsLoopback() }

// envelope tells the server from whom and to whom a message of size bytes is, and that it follows now. When one recipient is
// refused nothing is sent to the others.
func (t *talk) envelope(size int64) error {
	t.phase = "sender"
	params, err := t.parameters(size)
	if err != nil {
		return err
	}
	if _, err := t.ask(2, "MAIL FROM:<"+t.letter.from.String()+">"+params); err != nil {
		return err
	}
	for _, a := range t.letter.recipients() {
		t.phase = "recipient"
		if _, err := t.ask(2, "RCPT TO:<"+a.String()+">"); err != nil {
			var no *refusal
			if errors.As(err, &no) {
				t.leave()
				return &refusedRecipient{a, no}
			}
			return err
		}
	}
	t.phase = "data"
	_, err = t.ask(3, "DATA")
	return err
}

// parameters are those of MAIL.
func (t *talk) parameters(size int64) (string, error) {
	params := ""
	if limit, ok := t.has["SIZE"]; ok {
		if n, err := strconv.ParseInt(limit, 10, 64); err == nil && n > 0 && size > n {
			e := tooLargef("mail_send: a message of %d bytes, the server takes at most %d", size, n).(*toolabi.Error)
			e.Detail = "server_size"
			return "", e
		}
		params += " SIZE=" + strconv.FormatInt(size, 10)
	}
	all := append(t.letter.recipients(), t.letter.from)
	if t.letter.replyTo != nil {
		all = append(all, *t.letter.replyTo)
	}
	i := slices.IndexFunc(all, func(a address) bool { return !a.isASCII() })
	if i < 0 {
		return params, nil // and the message is ASCII throughout
	}
	for _, word := range []string{"SMTPUTF8", "8BITMIME"} {
		if _, ok := t.has[word]; !ok {
			return "", &unfit{"smtputf8", fmt.Sprintf("the server does not have %s, which %s needs", word, all[i])}
		}
	}
	return params + " BODY=8BITMIME SMTPUTF8", nil
}

// farewell is how long a server is heard out after it refused something.
const farewell = time.Second

// leave forgets what was said of a message, and ends the conversation. Nothing depends on it.
func (t *talk) leave() {
	t.conn.SetDeadline(time.Now().Add(farewell))
	if _, err := t.ask(2, "RSET"); err == nil {
		t.ask(2, "QUIT")
	}
}
