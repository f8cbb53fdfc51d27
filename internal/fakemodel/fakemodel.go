// Package fakemodel is a server that stands in for a provider of language models. It speaks two protocols, chat completions
// and messages, streamed and not; a script answers. It writes a bill for each request that it works on into a file before
// anything of the answer leaves, and can be told to fail in the ways that providers and networks do: so what was paid for,
// how often and under which key, can be counted whatever became of the answer.
//
// It knows nothing of wrun's runtime, and its tokens are no real ones. It is for the loopback interface.
//
//	POST /v1/chat/completions  as in the protocol            200; 400, 401, 413, 422 for a key used otherwise,
//	POST /chat/completions     the same                      429, 500, 503 by Behaviour
//	POST /v1/messages          as in the protocol            200; the same, 529 in the place of 503
//	GET  /bills                                              200 [Bill…]
//	GET  /count                                              200 Count
//	POST /behaviour            fields of Behaviour to change 200 Behaviour; GET returns it
//	GET  /hanging              ?at_least=N waits for it      200 {"hanging"}
//	POST /release                                            200 {"released"}
//
// Requests are read as strictly as the providers read them: a call without a result, a result without a call, a body that is not
// UTF-8, and in messages an empty text or an input that is no object are refused. The protocol
// of chat completions has no word for a result that failed, and none for tokens that are written to a cache: they count as input
// there. In messages that are not streamed, an input that is no JSON is a string with what the model wrote.
package fakemodel

import (
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/standin"
)

// Config is how a server begins. The zero value says hello to everything, keeps its bills in memory, and behaves well.
type Config struct {
	// Script answers; nil says hello.
	Script *script.Script
	// File is where bills are kept, created when it is missing; empty keeps them in memory only.
	File string
	// Addr is where Start listens; empty means 127.0.0.1:0. One that is not loopback is refused unless Anywhere is set.
	Addr     string
	Anywhere bool
	// Key is the API key that requests have to come with; empty lets every request in.
	Key string
	// Behaviour is the first behaviour.
	Behaviour Behaviour
	// Observe is told of every request to a model once it is over, by the goroutine that served it; nil for nobody.
	Observe func(Served)
}

// Bill is one request that was worked on.
type Bill struct {
	// N counts bills from 1.
	N int `json:"n"`
	// Key is the idempotency key that the request came with.
	Key string `json:"key,omitempty"`
	// Digest is the SHA-256 of the body, in hexadecimal.
	Digest string `json:"digest"`
	// Protocol is chat or messages.
	Protocol string `json:"protocol"`
	// Tokens are all tokens of the request and its answer.
	Tokens int64 `json:"tokens"`
	// Fault is what became of the answer, empty where it was sent whole.
	Fault Fault `json:"fault,omitempty"`
}

// Count says how many requests to a model arrived, how many of them were billed, and with how many tokens, how often a billed
// answer was sent again for a known key, and how many different keys were billed.
type Count struct {
	Requests int   `json:"requests"`
	Bills    int   `json:"bills"`
	Replayed int   `json:"replayed"`
	Keys     int   `json:"keys"`
	Tokens   int64 `json:"tokens"`
}

// Served says what became of one request to a model.
type Served struct {
	// N counts requests from 1.
	N int
	// Path is where it was sent.
	Path string
	// Status is what was replied; 0 where no byte was.
	Status int
	// Bill is the bill, nil where there is none or it was sent before. Replayed says that a billed answer was sent again.
	Bill     *Bill
	Replayed bool
	// Fault is what was done to it, and Problem why it was refused.
	Fault   Fault
	Problem string
}

// Fake is the server as an http.Handler. Its methods may be called concurrently.
type Fake struct {
	*standin.Holds
	mux     *http.ServeMux
	script  *script.Script
	key     string
	observe func(Served)

	mu        sync.Mutex     // guards what follows, and orders the file
	file      *standin.Lines // nil when in memory only
	bills     []Bill
	firsts    map[string]int // the first bill of each key, as its place in bills
	requests  int
	replayed  int
	behaviour Behaviour
}

// New makes a server, with what its file holds already. Close it when it has a file. Errors: ErrConfig, and those of the file.
func New(cfg Config) (*Fake, error) {
	if err := cfg.Behaviour.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	f := &Fake{
		Holds: standin.NewHolds(), script: cfg.Script, key: cfg.Key, observe: cfg.Observe, behaviour: cfg.Behaviour, firsts: map[string]int{},
	}
	if f.script == nil {
		f.script = hello()
	}
	if f.observe == nil {
		f.observe = func(Served) {}
	}
	if cfg.File != "" {
		file, bills, err := openFile(cfg.File)
		if err != nil {
			return nil, fmt.Errorf("open the bills of a fake model: %w", err)
		}
		f.file = file
		for _, b := range bills {
			f.add(b)
		}
	}
	f.mux = f.routes()
	return f, nil
}

// hello answers when there is no other script.
func hello() *script.Script {
	s, err := script.Parse([]byte("replies: [{say: hello}]"))
	if err != nil {
		panic(err)
	}
	return s
}

// add makes a bill one of those that count. It wants mu held, or the only reference.
func (f *Fake) add(b Bill) {
	if _, known := f.firsts[b.Key]; b.Key != "" && !known {
		f.firsts[b.Key] = len(f.bills)
	}
	f.bills = append(f.bills, b)
}

// Close closes the file. Requests after it fail.
func (f *Fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// Bills returns every bill in order.
func (f *Fake) Bills() []Bill {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.bills)
}

// Count counts requests since the server was made, and bills since its file was.
func (f *Fake) Count() Count {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := Count{Requests: f.requests, Bills: len(f.bills), Replayed: f.replayed, Keys: len(f.firsts)}
	for _, b := range f.bills {
		c.Tokens += b.Tokens
	}
	return c
}
