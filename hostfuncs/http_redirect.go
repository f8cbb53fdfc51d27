package hostfuncs

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// next returns the request that a reply leads to; nil where it leads nowhere, or is not to be followed. Where it leads is judged as
// if the tool had asked for it.
func (r *request) next(c Call, res *http.Response) (*request, error) {
	if r.redirects == 0 || !isRedirect(res.StatusCode) || len(res.Header["Location"]) == 0 {
		return nil, nil
	}
	if len(res.Header["Location"]) > 1 {
		return nil, r.astray(toolabi.Unavailable, "a redirect to several places")
	}
	if r.hops == r.redirects {
		return nil, r.astray(toolabi.Unavailable, fmt.Sprintf("more than %d redirects", r.redirects))
	}
	o, target, err := r.locate(res.Header["Location"][0])
	switch {
	case err != nil:
		return nil, r.astray(toolabi.Unavailable, "a redirect to what is no URL of http or https: "+err.Error())
	case r.origin.scheme == "https" && o.scheme == "http":
		return nil, r.astray(toolabi.Denied, "a redirect from https to http")
	}
	n := *r
	n.hops++
	if o != r.origin {
		n.headers = slices.DeleteFunc(slices.Clone(r.headers), staysBehind) // and is not there on a way back either
	}
	n.origin, n.target = o, target
	if err := n.admit(c); err != nil {
		return nil, n.afterHops(err)
	}
	return &n, nil
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// staysBehind says whether a header is for the origin alone for which the tool wrote it.
func staysBehind(h toolabi.Header) bool {
	mild := slices.ContainsFunc([]string{"Accept", "Accept-Language", "Range", "User-Agent"}, func(name string) bool { return strings.EqualFold(name, h.Name) })
	return !mild || strings.Contains(h.Value, secretBegin)
}

// locate finds where a Location leads, as RFC 3986, section 5.2, has it. A fragment is cut off.
func (r *request) locate(location string) (o origin, target string, err error) {
	location, _, _ = strings.Cut(location, "#")
	base, _, _ := strings.Cut(r.target, "?")
	switch {
	case location == "":
		return r.origin, r.target, nil
	case hasScheme(location):
		o, target, err = splitURL(location)
	case strings.HasPrefix(location, "//"):
		o, target, err = splitURL(r.origin.scheme + ":" + location)
	case strings.HasPrefix(location, "/"):
		o, target, err = splitURL(r.origin.String() + location)
	case strings.HasPrefix(location, "?"):
		o, target, err = splitURL(r.origin.String() + base + location)
	default:
		o, target, err = splitURL(r.origin.String() + base[:strings.LastIndexByte(base, '/')+1] + location)
	}
	if err != nil {
		return origin{}, "", withoutText(err)
	}
	return o, withoutDots(target), nil
}

// withoutText keeps what a server wrote out of an error: it can repeat what it was sent.
func withoutText(err error) error {
	text, _, found := strings.Cut(err.Error(), `"`)
	if found {
		text += "…"
	}
	return errors.New(text)
}

// hasScheme says whether a reference begins with a scheme, which ends in the first colon before any /, ? and #.
func hasScheme(s string) bool {
	i := strings.IndexAny(s, ":/?#")
	return i >= 0 && s[i] == ':'
}

// withoutDots removes dot segments from the path of a target, as RFC 3986, section 5.2.4, has it: what is judged is what is sent.
func withoutDots(target string) string {
	path, query, asks := strings.Cut(target, "?")
	var out []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".", "..":
			if s == ".." && len(out) > 0 {
				out = out[:len(out)-1]
			}
			if last {
				out = append(out, "")
			}
		default:
			out = append(out, s)
		}
	}
	if path = "/" + strings.Join(out, "/"); asks {
		path += "?" + query
	}
	return path
}

// astray is a redirect that is not followed. The server has answered, and so it has acted.
func (r *request) astray(code toolabi.Code, text string) error {
	e := toolabi.NewError(code, toolabi.CleanLine(fmt.Sprintf("%s: %s: %s", r.function, r.origin, text), 500))
	e.Detail, e.Effect = "redirect", toolabi.EffectApplied
	return e
}

// afterHops returns the error of a request that redirects led to: the first server has acted, whatever came of the last.
func (r *request) afterHops(err error) error {
	var e *toolabi.Error
	if r.hops == 0 || !errors.As(err, &e) {
		return err
	}
	hop := *e
	if hop.Effect < toolabi.EffectUnknown {
		hop.Effect = toolabi.EffectApplied
	}
	if hop.Code == toolabi.Denied || hop.Code == toolabi.Invalid {
		hop.Detail = "redirect"
	}
	return &hop
}
