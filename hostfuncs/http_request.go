package hostfuncs

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// request is a request that was found to be in order. The values of secrets are not in it.
type request struct {
	function string
	method   string
	origin   origin
	target   string // path and query
	headers  []toolabi.Header
	body     []byte
	upload   *toolabi.Digest // the artifact that is sent in place of body
	timeout  time.Duration
	again    bool // whether it may be sent again

	redirects  int   // how many are followed
	hops       int   // how many were followed
	decompress bool  // gzip is asked for and undone
	keep       int64 // the longest body that is kept as an artifact, in bytes; 0 for one that is answered
	scarce     bool  // keep is what is left of the artifacts that are granted
	guarded    bool  // a secret is bound to the origin, so that the reply has to be looked through
}

// prepare judges everything about a request that can be judged without a network.
func prepare(c Call, function string, req toolabi.HTTPRequest) (*request, error) {
	o, target, err := splitURL(req.URL)
	if err != nil {
		return nil, invalidf("%s: %v", function, err)
	}
	for _, check := range []func(string, toolabi.HTTPRequest) error{checkSizes, checkOptions} {
		if err := check(function, req); err != nil {
			return nil, err
		}
	}
	if !isHeaderValue(c.Key) || len(c.Key) > 1024 {
		return nil, fmt.Errorf("%s: the idempotency key cannot be sent in a header", function) // the host's own fault
	}
	r := &request{
		function: function, method: req.Method, origin: o, target: target, headers: req.Headers, body: req.Body,
		timeout: timeoutOf(req), again: c.Repeatable || function == toolabi.FuncHTTPFetch,
		redirects: int(req.Redirects), decompress: req.Decompress, keep: int64(req.ToArtifact),
	}
	if req.BodyArtifact != "" {
		d, ok := toolabi.ParseDigest(req.BodyArtifact)
		if !ok {
			return nil, invalidf("%s: body_artifact is no artifact: want 64 lower-case hexadecimal digits", function)
		}
		r.upload = &d
	}
	return r, r.admit(c)
}

func checkSizes(function string, req toolabi.HTTPRequest) error {
	if err := checkHeaders(req.Headers); err != nil {
		return err
	}
	if len(req.Body) > toolabi.MaxHTTPBody {
		return tooLargef("%s: a body of %d bytes, at most %d are allowed", function, len(req.Body), toolabi.MaxHTTPBody)
	}
	if req.TimeoutMS > toolabi.MaxHTTPTimeout {
		return invalidf("%s: a timeout of %d ms, at most %d are allowed", function, req.TimeoutMS, toolabi.MaxHTTPTimeout)
	}
	if req.ToArtifact > toolabi.MaxArtifact {
		return invalidf("%s: to_artifact of %d bytes, at most %d are allowed", function, req.ToArtifact, toolabi.MaxArtifact)
	}
	if req.Redirects > toolabi.MaxRedirects {
		return invalidf("%s: %d redirects, at most %d are followed", function, req.Redirects, toolabi.MaxRedirects)
	}
	return nil
}

// checkOptions judges what does not go together.
func checkOptions(function string, req toolabi.HTTPRequest) error {
	switch {
	case req.Redirects > 0 && function != toolabi.FuncHTTPFetch:
		return invalidf("%s: redirects are followed by %s only: sending again is the tool's to decide", function, toolabi.FuncHTTPFetch)
	case len(req.Body) > 0 && req.BodyArtifact != "":
		return invalidf("%s: body and body_artifact: want one of them", function)
	case req.Decompress && hasHeader(req.Headers, "Accept-Encoding"):
		return invalidf("%s: with decompress the header Accept-Encoding is set by the host", function)
	case req.Decompress && hasHeader(req.Headers, "Range"):
		return invalidf("%s: decompress and a Range: a part of what is compressed cannot be undone", function)
	case function == toolabi.FuncHTTPFetch && override(req.Headers, methodHeaders) != "":
		return invalidf("%s: the header %s makes something else of a request that only reads", function, override(req.Headers, methodHeaders))
	case req.ToArtifact > 0 && req.Method == "HEAD":
		return invalidf("%s: the reply to HEAD has no body to keep as an artifact", function)
	}
	return nil
}

// admit judges whether c may send r. It is asked for each hop.
func (r *request) admit(c Call) error {
	if err := permit(c, r.function, r.method, r.origin, r.target); err != nil {
		return err
	}
	if err := permitOverrides(c, r); err != nil {
		return err
	}
	if r.upload != nil || r.keep > 0 {
		if err := mayKeep(c, r.function); err != nil {
			return err
		}
	}
	r.guarded = slices.ContainsFunc(c.Grants.Secrets, func(s SecretGrant) bool { return s.bound(r.origin.String()) })
	if err := r.admitSecrets(c); err != nil || !r.guarded {
		return err
	}
	for _, name := range hidingHeaders {
		if hasHeader(r.headers, name) {
			return invalidf("%s: the header %s is not sent to %s, which has a secret: it could hide the secret in the reply", r.function, name, r.origin)
		}
	}
	return nil
}

// hidingHeaders ask a server for another form, or for a part, of what it would send.
var hidingHeaders = []string{"Accept-Encoding", "Range", "If-Range", "Request-Range", "A-IM", "Accept-Charset"}

// segments are those of the path; nil for one that could be read in two ways.
func (r *request) segments() []string {
	path, _, _ := strings.Cut(r.target, "?")
	segments, err := splitPath(path)
	if err != nil {
		return nil
	}
	return segments
}

// admitSecrets judges what r refers to, without reading it.
func (r *request) admitSecrets(c Call) error {
	for _, h := range r.headers {
		if err := r.admitRefs(c, h.Value); err != nil {
			return err
		}
	}
	if bytes.Contains(r.body, []byte(secretBegin)) {
		return r.admitRefs(c, string(r.body))
	}
	return nil
}

func (r *request) admitRefs(c Call, text string) error {
	names, bad := toolabi.SecretRefs(text)
	if bad != "" {
		return secretError(toolabi.NewError(toolabi.Invalid, fmt.Sprintf("%s: %q is no reference to a secret: want {{secret:NAME}}", r.function, bad)))
	}
	for _, name := range names {
		if _, err := c.mayRefer(r.function, name, r.origin.String()); err != nil {
			return err
		}
	}
	return nil
}

// layOut writes the request line and the headers: the host's first, then the tool's in their order.
func (r *request) layOut(c Call, headers []toolabi.Header, size int64) []byte {
	var b strings.Builder
	line := func(name, value string) { b.WriteString(name + ": " + value + "\r\n") }
	b.WriteString(r.method + " " + r.target + " HTTP/1.1\r\n")
	line("Host", r.origin.authority())
	line("Connection", "close")
	if size > 0 || !mayFetch(r.method) {
		line("Content-Length", strconv.FormatInt(size, 10))
	}
	if c.Key != "" {
		line("Idempotency-Key", c.Key)
	}
	switch {
	case r.decompress:
		line("Accept-Encoding", "gzip")
	case r.guarded:
		line("Accept-Encoding", "identity")
	}
	for _, h := range headers {
		line(h.Name, h.Value)
	}
	if !hasHeader(headers, "User-Agent") {
		line("User-Agent", "wrun")
	}
	b.WriteString("\r\n")
	return []byte(b.String())
}

func timeoutOf(req toolabi.HTTPRequest) time.Duration {
	ms := req.TimeoutMS
	if ms == 0 {
		ms = toolabi.DefaultHTTPTimeout
	}
	return time.Duration(min(ms, toolabi.MaxHTTPTimeout)) * time.Millisecond
}
