package fakemodel

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// ServeHTTP answers one request.
func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.mux.ServeHTTP(w, r) }

func (f *Fake) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", f.model(chat{}))
	mux.HandleFunc("POST /chat/completions", f.model(chat{}))
	mux.HandleFunc("POST /v1/messages", f.model(messages{}))
	mux.HandleFunc("GET /bills", func(w http.ResponseWriter, _ *http.Request) {
		all := f.Bills()
		if all == nil {
			all = []Bill{} // never null
		}
		reply(w, http.StatusOK, all)
	})
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, f.Count()) })
	mux.HandleFunc("GET /behaviour", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, f.Behaviour()) })
	mux.HandleFunc("POST /behaviour", f.postBehaviour)
	mux.HandleFunc("GET /hanging", f.getHanging)
	mux.HandleFunc("POST /release", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]int{"released": f.Release()})
	})
	return mux
}

func (f *Fake) postBehaviour(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil {
		reply(w, http.StatusRequestEntityTooLarge, wrong("the body cannot be read, or is too large"))
		return
	}
	b, err := f.change(raw)
	if err != nil {
		reply(w, http.StatusBadRequest, wrong(err.Error()))
		return
	}
	reply(w, http.StatusOK, b)
}

// change sets the fields of the behaviour that are named; the others keep their value.
func (f *Fake) change(raw []byte) (Behaviour, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.behaviour
	b.RandomFaults = append([]Fault(nil), b.RandomFaults...) // not into the array of the present one
	if err := decodeExactly(raw, &b); err != nil {
		return b, err
	}
	if err := b.check(); err != nil {
		return b, err
	}
	f.behaviour = b
	return b, nil
}

func (f *Fake) getHanging(w http.ResponseWriter, r *http.Request) {
	if s := r.URL.Query().Get("at_least"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			reply(w, http.StatusBadRequest, wrong("want at_least to be a number"))
			return
		}
		if f.WaitHanging(r.Context(), n) != nil {
			return // the client is gone
		}
	}
	reply(w, http.StatusOK, map[string]int{"hanging": f.Hanging()})
}

func wrong(text string) map[string]string { return map[string]string{"error": text} }

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // a client that is gone is no fault
}

// decodeExactly reads one value without unknown fields.
func decodeExactly(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
}
