package mailserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func (s *session) sender(rest string) {
	cfg := &s.server.cfg
	address, params, ok := path(rest, "FROM:")
	switch {
	case !s.hello || s.begun:
		s.say("503 5.5.1 not now")
	case cfg.User != "" && s.user == "":
		s.say("530 5.7.0 log in first")
	case !ok || !plain(address) && !strings.Contains(params, "SMTPUTF8"):
		s.say("501 5.1.7 no sender")
	case strings.Contains(params, "SMTPUTF8") && slices.Contains(cfg.Without, "SMTPUTF8"):
		s.say("555 5.5.4 no such parameter")
	default:
		s.begun = true
		s.mail = Message{From: address, Params: params, User: s.user, TLS: s.secure}
		s.say("250 2.1.0 sender noted")
	}
}

func (s *session) recipient(rest string) {
	address, _, ok := path(rest, "TO:")
	switch {
	case !s.begun:
		s.say("503 5.5.1 from whom?")
	case !ok || !plain(address) && !strings.Contains(s.mail.Params, "SMTPUTF8"):
		s.say("501 5.1.3 no recipient")
	default:
		s.mail.To = append(s.mail.To, address)
		s.say("250 2.1.5 recipient noted")
	}
}

// path reads "FROM:<ann@example.com> SIZE=1".
func path(s, word string) (address, params string, ok bool) {
	if len(s) < len(word) || !strings.EqualFold(s[:len(word)], word) {
		return "", "", false
	}
	rest, ok := strings.CutPrefix(s[len(word):], "<")
	address, params, closed := strings.Cut(rest, ">")
	return address, strings.TrimSpace(params), ok && closed && strings.Contains(address, "@") && !strings.ContainsAny(address, " <")
}

func plain(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r > '~' }) }

// data reads a message and takes it over.
func (s *session) data() bool {
	if !s.begun || len(s.mail.To) == 0 {
		s.say("503 5.5.1 to whom?")
		return true
	}
	s.say("354 go on, end with a dot")
	if _, over := s.happen(Content); over {
		return false
	}
	data, err := readData(s.in, s.server.cfg.Size)
	s.begun = false
	switch {
	case errors.Is(err, errTooBig):
		s.say("552 5.3.4 too big")
		return true
	case errors.Is(err, errBareLine):
		s.say("550 5.6.0 a line ends with something else than CR LF")
		return true
	case err != nil: // its end never came
		return false
	}
	if handled, over := s.happen(End); handled {
		return !over
	}
	s.mail.Data = data
	fate := Take
	if judge := s.server.cfg.Judge; judge != nil {
		fate = judge(s.mail)
	}
	if fate == Refuse {
		s.say("550 5.7.1 not taken")
		return true
	}
	if err := s.server.take(s.mail); err != nil {
		s.say("451 4.3.0 cannot keep it")
		return true
	}
	if handled, over := s.happen(Taken); handled {
		return !over
	}
	if fate == Lose {
		return false
	}
	s.say("250 2.0.0 taken over")
	return true
}

var (
	errTooBig   = errors.New("too big")
	errBareLine = errors.New("bare line end")
)

// readData reads up to the line with a dot, and undoes doubled dots. It reads on to there when something is wrong.
func readData(r *bufio.Reader, most int64) ([]byte, error) {
	var data bytes.Buffer
	var wrong error
	for {
		line, err := readLine(r)
		if err != nil {
			return nil, err
		}
		body, whole := bytes.CutSuffix(line, []byte("\r\n"))
		switch {
		case string(line) == ".\r\n":
			return data.Bytes(), wrong
		case !whole || bytes.ContainsAny(body, "\r\x00") || len(line) > 1000:
			wrong = errBareLine
		case most > 0 && int64(data.Len()+len(line)) > most:
			wrong = errTooBig
		default:
			data.Write(bytes.TrimPrefix(line, []byte(".")))
		}
	}
}

// readLine reads a line of at most a megabyte with its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for len(line) < 1<<20 {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
	return nil, io.ErrShortBuffer
}

// take keeps a message.
func (s *Server) take(m Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cfg.Dir != "" {
		name := filepath.Join(s.cfg.Dir, fmt.Sprintf("%d.eml", len(s.messages)+1))
		if err := os.WriteFile(name, m.Data, 0o600); err != nil {
			return err
		}
	}
	s.messages = append(s.messages, m)
	return nil
}
