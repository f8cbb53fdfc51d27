package fakemodel

import (
	"errors"
	"fmt"
	"net"

	"github.com/wrun-dev/wrun/internal/standin"
)

// Server is a fake that listens.
type Server struct {
	*Fake
	at *standin.Listening
}

// ErrConfig is a Config with a value that there is not, or an address that is not to be listened on.
var ErrConfig = errors.New("start a fake model")

// Start makes a server and serves it. It returns once connections are accepted. Errors: ErrConfig, those of the file, and
// a *net.OpError where it cannot listen.
func Start(cfg Config) (*Server, error) {
	if cfg.Addr == "" {
		cfg.Addr = standin.Loopback
	}
	if host, _, err := net.SplitHostPort(cfg.Addr); err == nil && !cfg.Anywhere && host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return nil, fmt.Errorf("%w: %s is not an address of the loopback interface", ErrConfig, cfg.Addr)
	}
	f, err := New(cfg)
	if err != nil {
		return nil, err
	}
	at, err := standin.Listen(cfg.Addr, f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a fake model: %w", err), f.Close())
	}
	return &Server{f, at}, nil
}

// URL returns the origin, such as http://127.0.0.1:40213, without a slash at the end.
func (s *Server) URL() string { return s.at.URL() }

// Close cuts every connection, held ones too, and closes the file.
func (s *Server) Close() error { return errors.Join(s.at.Close(), s.Fake.Close()) }
