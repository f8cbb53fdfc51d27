package feedserver

import (
	"fmt"

	"github.com/wrun-dev/wrun/internal/standin"
)

// Listening is a server that listens.
type Listening struct {
	*Server
	at *standin.Listening
}

// Start makes a server and serves it. It returns once connections are accepted.
func Start(cfg Config) (*Listening, error) {
	s := New(cfg)
	at, err := standin.Listen(cfg.Addr, s)
	if err != nil {
		return nil, fmt.Errorf("start feed server: %w", err)
	}
	return &Listening{s, at}, nil
}

// URL returns the origin, such as http://127.0.0.1:40213, without a slash at the end.
func (l *Listening) URL() string { return l.at.URL() }

// Close cuts every connection. It is called once.
func (l *Listening) Close() error {
	close(l.closed)
	return l.at.Close()
}
