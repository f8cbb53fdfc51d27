package feedserver

import (
	"net/http"
	"strconv"
)

// hangs says whether this is the request that hangs. It does so once.
func (s *Server) hangs(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.behaviour.Hang != name {
		return false
	}
	s.behaviour.Hang = ""
	return true
}

// hang says so, and returns when the client is gone, or the server.
func (s *Server) hang(r *http.Request) {
	s.mu.Lock()
	s.hanging++
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
}

func (s *Server) getHanging(w http.ResponseWriter, r *http.Request) {
	least := 0
	if text := r.URL.Query().Get("at_least"); text != "" {
		var err error
		if least, err = strconv.Atoi(text); err != nil {
			http.Error(w, "want at_least to be a number", http.StatusBadRequest)
			return
		}
	}
	for {
		s.mu.Lock()
		n, changed := s.hanging, s.changed
		s.mu.Unlock()
		if n >= least {
			reply(w, map[string]int{"hanging": n})
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		case <-s.closed:
			return
		}
	}
}
