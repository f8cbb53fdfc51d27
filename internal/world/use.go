package world

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

// use is one use of a function of http, while it is made.
type use struct {
	request *request
	hung    chan struct{} // closed when its reply will never come
	once    sync.Once
}

type useKey struct{}

// useIDs numbers uses.
var useIDs atomic.Uint64

// Funcs returns the functions with those of http telling the world what they are about to ask for. A route that refuses the
// connection then refuses the one for its request and no other, and a request that is never answered runs out of time at once and not
// after all the time that it has. Functions in other processes are served without that.
func (l *Live) Funcs(funcs []hostfuncs.Func) []hostfuncs.Func {
	told := make([]hostfuncs.Func, len(funcs))
	for i, f := range funcs {
		if call := f.Call; f.Name == toolabi.FuncHTTPFetch || f.Name == toolabi.FuncHTTPSend {
			f.Call = func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
				ctx, end := l.tell(ctx, c.Key, req)
				defer end()
				return call(ctx, c, req)
			}
		}
		told[i] = f
	}
	return told
}

// tell registers a use under a context of its own, until end is called.
func (l *Live) tell(ctx context.Context, key string, raw []byte) (_ context.Context, end func()) {
	var req toolabi.HTTPRequest
	if toolabi.Decode(raw, &req) != nil {
		return ctx, func() {}
	}
	q := &request{method: req.Method, url: req.URL, headers: http.Header{}, body: []byte(l.world.filled(string(req.Body))), hide: l.hide}
	for _, h := range req.Headers {
		q.headers.Add(h.Name, l.world.filled(h.Value))
	}
	if key != "" {
		q.headers.Set("Idempotency-Key", key)
	}
	id := strconv.FormatUint(useIDs.Add(1), 10)
	u := &use{request: q, hung: make(chan struct{})}
	l.mu.Lock()
	l.uses[id] = u
	l.mu.Unlock()
	ctx, stop := newPatient(context.WithValue(ctx, useKey{}, id), u.hung)
	return ctx, func() {
		stop()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.uses, id)
	}
}

// hung says that the reply of a use will never come.
func (l *Live) hung(id string) {
	l.mu.Lock()
	u := l.uses[id]
	l.mu.Unlock()
	if u != nil {
		u.once.Do(func() { close(u.hung) })
	}
}

// patient is a context that ends as if its deadline had passed when what it waits for will never come.
type patient struct {
	context.Context
	done  chan struct{}
	never atomic.Bool
}

// newPatient returns a context that ends with its parent, and when never is closed; stop frees it.
func newPatient(parent context.Context, never <-chan struct{}) (_ context.Context, stop func()) {
	p := &patient{Context: parent, done: make(chan struct{})}
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-parent.Done():
			close(p.done)
		case <-never:
			p.never.Store(true)
			close(p.done)
		case <-ended:
		}
	}()
	return p, func() {
		close(ended)
		<-over
	}
}

func (p *patient) Done() <-chan struct{} { return p.done }

func (p *patient) Err() error {
	if p.never.Load() {
		return context.DeadlineExceeded
	}
	return p.Context.Err()
}

// Deadline is the parent's.
func (p *patient) Deadline() (time.Time, bool) { return p.Context.Deadline() }
