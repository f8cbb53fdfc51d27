package world

import (
	"crypto/sha256"
	"fmt"
	"net/http"
)

// routeState is what a route has done so far.
type routeState struct {
	answered int // fresh answers, refusals too
	acted    int
	firsts   map[string]first // by key
}

// first is what the first request of a key was, and was answered.
type first struct {
	digest [32]byte
	reply  Reply
}

// verdict is what becomes of a request.
type verdict struct {
	reply Reply
	event *Event
}

// answer decides about a request, and remembers it.
func (l *Live) answer(q *request) verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.actLate()
	e := q.event()
	l.events = append(l.events, e)
	if v, ok := l.known(q, e); ok {
		return v
	}
	if v, ok := l.again(q, e); ok {
		return v
	}
	r, why := l.find(q)
	if r == nil {
		e.Unexpected, e.Why, e.Status = true, why, http.StatusNotImplemented
		return verdict{Reply{Status: e.Status, Body: Text("the world of this case has no answer to that\n")}, e}
	}
	return l.fresh(q, e, r)
}

// fresh lets a route answer a request that it has not answered before. It wants mu held.
func (l *Live) fresh(q *request, e *Event, r *Route) verdict {
	s := l.routes[r]
	reply := l.next(r)
	s.answered++
	e.Route, e.Fault = r.Name, reply.Fault
	if reply.Fault == Refused {
		return verdict{reply, e}
	}
	l.act(r, e, reply.Status)
	if key := q.headers.Get("Idempotency-Key"); key != "" && r.Effect {
		l.keys[key] = keyed{r, first{q.digest(), reply}, reply.Fault == NoFault || reply.added}
	}
	if r.Dedupe != nil {
		if key := r.Dedupe.key(q); key != "" {
			e.Key = q.hide(key)
			s.firsts[key] = first{q.digest(), reply}
		}
	}
	if reply.Fault == NoFault {
		e.Status, e.Reply = reply.Status, l.hide(show(reply.Body.Raw()))
	}
	return verdict{reply, e}
}

// next is what a route answers to its next fresh request. It wants mu held.
func (l *Live) next(r *Route) Reply {
	reply, _ := Nth(r.Replies, l.routes[r].answered)
	return reply
}

// known answers a request whose key came before. A provider that knows a key loses no reply to it. It wants mu held.
func (l *Live) known(q *request, e *Event) (verdict, bool) {
	for _, r := range l.world.HTTP {
		if r.Dedupe == nil || !r.addressed(q) {
			continue
		}
		key := r.Dedupe.key(q)
		f, ok := l.routes[r].firsts[key]
		if !ok || key == "" {
			continue
		}
		e.Route, e.Key = r.Name, q.hide(key)
		reply := f.reply
		reply.Fault = NoFault
		if f.digest != q.digest() {
			e.Contradicted = true
			reply = Reply{Status: http.StatusUnprocessableEntity, Body: Text("the key was used for another request\n")}
		} else {
			e.Replayed = true
		}
		e.Status, e.Reply = reply.Status, l.hide(show(reply.Body.Raw()))
		return verdict{reply, e}, true
	}
	return verdict{}, false
}

// find returns the first route that answers a request now, or says why none does. It wants mu held.
func (l *Live) find(q *request) (*Route, string) {
	closest, why, most := (*Route)(nil), "", -1
	for _, r := range l.world.HTTP {
		differs, weight := r.differs(q)
		if differs == "" {
			if differs = l.notNow(r); differs == "" {
				return r, ""
			}
		}
		if weight > most {
			closest, why, most = r, differs, weight
		}
	}
	if closest == nil {
		return nil, "the world has no routes"
	}
	return nil, fmt.Sprintf("the closest route is %q: %s", closest.Name, why)
}

// notNow says why a route does not answer now, whatever is asked. It wants mu held.
func (l *Live) notNow(r *Route) string {
	s := l.routes[r]
	switch {
	case r.Times > 0 && s.answered >= r.Times:
		return fmt.Sprintf("it answers %d times, and has", r.Times)
	case r.If != "" && l.acted(r.If) == 0:
		return fmt.Sprintf("it answers only once %q has acted", r.If)
	case r.Unless != "" && l.acted(r.Unless) > 0:
		return fmt.Sprintf("it answers only before %q has acted", r.Unless)
	}
	return ""
}

// acted wants mu held.
func (l *Live) acted(name string) int {
	r, ok := l.world.Route(name)
	if !ok {
		return 0
	}
	return l.routes[r].acted
}

// digest is of what has to be the same in two requests with one key.
func (q *request) digest() [32]byte {
	return sha256.Sum256([]byte(q.method + " " + q.url + "\n" + string(q.body)))
}

// event is what is remembered of a request.
func (q *request) event() *Event {
	e := &Event{Kind: KindHTTP, Method: q.method, URL: q.hide(q.url), Body: q.hide(show(q.body)), Key: q.hide(q.headers.Get("Idempotency-Key"))}
	for name, values := range q.headers {
		switch name {
		case "Connection", "Content-Length", "Accept-Encoding":
			continue
		}
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		for i, v := range values {
			if i > 0 {
				e.Headers[name] += ", "
			}
			e.Headers[name] += q.hide(v)
		}
	}
	return e
}
