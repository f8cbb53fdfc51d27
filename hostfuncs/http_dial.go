package hostfuncs

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// maxAddresses is how many of a name's addresses are tried.
const maxAddresses = 8

// connect opens a fresh connection for r, up to and including the TLS handshake. Each part has its share of the time.
func (h *client) connect(ctx context.Context, c Call, r *request) (net.Conn, error) {
	addrs, err := h.addresses(ctx, c, r)
	if err != nil {
		return nil, err
	}
	part, cancel := within(ctx, toolabi.HTTPConnectMS)
	defer cancel()
	conn, err := h.dialFirst(part, addrs, r.origin.port)
	if err != nil {
		return nil, r.unsent(part, "connect", err)
	}
	if r.origin.scheme == "http" {
		return conn, nil
	}
	secure := tls.Client(conn, &tls.Config{
		ServerName: r.origin.host, RootCAs: h.roots, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	})
	shake, cancelShake := within(ctx, toolabi.HTTPHandshakeMS)
	defer cancelShake()
	if err := secure.HandshakeContext(shake); err != nil {
		conn.Close()
		return nil, r.unsent(shake, "tls", err)
	}
	return tlsConn{secure, conn}, nil
}

// within bounds a part of an exchange.
func within(ctx context.Context, ms int64) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
}

// tlsConn closes without the farewell of TLS, which can wait for a peer that does not read.
type tlsConn struct {
	*tls.Conn
	raw net.Conn
}

func (c tlsConn) Close() error { return c.raw.Close() }

// addresses finds where r goes. An operator who grants an address or localhost means that very address; a name must
// lead to addresses that are public or granted, whichever of them is used. It is resolved once, and what was judged is dialled.
func (h *client) addresses(ctx context.Context, c Call, r *request) ([]netip.Addr, error) {
	switch {
	case r.origin.addr.IsValid():
		return []netip.Addr{r.origin.addr}, nil
	case r.origin.host == "localhost":
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	ctx, cancel := within(ctx, toolabi.HTTPResolveMS)
	defer cancel()
	addrs, err := h.resolver.LookupNetIP(ctx, "ip", r.origin.host)
	if err == nil && len(addrs) == 0 {
		err = errors.New("the name has no address")
	}
	if err != nil {
		return nil, r.unsent(ctx, "dns", err)
	}
	for _, a := range addrs {
		if err := judgeAddress(c, r.function, r.origin, a); err != nil {
			return nil, err
		}
	}
	return addrs[:min(len(addrs), maxAddresses)], nil
}

// dialFirst returns the first connection that comes about. Each address gets its share of the time that is left.
func (h *client) dialFirst(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	var first error
	for i, a := range addrs {
		conn, err := h.dialOne(ctx, a, port, len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

func (h *client) dialOne(ctx context.Context, a netip.Addr, port uint16, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok {
		share := time.Until(deadline) / time.Duration(left)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	return h.dial(ctx, "tcp", net.JoinHostPort(a.Unmap().WithZone("").String(), strconv.Itoa(int(port))))
}
