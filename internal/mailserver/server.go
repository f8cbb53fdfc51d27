package mailserver

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
)

// Config is what a server is like. The zero value takes every message over, without TLS and without logins.
type Config struct {
	// Addr is where it listens; "" means a free port of 127.0.0.1.
	Addr string
	// TLS has the certificate; nil means that there is no TLS.
	TLS *tls.Config
	// Implicit puts every connection under TLS from its first byte; otherwise STARTTLS does.
	Implicit bool
	// User and Password are for logging in, without which no message is taken; "" means that nobody has to.
	User, Password string
	// Ways are the mechanisms of AUTH; none means PLAIN and LOGIN.
	Ways []string
	// Size is the longest message, in bytes; 0 means that there is no limit.
	Size int64
	// Without are extensions that it does not have: SIZE, 8BITMIME or SMTPUTF8.
	Without []string
	// Dir is a directory that each message is kept in as well, as N.eml; "" keeps them in memory only.
	Dir string
	// Faults are what goes wrong.
	Faults []Fault
	// Judge decides what becomes of each message once it was read; nil takes them all over. It is called concurrently.
	Judge func(Message) Fate
}

// Fate is what becomes of a message.
type Fate int

// The fates.
const (
	// Take takes it over and says so.
	Take Fate = iota
	// Refuse says that it is not taken.
	Refuse
	// Lose takes it over, and breaks the connection off without a word.
	Lose
)

// Message is one message that the server took over.
type Message struct {
	// From and To are the envelope's.
	From string
	To   []string
	// Data is the message, its doubled dots undone.
	Data []byte
	// User is who was logged in, TLS says that it came under TLS.
	User string
	TLS  bool
	// Params are what was behind the sender in MAIL.
	Params string
}

// Server is a server that listens. Its methods may be used concurrently.
type Server struct {
	cfg      Config
	listener net.Listener
	serving  sync.WaitGroup

	mu       sync.Mutex // guards the rest
	faults   []Fault
	messages []Message
	commands []string
	conns    map[net.Conn]bool
	closed   bool

	stalled chan struct{} // holds a token for each stall
}

// Start makes a server and serves it. It returns once connections are accepted.
func Start(cfg Config) (*Server, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if len(cfg.Ways) == 0 {
		cfg.Ways = []string{"PLAIN", "LOGIN"}
	}
	l, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("start mail server: %w", err)
	}
	s := &Server{cfg: cfg, listener: l, faults: slices.Clone(cfg.Faults), conns: map[net.Conn]bool{}, stalled: make(chan struct{}, 100)}
	s.serving.Go(s.accept)
	return s, nil
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.closed {
			c.Close()
		} else {
			s.conns[c] = true
			s.serving.Go(func() { s.serve(c) })
		}
		s.mu.Unlock()
	}
}

// ServeConn serves a connection that came about in another way, until it ends.
func (s *Server) ServeConn(c net.Conn) {
	defer c.Close()
	(&session{server: s}).run(c)
}

// serve is one connection from its begin to its end.
func (s *Server) serve(c net.Conn) {
	defer func() {
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	s.ServeConn(c)
}

// Addr is host and port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// URL is the server as grants name it, such as smtp://127.0.0.1:40213.
func (s *Server) URL() string {
	if s.cfg.Implicit {
		return "smtps://" + s.Addr()
	}
	return "smtp://" + s.Addr()
}

// Messages are those that were taken over, in order.
func (s *Server) Messages() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Commands are those that were read, in order, those of a login cut down to their first word.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

// Stalled yields once for each fault that makes the server say nothing more, up to a hundred that nobody waits for.
func (s *Server) Stalled() <-chan struct{} { return s.stalled }

// SetFaults makes faults what goes wrong from now on.
func (s *Server) SetFaults(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = slices.Clone(faults)
}

// Drain accepts no connection any more, and waits until those that there are have been ended by their clients.
func (s *Server) Drain() {
	s.listener.Close()
	s.serving.Wait()
}

// Close cuts every connection and waits until nothing is served any more.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	err := s.listener.Close()
	s.serving.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
