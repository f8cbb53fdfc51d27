package world

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/mailserver"
)

// Live is a world that runs. Its methods may be used concurrently, and other processes reach it by Remote.
type Live struct {
	world     *World
	authority *authority
	hide      func(string) string
	listener  net.Listener
	web       http.Server
	accepted  queue // what web serves
	post      *mailserver.Server
	mail      hostfuncs.MailGrant // where messages are taken
	now       func() time.Time
	serving   sync.WaitGroup

	mu     sync.Mutex // guards the rest
	routes map[*Route]*routeState
	events []*Event
	keys   map[string]keyed      // what was sent under a key of wrun's and answered, by the key
	late   []lateAct             // what is still to act
	mails  int                   // messages so far
	uses   map[string]*use       // those that are made now
	conns  map[net.Conn]struct{} // open ones
	closed bool
}

// Options are what is not written in a world.
type Options struct {
	// Mail is the mail server that is granted; the zero value has none.
	Mail hostfuncs.MailGrant
	// Now tells the time, for routes that act late; nil means time.Now.
	Now func() time.Time
}

// Start lets a world run. The caller closes it.
func Start(w *World, opts Options) (*Live, error) {
	l := &Live{
		world: w, mail: opts.Mail, accepted: queue{conns: make(chan net.Conn), closed: make(chan struct{})},
		now: opts.Now, keys: map[string]keyed{}, routes: map[*Route]*routeState{}, uses: map[string]*use{}, conns: map[net.Conn]struct{}{},
	}
	if l.now == nil {
		l.now = time.Now
	}
	for _, r := range w.HTTP {
		l.routes[r] = &routeState{firsts: map[string]first{}}
	}
	var err error
	if l.hide, err = hiding(w.Secrets); err != nil {
		return nil, err
	}
	if l.authority, err = newAuthority(); err != nil {
		return nil, err
	}
	if err := l.startMail(); err != nil {
		return nil, err
	}
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, errors.Join(fmt.Errorf("start the world: %w", err), l.closeMail())
	}
	l.web = http.Server{Handler: l, ErrorLog: log.New(io.Discard, "", 0), ConnContext: connContext}
	l.serving.Go(func() { l.web.Serve(&l.accepted) })
	l.serving.Go(l.accept)
	return l, nil
}

// Remote is what another process needs to reach it.
func (l *Live) Remote() Remote {
	return Remote{Addr: l.listener.Addr().String(), CA: l.authority.pem(), Secrets: l.world.Secrets}
}

// Config is Dial for this process.
func (l *Live) Config() (hostfuncs.Config, error) { return Dial(l.Remote()) }

// World is what runs.
func (l *Live) World() *World { return l.world }

// Hide takes the values of the world's secrets out of a text; {{secret:NAME}} stands in their place.
func (l *Live) Hide(text string) string { return l.hide(text) }

// Seen is what the world saw so far, in order.
func (l *Live) Seen() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.actLate()
	var all []Event
	for _, e := range l.events {
		all = append(all, *e)
	}
	return all
}

// Acted is how often a route did something.
func (l *Live) Acted(route string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.actLate()
	return l.acted(route)
}

// Answered is how often a route answered a request, in whatever way but from a key.
func (l *Live) Answered(route string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.world.Route(route); ok {
		return l.routes[r].answered
	}
	return 0
}

// Unexpected is what the world has no answer to, and what contradicted a key.
func (l *Live) Unexpected() []Event {
	return slices.DeleteFunc(l.Seen(), func(e Event) bool { return !e.Unexpected && !e.Contradicted })
}

// Close cuts every connection and waits until nothing is served any more. What was seen can still be asked.
func (l *Live) Close() error {
	l.mu.Lock()
	was := l.closed
	l.closed = true
	for c := range l.conns {
		c.Close()
	}
	l.mu.Unlock()
	if was {
		return nil
	}
	close(l.accepted.closed)
	err := errors.Join(l.listener.Close(), l.web.Close(), l.closeMail())
	l.serving.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// queue is the listener of what is served as http.
type queue struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (q *queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

func (q *queue) Close() error   { return nil }
func (q *queue) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// give hands a connection over, or closes it when nothing is served any more.
func (q *queue) give(c net.Conn) {
	select {
	case q.conns <- c:
	case <-q.closed:
		c.Close()
	}
}
