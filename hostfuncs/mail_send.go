package hostfuncs

import (
	"bufio"
	"context"
	"io"
	"net"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// post hands messages to mail servers, each over a connection of its own.
type post struct {
	web   *client // for its connections
	vault *Vault
	now   func() time.Time
}

// mailFunc makes mail_send.
func mailFunc(p *post) Func {
	f := Handle(toolabi.FuncMailSend, toolabi.Once, p.send)
	f.Check = judged(toolabi.FuncMailSend, func(c Call, req toolabi.MailSendRequest) error {
		_, err := checkMail(c, req)
		return err
	})
	f.MaxReply = func([]byte) int64 { return 2 << 10 } // the id of the message
	f.Timeout, f.Describe = mailTimeout, described(mailWords)
	f.ShowRequest, f.ParseReply, f.ShowReply = shown(askedForm), parseSaidMail, shown(saidForm)
	return f
}

// send answers one use of mail_send.
func (p *post) send(ctx context.Context, c Call, req toolabi.MailSendRequest) (toolabi.MailSendReply, error) {
	began := time.Now()
	l, err := checkMail(c, req)
	if err != nil {
		return toolabi.MailSendReply{}, err
	}
	now := p.now
	if c.Now != nil {
		now = c.Now
	}
	if err := l.sign(c, now()); err != nil {
		return toolabi.MailSendReply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	m, err := l.layOut(ctx, c)
	if err != nil {
		return toolabi.MailSendReply{}, err
	}
	defer m.Close() // what could not be read was found by then
	t := &talk{letter: l, vault: p.vault, roots: p.web.roots, began: began}
	if err := p.deliver(ctx, c, t, m); err != nil {
		return toolabi.MailSendReply{}, err
	}
	return toolabi.MailSendReply{MessageID: l.id}, nil
}

// deliver hands a message over. The server is told of nothing that it could act on before everything else was said and agreed to.
func (p *post) deliver(ctx context.Context, c Call, t *talk, m *message) error {
	early, cancel := context.WithDeadline(ctx, t.until(2))
	defer cancel()
	password, err := p.password(early, c, t.letter)
	if err != nil {
		return err
	}
	conn, err := p.connect(early, c, t.letter)
	if err != nil {
		return err
	}
	t.use(conn)
	defer func() { t.conn.Close() }()
	if err := t.prepare(early, password, m.size); err != nil {
		return t.failed(early, err, false)
	}

	w := &wire{Conn: t.conn, before: c.BeforeSend}
	defer func() { // whatever becomes of the message
		if w.attempted && c.Sent != nil {
			c.Sent(w.sent.Load())
		}
	}()
	middle, cancel := context.WithDeadline(ctx, t.until(3))
	defer cancel()
	if err := t.write(middle, w, m); err != nil {
		if w.refusal != nil {
			return w.refusal
		}
		return t.failed(middle, err, false)
	}
	return t.finish(ctx, w)
}

// password is the one for logging in.
func (p *post) password(ctx context.Context, c Call, l *letter) (string, error) {
	if l.secret == "" {
		return "", nil
	}
	value, err := p.vault.Value(ctx, c, toolabi.FuncMailSend, l.secret, mailServer(l.server))
	return string(value), err
}

// connect opens a connection to the server of a letter, which is found and judged as one of http is.
func (p *post) connect(ctx context.Context, c Call, l *letter) (net.Conn, error) {
	r := &request{function: toolabi.FuncMailSend, origin: l.server}
	addrs, err := p.web.addresses(ctx, c, r)
	if err != nil {
		return nil, err
	}
	conn, err := p.web.dialFirst(ctx, addrs, l.server.port)
	if err != nil {
		return nil, r.unsent(ctx, "connect", err)
	}
	return conn, nil
}

// prepare says everything that comes before a message.
func (t *talk) prepare(ctx context.Context, password string, size int64) error {
	end := t.bound(ctx)
	err := t.begin(ctx, password, size)
	if late := end(); err == nil {
		err = late
	}
	return err
}

func (t *talk) begin(ctx context.Context, password string, size int64) error {
	if t.letter.server.scheme == "smtps" {
		if err := t.handshake(ctx); err != nil {
			return err
		}
	}
	if err := t.open(ctx); err != nil {
		return err
	}
	if err := t.login(password); err != nil {
		return err
	}
	return t.envelope(size)
}

// write writes a message but its end. A server that has only that has no message.
func (t *talk) write(ctx context.Context, w *wire, m *message) error {
	t.phase = "message"
	end := t.bound(ctx)
	buffer := bufio.NewWriterSize(w, 32<<10)
	err := m.writeTo(&dotWriter{w: buffer})
	if err == nil {
		err = buffer.Flush()
	}
	if late := end(); err == nil {
		err = late
	}
	return err
}

// finish writes the end of a message, which is what a server acts on, and reads what it says to that.
func (t *talk) finish(ctx context.Context, w *wire) error {
	t.phase = "end"
	if !time.Now().Before(t.until(4)) { // the process may have been held up
		return t.failed(ctx, context.DeadlineExceeded, false)
	}
	end := t.bound(ctx)
	defer end()
	if _, err := io.WriteString(w, ".\r\n"); err != nil {
		return t.failed(ctx, err, true)
	}
	if _, err := t.expect(2); err != nil {
		return t.failed(ctx, err, true)
	}
	io.WriteString(t.conn, "QUIT\r\n") // without waiting for an answer: what came of the message is to be recorded at once
	return nil
}
