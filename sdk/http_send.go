package sdk

import "github.com/wrun-dev/wrun/toolabi"

// HTTPSend sends to a server with any method but GET and HEAD. The module must Need toolabi.FuncHTTPSend. What the tool
// declares decides what follows a crash between the request and the recorded reply: an Idempotent or Keyed tool sends
// again under the same idempotency key, which the host sets; for a NonIdempotent one nothing is sent again.
//
// The same request sent a second time in one call is another request, with another key, once a reply came, whatever its
// status: a provider that honours keys does it again. After an error whose effect is unknown it is the same request, and has
// the same key. So a tool may send again what broke, and for a reply that leaves the outcome open, such as 409 or 503, it
// returns an error whose Retry permits another attempt at the call, which has the keys of the first.
//
// Errors are those of toolabi.HTTPRequest, and toolabi.Denied in a tool that declares itself Pure or ReadOnly. A status
// of 400 or more is a reply and no error. Where a NonIdempotent tool's request may have arrived and no reply came, this
// function does not return: the call stops until it is known what became of it.
func HTTPSend(req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
	var reply toolabi.HTTPReply
	err := use(crossHTTPSend, req, &reply)
	return reply, err
}
