package hostfuncs

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// hostHeaders are the host's to set, in lower case. All that begin with proxy- are too.
var hostHeaders = []string{
	"connection", "content-length", "expect", "host", "http2-settings", "idempotency-key", "keep-alive", "te", "trailer",
	"transfer-encoding", "upgrade",
}

// checkHeaders judges the headers of a request.
func checkHeaders(headers []toolabi.Header) error {
	if len(headers) > toolabi.MaxHTTPHeaders {
		return tooLargef("%d header lines, at most %d are allowed", len(headers), toolabi.MaxHTTPHeaders)
	}
	total := 0
	for _, h := range headers {
		total += headerLen(h)
		if err := checkHeader(h); err != nil {
			return err
		}
	}
	if total > toolabi.MaxHTTPHeaderBytes {
		return tooLargef("headers of %d bytes, at most %d are allowed", total, toolabi.MaxHTTPHeaderBytes)
	}
	return nil
}

// headerLen is what a header counts towards the cap, in bytes.
func headerLen(h toolabi.Header) int { return len(h.Name) + len(h.Value) + len(": \r\n") }

// hasHeader says whether one of the headers is called so, taking _ for -.
func hasHeader(headers []toolabi.Header, name string) bool {
	return slices.ContainsFunc(headers, func(h toolabi.Header) bool { return strings.EqualFold(strings.ReplaceAll(h.Name, "_", "-"), name) })
}

// checkHeader judges one header. Its error never shows the value.
func checkHeader(h toolabi.Header) error {
	if !isToken(h.Name) {
		return invalidf("header name %q is not a word", toolabi.CleanLine(h.Name, 80))
	}
	if isHostHeader(h.Name) {
		return invalidf("header %s is set by the host and cannot be set by a tool", toolabi.CleanLine(h.Name, 80))
	}
	if !isHeaderValue(h.Value) {
		return invalidf("the value of header %s has a control character, or a blank at its begin or end", toolabi.CleanLine(h.Name, 80))
	}
	return nil
}

// isHostHeader takes _ for -, as servers that hand headers on as variables do.
func isHostHeader(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	return strings.HasPrefix(name, "proxy-") || slices.Contains(hostHeaders, name)
}

// isToken says whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isTokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// isHeaderValue says whether s can be the value of a header as it is. Bytes over 0x7f are allowed.
func isHeaderValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return strings.Trim(s, " \t") == s
}

// replyHeaders lists the headers of a reply, sorted by name, without the values of secrets. A value that is not UTF-8 is read as
// ISO 8859-1.
func replyHeaders(h http.Header, secrets *Vault) ([]toolabi.Header, error) {
	names := make([]string, 0, len(h))
	lines := 0
	for name, values := range h {
		names = append(names, name)
		lines += len(values)
	}
	if lines > toolabi.MaxHTTPHeaders {
		return nil, fmt.Errorf("%d header lines, at most %d are allowed", lines, toolabi.MaxHTTPHeaders)
	}
	slices.Sort(names)
	var out []toolabi.Header
	for _, name := range names {
		for _, v := range h[name] {
			out = append(out, toolabi.Header{Name: headerText(secrets.HideText(name)), Value: headerText(secrets.HideText(v))})
		}
	}
	return out, nil
}

func headerText(v string) string {
	if utf8.ValidString(v) {
		return v
	}
	runes := make([]rune, len(v))
	for i := range len(v) {
		runes[i] = rune(v[i])
	}
	return string(runes)
}
