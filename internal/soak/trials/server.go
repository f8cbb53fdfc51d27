package trials

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server serves something on the loopback interface and knows when nothing is on its way to it any more.
type Server struct {
	// URL is its origin, without a slash at the end.
	URL string

	http *http.Server
	done chan error

	mu      sync.Mutex // guards what follows
	conns   int
	changed chan struct{} // closed and replaced when conns changes
}

// Serve begins to serve a handler, which has to answer GET /count. It returns once connections are accepted.
func Serve(h http.Handler) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	s := &Server{URL: "http://" + listener.Addr().String(), done: make(chan error, 1), changed: make(chan struct{})}
	s.http = &http.Server{
		Handler: h, ConnState: s.count, ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: log.New(io.Discard, "", 0), // it reports connections that were cut, which is what happens here all the time
	}
	go func() { s.done <- s.http.Serve(listener) }()
	return s, nil
}

// Close cuts every connection.
func (s *Server) Close() error {
	err := s.http.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (s *Server) count(_ net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.conns++
	case http.StateClosed, http.StateHijacked:
		s.conns--
	default:
		return
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// Settle returns when nothing that a dead process has sent is on its way any more, so that what is not there by then did not
// happen. A real provider offers no such thing; there a person waits.
func (s *Server) Settle(ctx context.Context) error {
	// Connections are accepted in the order in which they were made: once this one is answered, the older ones were.
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/count", nil)
	if err != nil {
		return err
	}
	probe := &http.Transport{DisableKeepAlives: true}
	res, err := probe.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("ask %s: %w", s.URL, err)
	}
	_, err = io.Copy(io.Discard, res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("ask %s: %w", s.URL, err)
	}
	return s.Idle(ctx, 0)
}

// Idle returns when at most so many connections are open.
func (s *Server) Idle(ctx context.Context, most int) error {
	for {
		s.mu.Lock()
		open, changed := s.conns, s.changed
		s.mu.Unlock()
		if open <= most {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %d connections of dead processes: %w", open, context.Cause(ctx))
		}
	}
}
