package ledger

import (
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/internal/standin"
)

// Server is a ledger that listens.
type Server struct {
	*Ledger
	at *standin.Listening
}

// Start makes a ledger and serves it, on a free port of 127.0.0.1 unless cfg says otherwise. It returns once
// connections are accepted.
func Start(cfg Config) (*Server, error) {
	l, err := New(cfg)
	if err != nil {
		return nil, err
	}
	at, err := standin.Listen(cfg.Addr, l)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start ledger: %w", err), l.Close())
	}
	return &Server{l, at}, nil
}

// URL returns the origin, such as http://127.0.0.1:40213, without a slash at the end.
func (s *Server) URL() string { return s.at.URL() }

// Close cuts every connection, held replies too, and closes the file.
func (s *Server) Close() error { return errors.Join(s.at.Close(), s.Ledger.Close()) }
