package sdktest

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// http answers one exchange, after the checks that the host makes of every request.
func (s *stage) http(name string, req toolabi.HTTPRequest) (reply toolabi.HTTPReply, err error) {
	if err := check(name, req); err != nil {
		return reply, err
	}
	if err := s.admitSecrets(name, req); err != nil {
		return reply, err
	}
	body, err := s.upload(name, req)
	if err != nil {
		return reply, err
	}
	s.Requests = append(s.Requests, req)
	if s.Exchange != nil {
		reply, err = s.Exchange(name, req)
	} else {
		reply, err = s.serveHTTP(name, req, body)
	}
	if err != nil {
		return toolabi.HTTPReply{}, err
	}
	return s.download(name, req, reply)
}

// serveHTTP lets the handler answer, and follows its redirects.
func (s *stage) serveHTTP(name string, req toolabi.HTTPRequest, body []byte) (reply toolabi.HTTPReply, err error) {
	key := ""
	if name == toolabi.FuncHTTPSend {
		s.sends++
		key = fmt.Sprintf("sdktest-%d", s.sends)
	}
	at, headers := req.URL, req.Headers
	for hops := 0; ; hops++ {
		rec, err := s.hop(req, at, headers, body, key)
		if err != nil {
			return reply, err
		}
		location := rec.Header().Get("Location")
		if req.Redirects == 0 || location == "" || !isRedirect(rec.Code) {
			reply, err = s.replyOf(name, req, rec)
			if hops > 0 {
				reply.URL = at
			}
			return reply, err
		}
		if hops == int(req.Redirects) {
			return reply, astray(toolabi.Unavailable, fmt.Sprintf("%s: more than %d redirects", name, hops))
		}
		if at, headers, err = redirected(name, at, location, headers); err != nil {
			return reply, err
		}
	}
}

// hop is one request with one reply.
func (s *stage) hop(req toolabi.HTTPRequest, at string, headers []toolabi.Header, body []byte, key string) (*httptest.ResponseRecorder, error) {
	r, err := http.NewRequestWithContext(s.ctx, req.Method, at, bytes.NewReader(body))
	if err != nil {
		return nil, toolabi.NewError(toolabi.Invalid, err.Error())
	}
	for _, h := range headers {
		r.Header.Add(h.Name, s.fill(h.Value))
	}
	if req.Decompress {
		r.Header.Set("Accept-Encoding", "gzip")
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	rec := httptest.NewRecorder()
	s.HTTP.ServeHTTP(rec, r)
	return rec, nil
}

func isRedirect(status int) bool {
	return slices.Contains([]int{301, 302, 303, 307, 308}, status)
}

// redirected is where a redirect leads, and what goes along.
func redirected(name, from, location string, headers []toolabi.Header) (string, []toolabi.Header, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", nil, astray(toolabi.Unavailable, name+": "+err.Error())
	}
	to, err := base.Parse(location)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" || to.User != nil {
		return "", nil, astray(toolabi.Unavailable, name+": a redirect to what is no URL of http or https")
	}
	if base.Scheme == "https" && to.Scheme == "http" {
		return "", nil, astray(toolabi.Denied, name+": a redirect from https to http")
	}
	if to.Fragment = ""; to.Scheme != base.Scheme || to.Host != base.Host {
		headers = slices.DeleteFunc(slices.Clone(headers), func(h toolabi.Header) bool {
			mild := slices.Contains([]string{"accept", "accept-language", "range", "user-agent"}, strings.ToLower(h.Name))
			return !mild || strings.Contains(h.Value, "{{secret:")
		})
	}
	to.Path = cmp.Or(to.Path, "/")
	return to.String(), headers, nil
}

// astray is a redirect that is not followed: the first server has answered.
func astray(code toolabi.Code, text string) error {
	e := toolabi.NewError(code, text)
	e.Detail, e.Effect = "redirect", toolabi.EffectApplied
	return e
}
