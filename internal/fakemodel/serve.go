package fakemodel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/standin"
)

// maxBody is the largest body of a request, in bytes.
const maxBody = model.MaxRequest

// model answers requests to a model in a protocol.
func (f *Fake) model(p protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests++
		x := &exchange{fake: f, protocol: p, w: w, r: r, out: Served{N: f.requests, Path: r.URL.Path}, retryAfter: f.behaviour.RetryAfter}
		x.random = f.behaviour.random(x.out.N)
		f.mu.Unlock()
		defer func() { f.observe(x.out) }() // also when the connection is broken off by a panic
		x.serve()
	}
}

// exchange is one request and what becomes of it.
type exchange struct {
	fake     *Fake
	protocol protocol
	w        http.ResponseWriter
	r        *http.Request
	out      Served

	random     Fault
	retryAfter int // seconds
	key        string
	digest     string
	delay      time.Duration
	cutAfter   int
}

func (x *exchange) serve() {
	body, ok := x.body() // before anything is refused: a reply that meets a client who still writes can be lost with the connection
	if !ok {
		return
	}
	if !x.allowed() {
		x.refuse(http.StatusUnauthorized, "the API key is not the right one")
		return
	}
	if !x.before() {
		return
	}
	if !utf8.Valid(body) {
		x.refuse(http.StatusBadRequest, "the body is not UTF-8")
		return
	}
	in, err := x.protocol.read(x.r.Header, body)
	if err == nil {
		err = checkTools(in.Tools)
	}
	if err != nil {
		x.refuse(http.StatusBadRequest, err.Error())
		return
	}
	said, err := x.fake.script.Reply(in.Request)
	if err != nil {
		x.refuse(http.StatusBadRequest, err.Error())
		return
	}
	bill, held, err := x.bill(said)
	switch {
	case errors.Is(err, errKeyUsed):
		x.refuse(http.StatusUnprocessableEntity, err.Error())
	case err != nil:
		x.refuse(http.StatusInternalServerError, err.Error())
	default:
		x.after(answered{asked: in, Reply: said, bill: bill}, held)
	}
}

var errKeyUsed = errors.New("the idempotency key was used for another request")

// allowed says whether the request has the API key, in the header of either protocol.
func (x *exchange) allowed() bool {
	want, h := x.fake.key, x.r.Header
	return want == "" || h.Get("Authorization") == "Bearer "+want || h.Get("X-Api-Key") == want
}

// body reads the key and the body, or refuses the request.
func (x *exchange) body() ([]byte, bool) {
	keys := x.r.Header.Values(model.KeyHeader)
	if len(keys) > 1 || len(keys) == 1 && (keys[0] == "" || len(keys[0]) > 255) {
		x.refuse(http.StatusBadRequest, "want one "+model.KeyHeader+" of 1 to 255 bytes, or none")
		return nil, false
	}
	if len(keys) == 1 {
		x.key = keys[0]
	}
	raw, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, maxBody))
	if err != nil {
		x.refuse(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body cannot be read, or has more than %d bytes", maxBody))
		return nil, false
	}
	digest := sha256.Sum256(raw)
	x.digest = hex.EncodeToString(digest[:])
	return raw, true
}

// before does what comes before the bill, and says whether the request is worked on.
func (x *exchange) before() bool {
	f := x.fake
	f.mu.Lock()
	x.out.Fault = f.behaviour.take(true, x.random)
	var held *standin.Held
	if x.out.Fault == HangBefore {
		held = f.Hold()
	}
	f.mu.Unlock()
	switch x.out.Fault {
	case DropBefore:
		x.drop()
	case HangBefore:
		return held.Wait(x.r.Context())
	case RateLimit:
		x.w.Header().Set("Retry-After", strconv.Itoa(max(1, x.retryAfter)))
		x.refuse(http.StatusTooManyRequests, "too many requests")
	case ServerError:
		x.refuse(http.StatusInternalServerError, "the server had an error")
	case Overloaded:
		x.refuse(x.protocol.overloaded(), "overloaded")
	default:
		return true
	}
	return false
}

// bill writes the bill, or finds the one that was written for the key, and returns its number.
func (x *exchange) bill(said script.Reply) (n int, held *standin.Held, err error) {
	f := x.fake
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &f.behaviour
	x.delay, x.cutAfter = time.Duration(b.DelayMS)*time.Millisecond, b.CutAfter
	if first, known := f.firsts[x.key]; known && b.HonourKeys {
		if b := f.bills[first]; b.Digest != x.digest || b.Protocol != x.protocol.name() {
			return 0, nil, errKeyUsed
		}
		f.replayed++
		x.out.Replayed = true
		return f.bills[first].N, nil, nil
	}
	fault := b.take(false, x.random)
	bill := Bill{N: len(f.bills) + 1, Key: x.key, Digest: x.digest, Protocol: x.protocol.name(), Tokens: said.Usage.Total(), Fault: fault}
	if f.file != nil {
		if err := f.file.Append(bill); err != nil {
			return 0, nil, fmt.Errorf("write a bill: %w", err)
		}
	}
	f.add(bill)
	x.out.Bill = &bill
	if fault != "" {
		x.out.Fault = fault
	}
	if fault == HangAfter {
		held = f.Hold()
	}
	return bill.N, held, nil
}

// refuse replies with an error of the protocol.
func (x *exchange) refuse(status int, message string) {
	x.out.Status, x.out.Problem = status, message
	reply(x.w, status, x.protocol.problem(status, message))
}
