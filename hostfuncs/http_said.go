package hostfuncs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/toolabi"
)

// said is the form in which a person writes down a reply, and in which one that could not be recorded is kept for them.
type said struct {
	Status  int               `json:"status"`
	Headers map[string]values `json:"headers,omitempty"`
	// Body is a JSON value, or a string for a body that is text; BodyBase64 is for everything else.
	Body       json.RawMessage `json:"body,omitempty"`
	BodyBase64 []byte          `json:"body_base64,omitempty"`
	// Artifact is where the body is instead, and Size how long it is in bytes.
	Artifact string `json:"artifact,omitempty"`
	Size     uint64 `json:"size,omitempty"`
	// URL is where the reply came from, where redirects led there.
	URL string `json:"url,omitempty"`
}

var saidFields = []string{"status", "headers", "body", "body_base64", "artifact", "size", "url"}

// values are the values of one header: a string, or a list of strings where there are several.
type values []string

// UnmarshalJSON reads either form.
func (v *values) UnmarshalJSON(b []byte) error {
	var list []*string
	if len(b) > 0 && b[0] == '"' {
		b = append(append([]byte{'['}, b...), ']')
	}
	if err := json.Unmarshal(b, &list); err != nil || list == nil {
		return errors.New("a header's value has to be a string, or a list of strings")
	}
	*v = values{}
	for _, s := range list {
		if s == nil {
			return errors.New("a header's value has to be a string, or a list of strings")
		}
		*v = append(*v, *s)
	}
	return nil
}

// MarshalJSON writes the shorter form where it can.
func (v values) MarshalJSON() ([]byte, error) {
	if len(v) == 1 {
		return json.Marshal(v[0])
	}
	return json.Marshal([]string(v))
}

// ParseSaidReply makes the reply of an http function of what a person says the server answered. A JSON object with a
// "status" gives status, headers, body or body_base64; any other JSON object is the body of a reply with status 200.
// Everything else is refused, because what is said cannot be taken back: a forgotten file, an empty text, a typing error.
func ParseSaidReply(text []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := toolabi.StrictJSON(text); err != nil || json.Unmarshal(text, &fields) != nil || fields == nil {
		return nil, errors.New(`reply: want a JSON object, the body that came or {"status":…,"headers":{…},"body":…}; a body that is no object goes into the second form`)
	}
	status := fields["status"]
	if len(status) == 0 || !strings.ContainsRune("-0123456789", rune(status[0])) { // a word is the body's own
		return toolabi.Encode(toolabi.HTTPReply{Status: 200, Headers: []toolabi.Header{{Name: "Content-Type", Value: "application/json"}}, Body: text})
	}
	for name := range fields {
		if !slices.Contains(saidFields, name) { // to the letter, unlike what follows
			return nil, fmt.Errorf("reply: unknown field %.80q", name)
		}
	}
	var s said
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("reply: %w", err)
	}
	if s.Status < 100 || s.Status > 599 {
		return nil, fmt.Errorf("reply: status %d, want 100 to 599", s.Status)
	}
	if len(s.Body) > 0 && len(s.BodyBase64) > 0 {
		return nil, errors.New("reply: it has body and body_base64, want one of them")
	}
	if err := s.checkArtifact(); err != nil {
		return nil, err
	}
	reply := toolabi.HTTPReply{Status: uint16(s.Status), Body: s.BodyBase64, Artifact: s.Artifact, Size: s.Size, URL: s.URL}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		for _, value := range s.Headers[name] {
			if !isToken(name) || !isHeaderValue(value) {
				return nil, fmt.Errorf("reply: header %.80q cannot have that name or that value", name)
			}
			reply.Headers = append(reply.Headers, toolabi.Header{Name: name, Value: value})
		}
	}
	if len(s.Body) > 0 {
		reply.Body = s.Body
		var text string
		if s.Body[0] == '"' && json.Unmarshal(s.Body, &text) == nil {
			reply.Body = []byte(text)
		}
	}
	return toolabi.Encode(reply)
}

func (s said) checkArtifact() error {
	_, ok := toolabi.ParseDigest(s.Artifact)
	switch {
	case s.Artifact == "" && s.Size > 0:
		return errors.New("reply: it has a size and no artifact")
	case s.Artifact != "" && !ok:
		return fmt.Errorf("reply: artifact %.80q, want 64 lower-case hexadecimal digits", s.Artifact)
	case s.Artifact != "" && len(s.Body)+len(s.BodyBase64) > 0:
		return errors.New("reply: it has a body and an artifact, want one of them")
	}
	return nil
}

// FormatSaidReply writes a reply of an http function in the form that ParseSaidReply reads.
func FormatSaidReply(reply []byte) ([]byte, error) {
	var r toolabi.HTTPReply
	if err := toolabi.Decode(reply, &r); err != nil {
		return nil, err
	}
	body, raw := sayBody(r.Body)
	return sayJSON(said{Status: int(r.Status), Headers: sayHeaders(r.Headers), Body: body, BodyBase64: raw, Artifact: r.Artifact, Size: r.Size, URL: r.URL})
}

// asked is the form in which a request of an http function is shown.
type asked struct {
	Method     string            `json:"method"`
	URL        string            `json:"url"`
	Headers    map[string]values `json:"headers,omitempty"`
	Body       json.RawMessage   `json:"body,omitempty"`
	BodyBase64 []byte            `json:"body_base64,omitempty"`
	// The rest is as in toolabi.HTTPRequest.
	Redirects    uint8  `json:"redirects,omitempty"`
	Decompress   bool   `json:"decompress,omitempty"`
	BodyArtifact string `json:"body_artifact,omitempty"`
	ToArtifact   uint64 `json:"to_artifact,omitempty"`
}

// showHTTPRequest writes a request of an http function, its headers and body as in a reply.
func showHTTPRequest(req []byte) ([]byte, error) {
	var r toolabi.HTTPRequest
	if err := toolabi.Decode(req, &r); err != nil {
		return nil, err
	}
	body, raw := sayBody(r.Body)
	return sayJSON(asked{
		Method: r.Method, URL: r.URL, Headers: sayHeaders(r.Headers), Body: body, BodyBase64: raw,
		Redirects: r.Redirects, Decompress: r.Decompress, BodyArtifact: r.BodyArtifact, ToArtifact: r.ToArtifact,
	})
}

func sayHeaders(headers []toolabi.Header) map[string]values {
	said := map[string]values{}
	for _, h := range headers {
		said[h.Name] = append(said[h.Name], h.Value)
	}
	return said
}

// sayBody writes a body as JSON where that keeps its bytes, as a string where it is other text, and as bytes otherwise.
func sayBody(b []byte) (body json.RawMessage, raw []byte) {
	switch {
	case len(b) == 0:
		return nil, nil
	case isCompact(b):
		return b, nil
	case !utf8.Valid(b):
		return nil, b
	}
	text, err := sayJSON(string(b))
	if err != nil {
		return nil, b
	}
	return bytes.TrimSpace(text), nil
}

// sayJSON writes JSON on one line.
func sayJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // it would change the bytes of a body
	err := enc.Encode(v)
	return out.Bytes(), err
}

// isCompact says whether a body is JSON that stays the same bytes inside other JSON, and that can be read there.
func isCompact(body []byte) bool {
	var c bytes.Buffer
	return json.Compact(&c, body) == nil && bytes.Equal(c.Bytes(), body) && body[0] != '"' && toolabi.StrictJSON(body) == nil
}
