package world

import (
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// accept takes connections until there is no listener any more.
func (l *Live) accept() {
	for {
		c, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.mu.Lock()
		if l.closed {
			c.Close()
		} else {
			l.conns[c] = struct{}{}
			l.serving.Go(func() { l.greet(c) })
		}
		l.mu.Unlock()
	}
}

// conn is a connection that was admitted, with what it was opened for.
type conn struct {
	net.Conn
	live   *Live
	raw    net.Conn // the TCP connection
	secure bool
	use    string
}

func (c *conn) Close() error {
	c.live.mu.Lock()
	delete(c.live.conns, c.raw)
	c.live.mu.Unlock()
	return c.raw.Close() // without the farewell of TLS
}

// reset lets the peer see that the connection broke.
func (c *conn) reset() {
	if tcp, ok := c.raw.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}

// greet reads where a connection was meant to go, and serves it as the server there.
func (l *Live) greet(raw net.Conn) {
	c := &conn{Conn: raw, live: l, raw: raw}
	raw.SetDeadline(time.Now().Add(greetTime))
	target, id, ok := readGreeting(raw)
	if !ok {
		c.Close()
		return
	}
	c.use = id
	if !l.admit(target, id) {
		raw.Write([]byte{refused})
		c.Close()
		return
	}
	if _, err := raw.Write([]byte{admitted}); err != nil {
		c.Close()
		return
	}
	raw.SetDeadline(time.Time{})
	if l.isMail(target) {
		defer c.Close()
		l.post.ServeConn(raw)
		return
	}
	l.sniff(c, target)
}

// readGreeting reads the line that a connection begins with, and no byte more.
func readGreeting(r io.Reader) (target, id string, ok bool) {
	var line []byte
	for b := []byte{0}; len(line) < 300; line = append(line, b[0]) {
		if _, err := io.ReadFull(r, b); err != nil {
			return "", "", false
		}
		if b[0] == '\n' {
			words := strings.Split(string(line), " ")
			if len(words) != 3 || words[0] != greeting {
				return "", "", false
			}
			return words[1], words[2], true
		}
	}
	return "", "", false
}

// sniff tells https from http by its first byte, since both may be spoken at a port.
func (l *Live) sniff(c *conn, target string) {
	first := []byte{0}
	if _, err := io.ReadFull(c.raw, first); err != nil {
		c.Close()
		return
	}
	whole := &begun{Conn: c.raw, first: first}
	c.Conn = whole
	if c.secure = first[0] == 0x16; c.secure { // a record of the handshake
		host, _, _ := net.SplitHostPort(target)
		c.Conn = tls.Server(whole, l.authority.config(host))
	}
	l.accepted.give(c)
}

// begun is a connection of which something was read.
type begun struct {
	net.Conn
	first []byte
}

func (b *begun) Read(p []byte) (int, error) {
	if len(b.first) > 0 {
		n := copy(p, b.first)
		b.first = b.first[n:]
		return n, nil
	}
	return b.Conn.Read(p)
}

// admit says whether a connection is accepted: one for a use whose request a route refuses is not. Who does not say what it is for is
// refused by the first route at that address that would refuse now.
func (l *Live) admit(target, id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.uses[id]
	for _, r := range l.world.HTTP {
		if !r.isAt(target) || l.next(r).Fault != Refused || l.notNow(r) != "" {
			continue
		}
		e := &Event{Kind: KindHTTP, URL: r.origin}
		if u != nil {
			q := u.request
			if origin, _ := q.parts(); origin == r.origin {
				if found, _ := l.find(q); found != r {
					continue
				}
				e = q.event()
			}
		}
		l.events = append(l.events, e)
		e.Route, e.Fault = r.Name, Refused
		l.routes[r].answered++
		return false
	}
	return true
}

// isAt says whether a route's origin is what is dialled at target, IP and port.
func (r *Route) isAt(target string) bool {
	ip, err := netip.ParseAddrPort(target)
	if err != nil {
		return false
	}
	scheme, host, _ := strings.Cut(r.origin, "://")
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return hostIs(name, ip.Addr()) && port == target[strings.LastIndexByte(target, ':')+1:]
}

// hostIs says whether a host, a name or an address, is what is found at ip.
func hostIs(host string, ip netip.Addr) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap() == ip.Unmap()
	}
	if host == "localhost" {
		return ip.IsLoopback()
	}
	return addressOf(host) == ip
}

type connKey struct{}

func connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// ServeHTTP answers one request of any origin.
func (l *Live) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		panic(http.ErrAbortHandler) // nobody but the queue hands connections over
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // a request that did not come as a whole is none
	}
	q := &request{method: r.Method, url: "http://" + r.Host + r.RequestURI, headers: r.Header, body: body, hide: l.hide}
	if c.secure {
		q.url = "https://" + r.Host + r.RequestURI
	}
	v := l.answer(q)
	switch v.reply.Fault {
	case LostReply, Refused:
		l.cut(w, c)
	case Hangs:
		l.hung(c.use)
		<-r.Context().Done()
	default:
		v.reply.write(w)
	}
}

// cut ends a connection without a reply.
func (l *Live) cut(w http.ResponseWriter, c *conn) {
	if _, _, err := http.NewResponseController(w).Hijack(); err != nil {
		panic(http.ErrAbortHandler)
	}
	c.reset()
}

// write sends a reply. It is the same at all times: without a date, and with a type that is said and not guessed.
func (a Reply) write(w http.ResponseWriter) {
	w.Header()["Date"] = nil
	a.head(w.Header())
	w.WriteHeader(a.Status)
	w.Write(a.Body.Raw()) // who is gone is no fault of the world
}

// head sets the headers of a reply.
func (a Reply) head(h http.Header) {
	switch {
	case a.Body == nil:
		h["Content-Type"] = nil
	case a.Body.IsJSON:
		h.Set("Content-Type", "application/json")
	case a.Body.Base64 || a.Body.File != "":
		h.Set("Content-Type", "application/octet-stream")
	default:
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	for name, value := range maps.All(a.Headers) {
		h.Set(name, value)
	}
}
