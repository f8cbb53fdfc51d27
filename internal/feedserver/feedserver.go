// Package feedserver is a small server of a JSON feed, of files to download, and of an archive that takes files. It writes down what it
// was asked, and can be told to hang in the middle, so that a client can be killed at a moment that is known. The examples use it as the
// world outside.
//
// It is not part of wrun's runtime, knows nothing of it, and is for the loopback interface.
//
//	GET  /feed           302 to /feed.json
//	GET  /feed.json      200 the feed, with gzip where that is accepted; 304; 401 without the token, where there is one; 503 once when busy
//	POST /entries        {"id","title","url","summary"}   204, the newest entry of the feed
//	GET  /files/NAME     ?bytes=N                         200 N bytes, the same each time for the same NAME
//	PUT  /archive/NAME                                    201, 204 where NAME was there; GET returns it
//	GET  /requests                                        200 [Request…], all that arrived at the feed, the files and the archive
//	POST /behaviour      fields of Behaviour to change    204
//	GET  /hanging        ?at_least=N waits for it         200 {"hanging"}
package feedserver

import (
	"encoding/json"
	"net/http"
	"sync"
)

// Config is how a server begins. The zero value has an empty feed that everybody may read.
type Config struct {
	// Addr is where Start listens; empty means 127.0.0.1:0.
	Addr string
	// Token is what readers of the feed have to send as a bearer token; empty lets everybody read.
	Token string
}

// Entry is an entry of the feed.
type Entry struct {
	ID      string `json:"id"`
	URL     string `json:"url,omitempty"`
	Title   string `json:"title,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// Request is a request that arrived.
type Request struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	Status int    `json:"status"`
	// Key is its Idempotency-Key.
	Key string `json:"idempotency_key,omitempty"`
}

// Behaviour is what the server does beside answering.
type Behaviour struct {
	// Hang is the NAME of a file or of something in the archive. The next download of it stops after half of the file, and the next one
	// that the archive takes gets no reply, until the client is gone.
	Hang string `json:"hang"`
	// Busy is what the next reader of the feed gets as Retry-After of a 503, in seconds; 0 for the feed.
	Busy int `json:"busy"`
}

// Server is the server as an http.Handler. Its methods may be called concurrently.
type Server struct {
	mux    *http.ServeMux
	token  string
	closed chan struct{} // is closed by Close, and ends what hangs

	mu        sync.Mutex // guards what follows
	entries   []Entry    // the newest first
	archive   map[string][]byte
	requests  []Request
	behaviour Behaviour
	hanging   int           // how many have hung so far
	changed   chan struct{} // closed and replaced whenever hanging changes
}

// New returns a server that does not listen.
func New(cfg Config) *Server {
	s := &Server{
		mux: http.NewServeMux(), token: cfg.Token, closed: make(chan struct{}), archive: map[string][]byte{}, changed: make(chan struct{}),
	}
	s.mux.HandleFunc("GET /feed", func(w http.ResponseWriter, r *http.Request) {
		s.note(r, http.StatusFound)
		http.Redirect(w, r, "/feed.json", http.StatusFound)
	})
	s.mux.HandleFunc("GET /feed.json", s.getFeed)
	s.mux.HandleFunc("POST /entries", s.postEntry)
	s.mux.HandleFunc("GET /files/{name}", s.getFile)
	s.mux.HandleFunc("PUT /archive/{name}", s.putArchive)
	s.mux.HandleFunc("GET /archive/{name}", s.getArchive)
	s.mux.HandleFunc("GET /requests", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.Requests()) })
	s.mux.HandleFunc("POST /behaviour", s.postBehaviour)
	s.mux.HandleFunc("GET /hanging", s.getHanging)
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Requests returns what arrived so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request{}, s.requests...)
}

// note writes a request down.
func (s *Server) note(r *http.Request, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, Request{Method: r.Method, Path: r.URL.Path, Status: status, Key: r.Header.Get("Idempotency-Key")})
}

func (s *Server) postBehaviour(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	accept(w, r, &s.behaviour) // fields that are not named keep their value
}

// accept reads a body, and answers.
func accept(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxJSON)).Decode(into); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	w.WriteHeader(http.StatusNoContent)
	return true
}

const (
	maxJSON = 64 << 10 // bytes of a body in JSON
	maxFile = 16 << 20 // bytes of a file, either way
)

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that is gone is no fault
}
