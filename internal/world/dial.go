package world

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
)

// Remote is how another process of this machine reaches a Live.
type Remote struct {
	// Addr is where it listens.
	Addr string `json:"addr"`
	// CA is its authority, as PEM.
	CA string `json:"ca"`
	// Secrets are the values of its world, which are made up.
	Secrets map[string]string `json:"secrets,omitempty"`
}

// Dial returns what host functions need to reach a Live: Resolver, Dial, RootCAs and Secrets. Grants name the source of a secret by
// SecretSource.
func Dial(r Remote) (hostfuncs.Config, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(r.CA)) {
		return hostfuncs.Config{}, errors.New("the authority of a world is no certificate")
	}
	return hostfuncs.Config{
		Resolver: resolver{}, RootCAs: pool, Secrets: vault(r.Secrets),
		Dial: func(ctx context.Context, _, target string) (net.Conn, error) { return connect(ctx, r.Addr, target) },
	}, nil
}

// resolver answers every name with an address of its own, which nobody outside a world is asked at.
type resolver struct{}

func (resolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return []netip.Addr{addressOf(host)}, nil
}

// addressOf is the address of a name: a public one, as the judges of addresses see it, so that nothing has to be granted for it.
func addressOf(name string) netip.Addr {
	sum := sha256.Sum256([]byte(name))
	a := [16]byte{0x2a, 0x00}
	copy(a[4:], sum[:])
	a[8] |= 0x80 // what embeds an IPv4 address has no such bit
	return netip.AddrFrom16(a)
}

// A connection to a Live begins with a line that says where the client believes to go, and for which use. A byte answers it.
const (
	greeting = "wrun-world"
	admitted = '+'
	refused  = '-'
	noUse    = "-"
	// greetTime is how long either side waits for the other's part of that.
	greetTime = 30 * time.Second
)

var errRefused = errors.New("connect: connection refused")

// connect opens a connection to a Live.
func connect(ctx context.Context, addr, target string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	id, ok := ctx.Value(useKey{}).(string)
	if !ok {
		id = noUse
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	answer := []byte{0}
	if _, err = fmt.Fprintf(conn, "%s %s %s\n", greeting, target, id); err == nil {
		_, err = io.ReadFull(conn, answer)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil && answer[0] != admitted {
		err = errRefused
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}
