package feedserver

import (
	"net/http"
	"strconv"
)

// hangs uses up one of a count, and says whether there was one.
func (s *Server) hangs(count func(*Behaviour) *int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := count(&s.behaviour)
	if *n <= 0 {
		return false
	}
	*n--
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
