package hostfuncs

import (
	"context"
	"crypto/x509"
	"errors"
	"net"

	"github.com/wrun-dev/wrun/internal/failpoint"
	"github.com/wrun-dev/wrun/toolabi"
)

// client exchanges one request for one reply, each on a connection of its own: HTTP/1.1, no keep-alive, no proxy, and nothing
// that is ever written twice. It is not http.Transport, because that one orders headers, follows and decodes by its own mind, and
// because here a first write is something that somebody has to allow.
type client struct {
	resolver Resolver
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	roots    *x509.CertPool
	secrets  *Vault
}

// do answers one use of http_fetch or http_send.
func (h *client) do(ctx context.Context, c Call, function string, req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
	r, err := prepare(c, function, req)
	if err != nil {
		return toolabi.HTTPReply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if err := r.room(ctx, c); err != nil {
		return toolabi.HTTPReply{}, err
	}
	var m meter
	defer func() { // whatever becomes of the exchange
		if m.attempted && c.Sent != nil {
			c.Sent(m.sent)
		}
	}()
	reply, err := h.follow(ctx, c, r, &m)
	var told *toolabi.Error
	if errors.As(err, &told) {
		if hidden := h.secrets.HideError(told); hidden != told { // whoever repeated a value there
			err = hidden
		}
	}
	return reply, err
}

// meter counts what was written in all exchanges of a use.
type meter struct {
	attempted bool
	sent      int64
}

func (m *meter) add(w *wire) {
	m.attempted = m.attempted || w.attempted
	m.sent += w.sent.Load()
}

// follow exchanges r, and what its replies lead to, until there is one that leads nowhere.
func (h *client) follow(ctx context.Context, c Call, r *request, m *meter) (toolabi.HTTPReply, error) {
	for {
		reply, next, err := h.hop(ctx, c, r, m)
		switch {
		case err != nil:
			return toolabi.HTTPReply{}, r.afterHops(err)
		case next == nil:
			return reply, nil
		}
		r = next
	}
}

// hop exchanges r on a connection of its own. There is either a reply, or the request that it leads to.
func (h *client) hop(ctx context.Context, c Call, r *request, m *meter) (toolabi.HTTPReply, *request, error) {
	out, err := h.fill(ctx, c, r)
	if err != nil {
		return toolabi.HTTPReply{}, nil, err
	}
	defer out.close()
	conn, err := h.connect(ctx, c, r)
	if err != nil {
		return toolabi.HTTPReply{}, nil, err
	}
	w := &wire{Conn: conn, before: c.BeforeSend}
	defer m.add(w)
	return h.exchange(ctx, c, w, r, out)
}

// exchange writes out and reads the reply to it. Afterwards the connection is closed and nothing touches it any more.
func (h *client) exchange(ctx context.Context, c Call, w *wire, r *request, out *outgoing) (toolabi.HTTPReply, *request, error) {
	defer w.Close()
	stop := context.AfterFunc(ctx, w.end)
	defer stop()
	if err := ctx.Err(); err != nil {
		return toolabi.HTTPReply{}, nil, r.unsent(ctx, "connect", err)
	}
	first, err := out.first()
	switch {
	case err != nil && ctx.Err() != nil:
		return toolabi.HTTPReply{}, nil, r.unsent(ctx, "connect", err)
	case err != nil:
		return toolabi.HTTPReply{}, nil, r.damaged(0, err)
	}
	_, failed := w.Write(first)
	if w.refusal != nil {
		return toolabi.HTTPReply{}, nil, w.refusal
	}
	damage := make(chan error, 1)
	go func() { // what comes of it shows in the reply: a server may answer before it has read everything
		var err error
		if failed == nil {
			err = out.rest(w)
		}
		if err != nil {
			w.Close()
		}
		w.written()
		damage <- err
	}()
	reply, next, err := h.receive(ctx, c, w, r)
	w.Close()
	broken := <-damage
	var said *toolabi.Error
	switch {
	case err == nil:
		return reply, next, nil
	case errors.As(err, &said):
		return toolabi.HTTPReply{}, nil, err
	case broken != nil && ctx.Err() == nil: // who is given up cannot read its artifact either
		return toolabi.HTTPReply{}, nil, r.damaged(w.sent.Load(), broken)
	}
	return toolabi.HTTPReply{}, nil, r.unanswered(ctx, w.sent.Load(), err)
}

// receive reads the reply to r, or finds where it leads.
func (h *client) receive(ctx context.Context, c Call, w *wire, r *request) (toolabi.HTTPReply, *request, error) {
	if err := failpoint.Hit(failpoint.MidHostCall); err != nil {
		return toolabi.HTTPReply{}, nil, err
	}
	res, err := readReply(w, r.method)
	if err != nil {
		return toolabi.HTTPReply{}, nil, err
	}
	w.headRead()
	if next, err := r.next(c, res); next != nil || err != nil {
		return toolabi.HTTPReply{}, next, err
	}
	reply, err := h.reply(ctx, c, r, res)
	return reply, nil, err
}
