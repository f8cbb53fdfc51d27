package toolabi

// FuncHTTPFetch reads with GET or HEAD. Read: the reply is recorded; cut off, it is asked again.
const FuncHTTPFetch = "http_fetch"

// FuncHTTPSend sends with any other method. Once, and Effect in a tool that declares itself idempotent or keyed.
const FuncHTTPSend = "http_send"

// Caps of both functions.
const (
	// MaxHTTPHeaders is how many header lines a request or a reply may have.
	MaxHTTPHeaders = 64
	// MaxHTTPHeaderBytes is how long all header lines of a request or a reply may be together, in bytes.
	MaxHTTPHeaderBytes = 16 << 10
	// MaxHTTPBody is how long a body may be, in bytes.
	MaxHTTPBody = 8 << 20
	// DefaultHTTPTimeout is what TimeoutMS 0 means, in milliseconds.
	DefaultHTTPTimeout = 30_000
	// MaxHTTPTimeout is the longest TimeoutMS, in milliseconds.
	MaxHTTPTimeout = 300_000
)

// HTTPRequest is the request of http_fetch and http_send.
//
// Errors: Invalid for a URL, method or header that is not allowed (nothing was sent); Denied when the origin was not
// granted; TooLarge when a cap is exceeded; Timeout and Unavailable when no reply came. Effect in the error is None as
// long as no byte was written to the connection. A status of 400 or more is a reply, not an error.
type HTTPRequest struct {
	// Method is GET or HEAD for http_fetch; POST, PUT, PATCH, DELETE, OPTIONS or another token for http_send.
	Method string `cbor:"1,keyasint"`
	// URL is absolute, http or https, without user information or fragment, at most 8 KiB.
	URL string `cbor:"2,keyasint"`
	// Headers are sent in this order. Those that are the host's to set are refused: Idempotency-Key, Host, Connection,
	// Keep-Alive, TE, Trailer, Upgrade, Transfer-Encoding, Content-Length, Expect, HTTP2-Settings, and all that begin
	// with Proxy-.
	Headers []Header `cbor:"3,keyasint,omitempty"`
	// Body is sent as it is, at most MaxHTTPBody bytes.
	Body []byte `cbor:"4,keyasint,omitempty"`
	// TimeoutMS bounds the whole exchange in milliseconds; 0 means DefaultHTTPTimeout.
	TimeoutMS uint32 `cbor:"5,keyasint,omitempty"`
}

// Header is one header line.
type Header struct {
	Name  string `cbor:"1,keyasint"`
	Value string `cbor:"2,keyasint"`
}

// HTTPReply is the reply of http_fetch and http_send.
type HTTPReply struct {
	// Status is the HTTP status, 200 to 599; interim replies are passed over.
	Status uint16 `cbor:"1,keyasint"`
	// Headers are the reply's, sorted by name, names in canonical form; several values of one name keep their order.
	// Values that are not UTF-8 are read as ISO 8859-1.
	Headers []Header `cbor:"2,keyasint,omitempty"`
	// Body is as the server sent it; a content encoding is not undone.
	Body []byte `cbor:"3,keyasint,omitempty"`
}

// Header returns the first value of a header by its canonical name, or "".
func (r HTTPReply) Header(name string) string {
	for _, h := range r.Headers {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}
