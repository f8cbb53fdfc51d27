package mailserver

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
)

// session is one connection.
type session struct {
	server *Server
	conn   net.Conn
	in     *bufio.Reader
	secure bool
	hello  bool
	user   string
	mail   Message // what was said of the message that comes
	begun  bool    // MAIL was accepted
}

// maxLine is the longest command, in bytes.
const maxLine = 8 << 10

func (s *session) run(c net.Conn) {
	s.use(c)
	if s.server.cfg.Implicit {
		s.use(tls.Server(c, s.server.cfg.TLS))
		s.secure = true
	}
	handled, over := s.happen(Greeting)
	if over {
		return
	}
	if !handled {
		s.say("220 mail.test ESMTP")
	}
	for s.step() {
	}
}

func (s *session) use(c net.Conn) { s.conn, s.in = c, bufio.NewReaderSize(c, maxLine) }

func (s *session) say(lines ...string) { io.WriteString(s.conn, strings.Join(lines, "\r\n")+"\r\n") }

// line reads a line without its end.
func (s *session) line() (string, bool) {
	b, err := s.in.ReadSlice('\n')
	line, ok := strings.CutSuffix(string(b), "\r\n")
	return line, ok && err == nil
}

// step answers one command, and says whether another one may come.
func (s *session) step() bool {
	line, ok := s.line()
	if !ok {
		return false
	}
	verb, rest, _ := strings.Cut(line, " ")
	verb = strings.ToUpper(verb)
	s.server.note(verb, line)
	if handled, over := s.happen(Moment(verb)); handled {
		return !over
	}
	switch verb {
	case "EHLO":
		s.hello, s.begun = true, false
		s.say(s.extensions()...)
	case "STARTTLS":
		return s.startTLS()
	case "AUTH":
		s.login(rest)
	case "MAIL":
		s.sender(rest)
	case "RCPT":
		s.recipient(rest)
	case "DATA":
		return s.data()
	case "RSET":
		s.begun = false
		s.say("250 2.0.0 forgotten")
	case "NOOP":
		s.say("250 2.0.0 nothing done")
	case "QUIT":
		s.say("221 2.0.0 bye")
		return false
	default:
		s.say("502 5.5.2 no such command")
	}
	return true
}

// note keeps a command for Commands.
func (s *Server) note(verb, line string) {
	if verb == "AUTH" {
		line = verb
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands = append(s.commands, line)
}

// extensions is the reply to EHLO.
func (s *session) extensions() []string {
	cfg := &s.server.cfg
	words := []string{"mail.test", "8BITMIME", "SMTPUTF8", fmt.Sprintf("SIZE %d", cfg.Size)}
	words = slices.DeleteFunc(words, func(w string) bool {
		word, _, _ := strings.Cut(w, " ")
		return slices.Contains(cfg.Without, word)
	})
	if cfg.TLS != nil && !s.secure {
		words = append(words, "STARTTLS")
	}
	if cfg.User != "" && (s.secure || cfg.TLS == nil) {
		words = append(words, "AUTH "+strings.Join(cfg.Ways, " "))
	}
	for i := range words {
		mark := "-"
		if i == len(words)-1 {
			mark = " "
		}
		words[i] = "250" + mark + words[i]
	}
	return words
}

func (s *session) startTLS() bool {
	if s.server.cfg.TLS == nil || s.secure {
		s.say("502 5.5.1 no TLS")
		return true
	}
	s.say("220 2.0.0 go on")
	c := tls.Server(s.conn, s.server.cfg.TLS)
	if c.Handshake() != nil {
		return false
	}
	s.use(c)
	s.secure, s.hello, s.begun = true, false, false
	return true
}
