package sdktest

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// http answers one exchange, after the checks that the host makes of every request.
func (s *stage) http(name string, req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
	if err := check(name, req); err != nil {
		return toolabi.HTTPReply{}, err
	}
	s.Requests = append(s.Requests, req)
	if s.Exchange != nil {
		return s.Exchange(name, req)
	}
	r, err := http.NewRequestWithContext(s.ctx, req.Method, req.URL, bytes.NewReader(req.Body))
	if err != nil {
		return toolabi.HTTPReply{}, toolabi.NewError(toolabi.Invalid, err.Error())
	}
	for _, h := range req.Headers {
		r.Header.Add(h.Name, h.Value)
	}
	if name == toolabi.FuncHTTPSend {
		s.sends++
		r.Header.Set("Idempotency-Key", fmt.Sprintf("sdktest-%d", s.sends))
	}
	rec := httptest.NewRecorder()
	s.HTTP.ServeHTTP(rec, r)
	return replyOf(rec), nil
}

func replyOf(rec *httptest.ResponseRecorder) toolabi.HTTPReply {
	reply := toolabi.HTTPReply{Status: uint16(rec.Code), Body: rec.Body.Bytes()}
	header := rec.Result().Header
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			reply.Headers = append(reply.Headers, toolabi.Header{Name: name, Value: strings.ToValidUTF8(value, "\uFFFD")})
		}
	}
	return reply
}

// check refuses what the contract of toolabi.HTTPRequest refuses.
func check(name string, req toolabi.HTTPRequest) error {
	invalid := func(format string, a ...any) error {
		return toolabi.NewError(toolabi.Invalid, name+": "+fmt.Sprintf(format, a...))
	}
	reads := req.Method == http.MethodGet || req.Method == http.MethodHead
	if reads != (name == toolabi.FuncHTTPFetch) || req.Method == "" {
		return invalid("method %q", req.Method)
	}
	u, err := url.Parse(req.URL)
	if err != nil {
		return invalid("%v", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return invalid("URL %q: want an absolute one, http or https, without user information or fragment", req.URL)
	}
	if req.TimeoutMS > toolabi.MaxHTTPTimeout {
		return invalid("timeout of %d ms: at most %d", req.TimeoutMS, toolabi.MaxHTTPTimeout)
	}
	size := 0
	for _, h := range req.Headers {
		if reserved(h.Name) {
			return invalid("header %q is the host's to set", h.Name)
		}
		size += len(h.Name) + len(h.Value)
	}
	if len(req.Headers) > toolabi.MaxHTTPHeaders || size > toolabi.MaxHTTPHeaderBytes || len(req.Body) > toolabi.MaxHTTPBody {
		return toolabi.NewError(toolabi.TooLarge, name+": headers or body are over their cap")
	}
	return nil
}

// reserved says whether a header is not a tool's to set.
func reserved(name string) bool {
	switch name = strings.ToLower(name); name {
	case "idempotency-key", "host", "connection", "transfer-encoding", "content-length":
		return true
	}
	return strings.HasPrefix(name, "proxy-")
}
