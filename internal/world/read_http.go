package world

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/strictyaml"
)

// maxRoutes is how many routes a world may have.
const maxRoutes = 1000

func (r *reader) http(w *World, n *yaml.Node) {
	items := r.List(n, "http")
	if len(items) > maxRoutes {
		r.Fail(n, "%d routes, at most %d are allowed", len(items), maxRoutes)
		return
	}
	refs := map[*yaml.Node]string{}
	for _, c := range items {
		if route := r.route(c, refs); route != nil {
			if _, twice := w.Route(route.Name); twice {
				r.Fail(c, "there are two routes of the name %.80q; give one of them another \"name\"", route.Name)
			}
			w.HTTP = append(w.HTTP, route)
		}
	}
	for at, name := range refs {
		if _, ok := w.Route(name); !ok {
			r.Fail(at, "there is no route of the name %.80q", name)
		}
	}
}

var routeFields = []string{
	"name", "request", "headers", "body", "where", "effect", "dedupe", "late", "undoes", "if", "unless", "times", "optional", "reply", "replies", "fault",
}

// route reads one route. Names of others that it mentions are noted in refs.
func (r *reader) route(n *yaml.Node, refs map[*yaml.Node]string) *Route {
	f := r.Fields(n, "a route", routeFields)
	if f == nil {
		return nil
	}
	before := r.Count()
	t := &Route{}
	if v := f["request"]; v == nil {
		r.Fail(n, `"request" is missing: METHOD URL`)
	} else {
		r.request(t, v)
	}
	t.Effect, t.Sets = t.usual()
	for name, to := range map[string]*string{"name": &t.Name, "if": &t.If, "unless": &t.Unless, "undoes": &t.Undoes} {
		if v := f[name]; v != nil {
			if *to = r.Str(v, name); name != "name" {
				refs[v] = *to
			}
		}
	}
	r.demands(t, f)
	if v := f["effect"]; v != nil {
		t.Effect, t.Sets = r.effect(t, v)
	}
	if v := f["dedupe"]; v != nil {
		t.Dedupe = r.dedupe(v)
	}
	if v := f["late"]; v != nil {
		t.Late = r.Duration(v, "late")
	}
	if v := f["times"]; v != nil {
		t.Times = int(r.Number(v, "times", 1, 1_000_000))
	}
	if v := f["optional"]; v != nil {
		t.Optional = r.Bool(v, "optional")
	}
	r.answers(t, n, f)
	if r.Count() > before && t.origin == "" {
		return nil
	}
	return t
}

// usual is what answering does where nothing is said about it.
func (t *Route) usual() (effect, sets bool) {
	switch t.Method {
	case http.MethodGet, http.MethodHead:
		return false, false
	case http.MethodPut, http.MethodDelete:
		return true, true
	}
	return true, false
}

// effect reads false, true for what is usual for the method, adds or sets.
func (r *reader) effect(t *Route, n *yaml.Node) (effect, sets bool) {
	if n.Kind == yaml.ScalarNode {
		switch v, _ := strictyaml.Scalar(n); v {
		case "adds":
			return true, false
		case "sets":
			return true, true
		case true:
			_, sets = t.usual()
			return true, sets
		case false:
			return false, false
		}
	}
	r.Fail(n, "%q has to be true, false, adds or sets, this is %s", "effect", strictyaml.Describe(n))
	return t.usual()
}

// request reads method and URL.
func (r *reader) request(t *Route, n *yaml.Node) {
	text := r.Str(n, "request")
	var ok bool
	if t.Method, t.URL, ok = strings.Cut(text, " "); text != "" && !ok {
		r.Fail(n, "%q has to be METHOD URL, such as POST https://api.example.com/charges, this is %.80q", "request", text)
		return
	}
	if text == "" {
		return
	}
	if err := t.readURL(); err != nil {
		r.Fail(n, "\"request\": %v", err)
		return
	}
	t.Name = text
}

