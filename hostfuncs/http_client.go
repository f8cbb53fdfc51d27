package hostfuncs

import (
	"context"
	"crypto/x509"
	"net"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// client exchanges one request for one reply, each on a connection of its own: HTTP/1.1, no keep-alive, no proxy, no
// redirect, no compression of its own, and nothing that is ever written twice. It is not http.Transport, because that
// one orders headers by its own mind, and because here a first write is something that somebody has to allow.
type client struct {
	resolver Resolver
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
	roots    *x509.CertPool
}

// do answers one use of http_fetch or http_send.
func (h *client) do(ctx context.Context, c Call, function string, req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
	r, err := prepare(c, function, req)
	if err != nil {
		return toolabi.HTTPReply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	conn, err := h.connect(ctx, c, r)
	if err != nil {
		return toolabi.HTTPReply{}, err
	}
	w := &wire{Conn: conn, before: c.BeforeSend}
	defer func() { // whatever becomes of the exchange
		if w.attempted && c.Sent != nil {
			c.Sent(w.sent.Load())
		}
	}()
	return exchange(ctx, w, r)
}

// exchange writes r and reads its reply. Afterwards the connection is closed and nothing touches it any more.
func exchange(ctx context.Context, w *wire, r *request) (toolabi.HTTPReply, error) {
	defer w.Close()
	stop := context.AfterFunc(ctx, func() { w.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := ctx.Err(); err != nil {
		return toolabi.HTTPReply{}, r.unsent(ctx, "connect", err)
	}

	first, rest := r.split()
	_, failed := w.Write(first)
	if w.refusal != nil {
		return toolabi.HTTPReply{}, w.refusal
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		if failed == nil && len(rest) > 0 {
			w.Write(rest) // what comes of it shows in the reply: a server may answer before it has read everything
		}
	}()
	reply, err := readReply(w, r.method)
	w.Close()
	<-written
	if err != nil {
		return toolabi.HTTPReply{}, r.unanswered(ctx, w.sent.Load(), err)
	}
	return reply, nil
}

// split cuts the request into what is written at once and what is written while the reply is awaited.
func (r *request) split() (first, rest []byte) {
	n := min(len(r.body), 32<<10)
	return append(r.head[:len(r.head):len(r.head)], r.body[:n]...), r.body[n:]
}
