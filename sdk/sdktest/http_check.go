package sdktest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

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
	if what := apart(name, req); what != "" {
		return invalid("%s", what)
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

// apart says what of a request does not go together, or is over its cap.
func apart(name string, req toolabi.HTTPRequest) string {
	has := func(names ...string) bool {
		return slices.ContainsFunc(req.Headers, func(h toolabi.Header) bool { return slices.Contains(names, strings.ToLower(h.Name)) })
	}
	_, isArtifact := toolabi.ParseDigest(req.BodyArtifact)
	switch {
	case req.Redirects > toolabi.MaxRedirects || req.Redirects > 0 && name != toolabi.FuncHTTPFetch:
		return fmt.Sprintf("%d redirects: at most %d are followed, by http_fetch", req.Redirects, toolabi.MaxRedirects)
	case req.ToArtifact > toolabi.MaxArtifact || req.ToArtifact > 0 && req.Method == http.MethodHead:
		return fmt.Sprintf("to_artifact of %d bytes: at most %d, and not for HEAD", req.ToArtifact, toolabi.MaxArtifact)
	case req.BodyArtifact != "" && (len(req.Body) > 0 || !isArtifact):
		return "body_artifact: want 64 lower-case hexadecimal digits, and no body beside it"
	case req.Decompress && has("accept-encoding", "range"):
		return "decompress does not go with the headers Accept-Encoding and Range"
	}
	return ""
}

// reserved says whether a header is not a tool's to set.
func reserved(name string) bool {
	switch name = strings.ToLower(name); name {
	case "idempotency-key", "host", "connection", "transfer-encoding", "content-length":
		return true
	}
	return strings.HasPrefix(name, "proxy-")
}
