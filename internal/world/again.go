package world

import (
	"encoding/json"
	"net/http"
)

// keyed is the first request that came under a key of wrun's, and what it was answered.
type keyed struct {
	route *Route
	first
	answered bool // or its reply was lost for the trial's sake only
}

// again answers a request that came before, under the same key, and was answered: only who was cut off before it wrote the answer
// down sends it once more. It is the same request to the route that answered it, however often that answers, and has the same reply;
// and where the route knows no keys, it acts once more. It wants mu held.
func (l *Live) again(q *request, e *Event) (verdict, bool) {
	k, ok := l.keys[q.headers.Get("Idempotency-Key")]
	if !ok || !k.answered || k.digest != q.digest() {
		return verdict{}, false
	}
	reply := k.reply
	reply.Fault = NoFault
	e.Route, e.Status, e.Reply = k.route.Name, reply.Status, l.hide(show(reply.Body.Raw()))
	l.act(k.route, e, reply.Status)
	return verdict{reply, e}, true
}

// Mark is a place in what the world has seen.
func (l *Live) Mark() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events)
}

// Unread gives back the answers that were read between two marks and did nothing: who read them was cut off before it wrote them
// down, and reads them again.
func (l *Live) Unread(from, to int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events[from:to] {
		r, ok := l.world.Route(e.Route)
		if ok && !r.Effect && !e.Replayed && !e.Unexpected {
			l.routes[r].answered--
		}
	}
}

// Replied is what a request would have been answered under a key of wrun's, had its reply come. There is none where nothing came that
// acts.
func (l *Live) Replied(key string) (r Reply, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.keys[key]
	return k.reply, ok
}

// Said is the reply in the form in which somebody says what a server replied.
func (a Reply) Said() ([]byte, error) {
	headers := http.Header{}
	a.head(headers)
	said := struct {
		Status  int                 `json:"status"`
		Headers map[string][]string `json:"headers,omitempty"`
		Body    []byte              `json:"body_base64,omitempty"`
	}{a.Status, map[string][]string{}, a.Body.Raw()}
	for name, values := range headers {
		if len(values) > 0 {
			said.Headers[name] = values
		}
	}
	return json.Marshal(said)
}
