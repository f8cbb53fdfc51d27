package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/wrun-dev/wrun/internal/ledger"
)

// demoLedger is the ledger of the demo, which can be told to hold the next look-up.
type demoLedger struct {
	*ledger.Ledger
	url    string
	server *http.Server

	mu   sync.Mutex
	hold chan struct{} // guarded by mu: when not nil, look-ups say so here and wait until their client is gone
}

func openLedger(file string) (*demoLedger, error) {
	l, err := ledger.New(ledger.Config{File: file})
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the ledger: %w", err), l.Close())
	}
	d := &demoLedger{Ledger: l, url: "http://" + ln.Addr().String()}
	d.server = &http.Server{Handler: d}
	go d.server.Serve(ln) // ends with close
	return d, nil
}

func (d *demoLedger) close() error { return errors.Join(d.server.Close(), d.Ledger.Close()) }

// ServeHTTP holds look-ups while it was told to.
func (d *demoLedger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	hold := d.hold
	d.mu.Unlock()
	if r.Method == http.MethodGet && hold != nil {
		select {
		case hold <- struct{}{}:
		case <-r.Context().Done():
		}
		<-r.Context().Done()
		return
	}
	d.Ledger.ServeHTTP(w, r)
}

// holdLookups makes look-ups wait. The returned function waits for one to come, and then lets all later ones pass.
func (d *demoLedger) holdLookups() func(context.Context) error {
	hold := make(chan struct{})
	set := func(c chan struct{}) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.hold = c
	}
	set(hold)
	return func(ctx context.Context) error {
		defer set(nil)
		select {
		case <-hold:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
