package sdk

import "github.com/wrun-dev/wrun/toolabi"

// HTTPFetch reads from a server with GET or HEAD; no method means GET. The module must Need toolabi.FuncHTTPFetch. The
// reply is recorded; a tool that is entered again gets the recorded one, and asks again only where none was recorded.
//
// Errors are those of toolabi.HTTPRequest, and toolabi.Denied in a tool that declares itself Pure. A status of 400 or
// more is a reply and no error.
func HTTPFetch(req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
	if req.Method == "" {
		req.Method = "GET"
	}
	var reply toolabi.HTTPReply
	err := use(crossHTTPFetch, req, &reply)
	return reply, err
}
