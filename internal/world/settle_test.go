package world_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
)

// What was sent by somebody who is gone has acted once the world is settled, and not before that.
func TestWhatADeadProcessHasSentActsBeforeTheWorldIsSettled(t *testing.T) {
	l := start(t, `http: [{name: pay, request: POST http://a.example/pay}]`)
	cfg, err := l.Config()
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 20; n++ {
		ips, err := cfg.Resolver.LookupNetIP(t.Context(), "ip", "a.example")
		if err != nil {
			t.Fatal(err)
		}
		conn, err := cfg.Dial(t.Context(), "tcp", net.JoinHostPort(ips[0].String(), "80"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /pay HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\n\r\n{}")
		conn.Close()
		if err := l.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := l.Acted("pay"); got != n {
			t.Fatalf("it has acted %d times, want %d", got, n)
		}
	}
	open, err := cfg.Dial(t.Context(), "tcp", "[2a00::1]:80")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	cancel(gone)
	if err := l.Settle(ctx); err == nil {
		t.Error("it is settled while somebody is there")
	}
}
