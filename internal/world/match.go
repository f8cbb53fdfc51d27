package world

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/jq"
)

// request is one request as it came.
type request struct {
	method, url string
	headers     http.Header
	body        []byte
	hide        func(string) string // takes values of secrets out
}

// differs says in what a request is not one that the route answers, or "". What weighs most is said first, and weight is how many
// parts fit before it: where two routes differ, the one with more of them is the closer one.
func (r *Route) differs(q *request) (why string, weight int) {
	steps := []func(*request) string{r.otherOrigin, r.otherPath, r.otherMethod, r.otherQuery, r.otherHeaders, r.otherBody, r.otherwise}
	for i, step := range steps {
		if why = step(q); why != "" {
			return why, i
		}
	}
	return "", len(steps)
}

// addressed says whether a request goes where the route answers, whatever is in its body.
func (r *Route) addressed(q *request) bool {
	for _, step := range []func(*request) string{r.otherOrigin, r.otherPath, r.otherMethod, r.otherQuery, r.otherHeaders} {
		if step(q) != "" {
			return false
		}
	}
	return true
}

// parts are those of a URL.
func (q *request) parts() (origin string, u *url.URL) {
	u, err := url.Parse(q.url)
	if err != nil {
		return q.url, &url.URL{}
	}
	origin, err = hostfuncs.ParseOrigin(u.Scheme + "://" + u.Host)
	if err != nil {
		origin = u.Scheme + "://" + u.Host
	}
	return origin, u
}

func (r *Route) otherOrigin(q *request) string {
	if origin, _ := q.parts(); origin != r.origin {
		return fmt.Sprintf("it answers at %s", r.origin)
	}
	return ""
}

func (r *Route) otherPath(q *request) string {
	_, u := q.parts()
	path := u.Path
	if path == "" {
		path = "/"
	}
	if path == r.path || r.all && strings.HasPrefix(path, r.path) {
		return ""
	}
	return "it answers another path"
}

func (r *Route) otherMethod(q *request) string {
	if q.method != r.Method {
		return "it answers " + r.Method
	}
	return ""
}

// otherQuery lets everything pass below a path that ends in /*, where the route names no query.
func (r *Route) otherQuery(q *request) string {
	_, u := q.parts()
	if r.all && !r.asked {
		return ""
	}
	got, err := url.ParseQuery(q.hide(u.RawQuery))
	if err == nil && maps.EqualFunc(got, r.query, slices.Equal[[]string]) {
		return ""
	}
	if got, err := url.ParseQuery(u.RawQuery); err == nil && maps.EqualFunc(got, r.query, slices.Equal[[]string]) {
		return ""
	}
	return fmt.Sprintf("it answers the query %q, this one has %q", r.query.Encode(), q.hide(u.RawQuery))
}

func (r *Route) otherHeaders(q *request) string {
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		want, got := r.Headers[name], q.headers.Values(name)
		if slices.ContainsFunc(got, func(v string) bool { return v == want || q.hide(v) == want }) {
			continue
		}
		if len(got) == 0 {
			return fmt.Sprintf("it wants the header %s: %s, which is not there", name, want)
		}
		return fmt.Sprintf("it wants the header %s: %s, this one has %s", name, want, q.hide(strings.Join(got, ", ")))
	}
	return ""
}

func (r *Route) otherBody(q *request) string {
	if r.Body == nil || r.Body.Is(q.body) || r.Body.Is([]byte(q.hide(string(q.body)))) {
		return ""
	}
	return fmt.Sprintf("it wants the body %s, this one has %s", show(r.Body.Raw()), q.hide(show(q.body)))
}

func (r *Route) otherwise(q *request) string {
	if r.Where == nil {
		return ""
	}
	v, err := jq.Decode(q.body, maxNumber)
	if err != nil {
		return fmt.Sprintf("it wants %s of the body, which is no JSON", r.Where.Text)
	}
	ok, err := r.Where.Holds(v)
	switch {
	case err != nil:
		return fmt.Sprintf("it wants %s of the body: %v", r.Where.Text, err)
	case !ok:
		return fmt.Sprintf("it wants %s of the body, this one has %s", r.Where.Text, q.hide(show(q.body)))
	}
	return ""
}

// key is what the request carries in the place where the route looks for a key; "" for none.
func (d *Dedupe) key(q *request) string {
	if d.Body == nil {
		return q.headers.Get(d.Header)
	}
	v, err := jq.Decode(q.body, maxNumber)
	if err != nil {
		return ""
	}
	if v, err = d.Body.Value(v); err != nil || v == nil {
		return ""
	}
	if s, ok := v.(string); ok {
		return s
	}
	return ShowJSON(v)
}
