package feedserver

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

func (s *Server) getFeed(w http.ResponseWriter, r *http.Request) {
	if s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token {
		s.note(r, http.StatusUnauthorized)
		http.Error(w, "the feed is for readers with a token", http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	busy := s.behaviour.Busy
	s.behaviour.Busy = 0
	body, err := json.Marshal(map[string]any{"version": "https://jsonfeed.org/version/1.1", "title": "News of the day", "items": append([]Entry{}, s.entries...)})
	s.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if busy > 0 {
		s.note(r, http.StatusServiceUnavailable)
		w.Header().Set("Retry-After", strconv.Itoa(busy))
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	etag := fmt.Sprintf(`"%x"`, sha256.Sum256(body))
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		s.note(r, http.StatusNotModified)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	s.note(r, http.StatusOK)
	w.Header().Set("Content-Type", "application/feed+json")
	if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		_, _ = w.Write(body)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	_, _ = z.Write(body) // a client that is gone is no fault
	_ = z.Close()
}

func (s *Server) postEntry(w http.ResponseWriter, r *http.Request) {
	var e Entry
	if accept(w, r, &e) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.entries = append([]Entry{e}, s.entries...)
	}
}

func (s *Server) getFile(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Query().Get("bytes"))
	if err != nil || n < 0 || n > maxFile {
		http.Error(w, fmt.Sprintf("want bytes=N, at most %d", maxFile), http.StatusBadRequest)
		return
	}
	s.note(r, http.StatusOK)
	body := File(r.PathValue("name"), n)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(n))
	if !s.hangs(r.PathValue("name")) {
		_, _ = w.Write(body)
		return
	}
	_, _ = w.Write(body[:n/2])
	_ = http.NewResponseController(w).Flush()
	s.hang(r)
}

// File returns n bytes that are the same each time for the same name.
func File(name string, n int) []byte {
	b := make([]byte, 0, n+sha256.Size)
	for block := uint64(0); len(b) < n; block++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(name), block))
		b = append(b, sum[:]...)
	}
	return b[:n]
}

func (s *Server) putArchive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxFile))
	if err != nil {
		http.Error(w, "the file is too long, or did not come whole", http.StatusBadRequest)
		return
	}
	name, status := r.PathValue("name"), http.StatusCreated
	s.mu.Lock()
	if _, there := s.archive[name]; there {
		status = http.StatusNoContent
	}
	s.archive[name] = body
	s.mu.Unlock()
	s.note(r, status)
	if s.hangs(name) {
		s.hang(r)
		return
	}
	w.WriteHeader(status)
}

func (s *Server) getArchive(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	body, ok := s.archive[r.PathValue("name")]
	s.mu.Unlock()
	if !ok {
		s.note(r, http.StatusNotFound)
		http.NotFound(w, r)
		return
	}
	s.note(r, http.StatusOK)
	_, _ = w.Write(body)
}
