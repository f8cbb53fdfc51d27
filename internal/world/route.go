package world

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
)

// Route is requests that are answered alike.
type Route struct {
	// Name is what others, and people, know it by; unique in a world.
	Name string
	// Method and URL are the request's. A path that ends in /* stands for all below it; a query has to be there as it is.
	Method, URL string
	// Headers have to be there with these values, Body has to be the body, and Where has to hold for the JSON in it. Values of
	// secrets may be written as {{secret:NAME}}. nil demands nothing.
	Headers map[string]string
	Body    *Body
	Where   *Cond
	// Effect says that answering does something in the world, and Sets that doing it again changes nothing more, as with PUT.
	Effect, Sets bool
	// Dedupe is where a request carries the key under which the same is done once; nil where every request is another one.
	Dedupe *Dedupe
	// Late is how much later the route acts where its reply is lost or never comes: who asks meanwhile does not find it. 0 means at
	// once.
	Late time.Duration
	// Undoes is a route of which acting takes one act back; "" for none.
	Undoes string
	// If and Unless are routes: this one answers only once the one has acted, and only before the other has.
	If, Unless string
	// Times is how often it answers at most; 0 means any number.
	Times int
	// Optional says that a case need not use it, and Shared that it comes from the world of several cases.
	Optional, Shared bool
	// Replies are what is answered, one after the other, the last again and again. There is at least one.
	Replies []Reply

	origin string
	path   string // decoded; without the * of one that stands for all below it
	all    bool   // the path ended in /*
	query  url.Values
	asked  bool // the URL has a query
}

// Reply is one answer.
type Reply struct {
	// Status is 200 to 599.
	Status  int
	Headers map[string]string
	Body    *Body // nil for none
	Fault   Fault

	added bool // the fault is none of the case's: who asks again gets the reply itself
}

// Fault is what becomes of an exchange in place of a reply.
type Fault string

// The faults.
const (
	NoFault Fault = ""
	// LostReply acts, and resets the connection.
	LostReply Fault = "lost_reply"
	// Refused does not accept the connection.
	Refused Fault = "refused"
	// Hangs acts, and never answers.
	Hangs Fault = "hangs"
)

// Dedupe is where a key is found: in a header, or in the body.
type Dedupe struct {
	Header string
	Body   *Cond
}

// Origin is the canonical origin of the route, as hostfuncs.ParseOrigin has it.
func (r *Route) Origin() string { return r.origin }

// readURL reads what URL has. Whatever host functions would not send to is refused.
func (r *Route) readURL() error {
	rest, query, asked := strings.Cut(r.URL, "?")
	head, path := rest, ""
	if _, after, ok := strings.Cut(rest, "://"); ok {
		if i := strings.IndexByte(after, '/'); i >= 0 {
			path = after[i:]
			head = strings.TrimSuffix(rest, path)
		}
	}
	if strings.Contains(r.URL, "#") {
		return errors.New("a # and what is behind it are not sent to a server")
	}
	path, r.all = strings.CutSuffix(path, "/*")
	g, err := hostfuncs.ParseHTTPGrant(r.Method + " " + head + path)
	if err != nil {
		return err
	}
	r.origin, r.asked = g.Origin, asked
	if r.path, err = url.PathUnescape(path); err != nil {
		return err
	}
	if r.all || path == "" {
		r.path += "/"
	}
	r.query, err = url.ParseQuery(query)
	return err
}

// Grant is what a request that the route answers needs, as hostfuncs.ParseHTTPGrant has it.
func (r *Route) Grant() string {
	path, _, _ := strings.Cut(strings.TrimPrefix(r.URL, r.URL[:strings.Index(r.URL, "://")+3]), "?")
	i := strings.IndexByte(path, '/')
	if i < 0 {
		return r.Method + " " + r.origin
	}
	return r.Method + " " + r.origin + strings.TrimSuffix(path[i:], "*")
}

// NewRoute returns a route that answers a request as it is read from "METHOD URL".
func NewRoute(method, url string) (*Route, error) {
	r := &Route{Name: method + " " + url, Method: method, URL: url, Effect: method != "GET" && method != "HEAD"}
	if err := r.readURL(); err != nil {
		return nil, err
	}
	return r, nil
}

// Sendable says whether a reply can have a header with this value.
func Sendable(name, value string) bool { return sendable(name, value) }

// WithFault is the world with a fault in the n-th answer of a route, counted from 0. A refusal comes before that answer, any other fault
// takes the place of its reply.
func (w *World) WithFault(route string, n int, f Fault) *World {
	c := *w
	c.HTTP = nil
	for _, r := range w.HTTP {
		if r.Name != route {
			c.HTTP = append(c.HTTP, r)
			continue
		}
		with := *r
		with.Replies = nil
		for i := range max(n+1, len(r.Replies)) {
			a, _ := Nth(r.Replies, i)
			with.Replies = append(with.Replies, a)
		}
		bad := with.Replies[n]
		bad.Fault, bad.added = f, true
		if f == Refused {
			with.Replies = slices.Insert(with.Replies, n, bad)
			if with.Times > 0 {
				with.Times++
			}
		} else {
			if n+1 == len(with.Replies) { // the last one again and again, but not its fault
				with.Replies = append(with.Replies, with.Replies[n])
			}
			with.Replies[n] = bad
		}
		c.HTTP = append(c.HTTP, &with)
	}
	return &c
}

// WithMail is the world with another fate of the n-th message, counted from 0.
func (w *World) WithMail(n int, m Mail) *World {
	c := *w
	c.Mail = nil
	for i := range max(n+2, len(w.Mail)) {
		fate, _ := Nth(w.Mail, i)
		c.Mail = append(c.Mail, fate)
	}
	c.Mail[n] = m
	return &c
}
