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
	// MaxRedirects is the most redirects that http_fetch follows.
	MaxRedirects = 5
	// MaxHTTPInflation is how many times longer than its gzip a body may be that the host undoes, from MinHTTPInflation bytes on.
	MaxHTTPInflation = 200
	MinHTTPInflation = 1 << 20
)

// How long each part of an exchange may take, in milliseconds, within the time that the request has as a whole.
const (
	// HTTPResolveMS is for finding the addresses of a name.
	HTTPResolveMS = 10_000
	// HTTPConnectMS is for the connection, whichever of the addresses it is to.
	HTTPConnectMS = 15_000
	// HTTPHandshakeMS is for the handshake of TLS.
	HTTPHandshakeMS = 15_000
	// HTTPHeadMS is from the end of a request to the end of its reply's headers.
	HTTPHeadMS = 180_000
	// HTTPPauseMS is how long a body may pause.
	HTTPPauseMS = 30_000
)

// HTTPRequest is the request of http_fetch and http_send.
//
// Headers and Body may hold {{secret:NAME}}, see SecretRef: the host fills the secret in, for the origin that it is bound to.
//
// Errors: Invalid for a URL, method or header that is not allowed (nothing was sent); Denied when the origin, the method, the
// path or the secret was not granted; NotFound for a BodyArtifact that the run does not have; TooLarge when a cap is exceeded;
// Timeout and Unavailable when no reply came. Effect in the error is None as long as no byte was written to the connection. A
// status of 400 or more is a reply, not an error.
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
	// Redirects is how many redirects http_fetch follows, at most MaxRedirects, and one more is an error; 0 means none, and a
	// redirect is the reply. Each hop is judged as the first one was. Across origins no header goes along but Accept,
	// Accept-Language, Range and User-Agent. http_send follows none.
	Redirects uint8 `cbor:"6,keyasint,omitempty"`
	// Decompress asks the server for gzip and undoes one layer of it, in which case Content-Encoding and Content-Length are taken
	// out of the reply's headers. Accept-Encoding is then the host's to set, and Range is refused.
	Decompress bool `cbor:"7,keyasint,omitempty"`
	// BodyArtifact is an artifact of the run, which http_send sends in place of Body, at most MaxArtifact bytes. Secrets are not
	// filled in.
	BodyArtifact string `cbor:"8,keyasint,omitempty"`
	// ToArtifact is the longest body of a reply, in bytes, that is kept as an artifact instead of being answered; at most
	// MaxArtifact, 0 means that the body is in the reply.
	ToArtifact uint64 `cbor:"9,keyasint,omitempty"`
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
	// Body is as the server sent it; a content encoding is not undone unless Decompress was asked for. Values of secrets are
	// replaced, see SecretRef.
	Body []byte `cbor:"3,keyasint,omitempty"`
	// Artifact is the body's artifact with ToArtifact, and Size its length in bytes.
	Artifact string `cbor:"4,keyasint,omitempty"`
	Size     uint64 `cbor:"5,keyasint,omitempty"`
	// URL is where the reply came from after redirects; "" when there were none.
	URL string `cbor:"6,keyasint,omitempty"`
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