// demands reads what a request has to have.
func (r *reader) demands(t *Route, f map[string]*yaml.Node) {
	if v := f["headers"]; v != nil {
		t.Headers = r.texts(v, "headers")
	}
	if v := f["body"]; v != nil {
		t.Body = r.ReadBody(v)
	}
	if v := f["where"]; v != nil {
		t.Where = r.condition(v, "where")
	}
}

// dedupe reads "header NAME" or "body EXPRESSION".
func (r *reader) dedupe(n *yaml.Node) *Dedupe {
	text := r.Str(n, "dedupe")
	kind, rest, ok := strings.Cut(text, " ")
	switch {
	case text == "":
		return nil
	case ok && kind == "header":
		return &Dedupe{Header: rest}
	case ok && kind == "body":
		c, err := NewCond(rest)
		if err == nil {
			return &Dedupe{Body: c}
		}
		r.Fail(n, "\"dedupe\": %v", err)
	default:
		r.Fail(n, "\"dedupe\" has to be \"header NAME\" or \"body EXPRESSION\", this is %.60q", text)
	}
	return nil
}

// answers reads reply, replies and fault.
func (r *reader) answers(t *Route, n *yaml.Node, f map[string]*yaml.Node) {
	one, many := f["reply"], f["replies"]
	switch {
	case one != nil && many != nil:
		r.Fail(many, `"reply" and "replies" exclude each other`)
	case one != nil:
		t.Replies = []Reply{r.reply(one)}
	case many != nil:
		for _, c := range r.List(many, "replies") {
			t.Replies = append(t.Replies, r.reply(c))
		}
		r.notEmpty(many, "replies", len(t.Replies))
	default:
		t.Replies = []Reply{{Status: http.StatusOK}}
	}
	v := f["fault"]
	if v == nil {
		return
	}
	fault := r.fault(v)
	for i := range t.Replies {
		if t.Replies[i].Fault != NoFault {
			r.Fail(v, `the route has a "fault", and so has one of its replies`)
			return
		}
		t.Replies[i].Fault = fault
	}
}

func (r *reader) fault(n *yaml.Node) Fault {
	all := []string{string(LostReply), string(Refused), string(Hangs)}
	s := r.Str(n, "fault")
	if s != "" && !slices.Contains(all, s) {
		r.Fail(n, "%.40q is no fault; want lost_reply, refused or hangs%s", s, strictyaml.Suggest(s, all))
	}
	return Fault(s)
}

func (r *reader) reply(n *yaml.Node) Reply {
	a := Reply{Status: http.StatusOK}
	f := r.Fields(n, "a reply", []string{"status", "headers", "body", "base64", "file", "fault"})
	if v := f["status"]; v != nil {
		a.Status = int(r.Number(v, "status", 200, 599))
	}
	if v := f["headers"]; v != nil {
		a.Headers = r.texts(v, "headers")
		for name, value := range a.Headers {
			if !sendable(name, value) {
				r.Fail(v, "%.80q: %.80q is no header that can be sent", name, value)
			}
		}
	}
	if v := f["fault"]; v != nil {
		a.Fault = r.fault(v)
	}
	bodies := 0
	for _, name := range []string{"body", "base64", "file"} {
		v := f[name]
		if v == nil {
			continue
		}
		if bodies++; bodies > 1 {
			r.Fail(v, "a reply has one of body, base64 and file")
			break
		}
		a.Body = r.replyBody(v, name)
	}
	return a
}

func (r *reader) replyBody(n *yaml.Node, form string) *Body {
	switch form {
	case "base64":
		text := r.Text(n, form)
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			r.Fail(n, "\"base64\": %v", err)
		}
		return &Body{Bytes: b, Base64: true}
	case "file":
		path := r.Str(n, form)
		if path == "" {
			return nil
		}
		return &Body{Bytes: r.readFile(n, path), File: path}
	}
	return r.ReadBody(n)
}

// sendable says whether a header can be sent as it is.
func sendable(name, value string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	word := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(marks, r)
	}
	return name != "" && strings.TrimFunc(name, word) == "" && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) &&
		!slices.Contains([]string{"Content-Length", "Transfer-Encoding", "Connection", "Trailer"}, http.CanonicalHeaderKey(name))
}
