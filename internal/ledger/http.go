package ledger

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/wrun-dev/wrun/internal/standin"
)

// maxBody is the largest body of a request, in bytes.
const maxBody = 64 << 10

// ServeHTTP answers one request.
func (l *Ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.mux.ServeHTTP(w, r) }

func (l *Ledger) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charges", l.postCharge)
	mux.HandleFunc("POST /refunds", l.postRefund)
	mux.HandleFunc("GET /charges", l.getCharges)
	mux.HandleFunc("GET /refunds", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, list(l.Refunds())) })
	mux.HandleFunc("GET /requests", l.getRequests)
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, l.Count()) })
	mux.HandleFunc("GET /behaviour", func(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, l.Behaviour()) })
	mux.HandleFunc("POST /behaviour", l.postBehaviour)
	mux.HandleFunc("GET /hanging", l.getHanging)
	mux.HandleFunc("POST /release", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, map[string]int{"released": l.Release()})
	})
	return mux
}

func (l *Ledger) postCharge(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Account     string `json:"account"`
		AmountCents int64  `json:"amount_cents"`
		Reference   string `json:"reference"`
	}
	a, ok := l.arrive(w, r, chargeKind)
	if !ok {
		return
	}
	switch err := decodeStrict(a.raw, &in); {
	case err != nil:
		l.refuse(w, a, err.Error())
	case in.Account == "" || len(in.Account) > 256 || len(in.Reference) > 256:
		l.refuse(w, a, "want an account, and account and reference of at most 256 bytes")
	case in.AmountCents <= 0:
		l.refuse(w, a, "want amount_cents over 0")
	default:
		l.about(a, in.Reference)
		c := Charge{Account: in.Account, AmountCents: in.AmountCents, Reference: in.Reference}
		l.finish(w, r, l.take(a, func(a asked) outcome { return l.charge(c, a) }))
	}
}

func (l *Ledger) postRefund(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Charge string `json:"charge"`
	}
	a, ok := l.arrive(w, r, refundKind)
	if !ok {
		return
	}
	if err := decodeStrict(a.raw, &in); err != nil {
		l.refuse(w, a, err.Error())
		return
	}
	l.about(a, in.Charge)
	l.finish(w, r, l.take(a, func(a asked) outcome { return l.refund(Refund{Charge: in.Charge}, a) }))
}

// refuse answers a request that makes no sense.
func (l *Ledger) refuse(w http.ResponseWriter, a asked, why string) {
	out := outcome{status: http.StatusBadRequest, body: problem{why}}
	l.mu.Lock()
	l.told(a, out)
	l.mu.Unlock()
	reply(w, out.status, out.body)
}

// finish lets an outcome become a reply, or not, as the behaviour has it.
func (l *Ledger) finish(w http.ResponseWriter, r *http.Request, out outcome) {
	switch out.fate {
	case drop:
		cut(w)
		return
	case hang:
		out.held.Wait(r.Context())
	}
	if !standin.Pause(r.Context(), l.Behaviour().delay()) {
		return
	}
	if out.fate == twice {
		replyTwice(w, out)
		return
	}
	if out.replayed {
		w.Header().Set("Idempotent-Replayed", "true")
	}
	reply(w, out.status, out.body)
}

// cut ends the connection without a reply.
func cut(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http's own way, where a connection cannot be taken over
	}
	conn.Close()
}

// replyTwice sends one reply two times, of which nobody has asked for the second.
func replyTwice(w http.ResponseWriter, out outcome) {
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		reply(w, out.status, out.body)
		return
	}
	defer conn.Close()
	body, err := json.Marshal(out.body)
	if err != nil {
		return // the client finds the connection closed
	}
	one := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", out.status, http.StatusText(out.status), len(body), body)
	_, _ = buf.WriteString(one + one) // a client that is gone is no fault
	_ = buf.Flush()
}

func (l *Ledger) getCharges(w http.ResponseWriter, r *http.Request) {
	l.holdList(r.Context())
	all := l.Charges()
	if !r.URL.Query().Has("reference") {
		reply(w, http.StatusOK, list(all))
		return
	}
	var found []Charge
	for _, c := range all {
		if c.Reference == r.URL.Query().Get("reference") {
			found = append(found, c)
		}
	}
	reply(w, http.StatusOK, list(found))
}

func (l *Ledger) getRequests(w http.ResponseWriter, r *http.Request) {
	about, found := r.URL.Query().Get("about"), []Request{}
	for _, q := range l.Requests() {
		if strings.HasPrefix(q.Reference, about) {
			found = append(found, q)
		}
	}
	reply(w, http.StatusOK, found)
}

func (l *Ledger) postBehaviour(w http.ResponseWriter, r *http.Request) {
	raw, ok := readBody(w, r)
	if !ok {
		return
	}
	l.mu.Lock()
	b := l.behaviour // fields that are not named keep their value
	err := decodeStrict(raw, &b)
	if err == nil {
		l.behaviour = b
	}
	l.mu.Unlock()
	if err != nil {
		reply(w, http.StatusBadRequest, problem{err.Error()})
		return
	}
	reply(w, http.StatusOK, b)
}

func (l *Ledger) getHanging(w http.ResponseWriter, r *http.Request) {
	if s := r.URL.Query().Get("at_least"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			reply(w, http.StatusBadRequest, problem{"want at_least to be a number"})
			return
		}
		if l.WaitHanging(r.Context(), n) != nil {
			return // the client is gone
		}
	}
	reply(w, http.StatusOK, map[string]int{"hanging": l.Hanging()})
}

// readKeyed takes the idempotency key and the body, or answers the request itself.
func readKeyed(w http.ResponseWriter, r *http.Request) (key string, raw []byte, ok bool) {
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) > 1 || len(keys) == 1 && (keys[0] == "" || len(keys[0]) > 255) {
		reply(w, http.StatusBadRequest, problem{"want one Idempotency-Key of 1 to 255 bytes, or none"})
		return "", nil, false
	}
	if len(keys) == 1 {
		key = keys[0]
	}
	raw, ok = readBody(w, r)
	return key, raw, ok
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		reply(w, http.StatusRequestEntityTooLarge, problem{"the body cannot be read, or is too large"})
		return nil, false
	}
	return raw, true
}

// list is never null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // a client that is gone is no fault
}
