package hostfuncs

import (
	"context"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// sendFunc makes http_send: every method but those of http_fetch and those that are about the connection itself.
func sendFunc(web *client) Func {
	f := Handle(toolabi.FuncHTTPSend, toolabi.Once,
		func(ctx context.Context, c Call, req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
			if err := checkSend(req); err != nil {
				return toolabi.HTTPReply{}, err
			}
			return web.do(ctx, c, toolabi.FuncHTTPSend, req)
		})
	f.Timeout, f.Describe, f.Check = httpTimeout, httpDescribe, httpCheck(toolabi.FuncHTTPSend, checkSend)
	f.MaxReply = httpMaxReply
	f.ShowRequest, f.ParseReply, f.ShowReply = showHTTPRequest, ParseSaidReply, FormatSaidReply
	return f
}

// httpMaxReply is the longest reply to a request: its headers, and its body or, where that is to be kept, the artifact.
func httpMaxReply(raw []byte) int64 {
	const head = 2*toolabi.MaxHTTPHeaderBytes + 16<<10
	var req toolabi.HTTPRequest
	if toolabi.Decode(raw, &req) == nil && req.ToArtifact > 0 {
		return head + int64(min(req.ToArtifact, toolabi.MaxArtifact))
	}
	return head + toolabi.MaxHTTPBody
}

func checkSend(req toolabi.HTTPRequest) error {
	if maySend(req.Method) {
		return nil
	}
	return invalidf("http_send: method %q: want POST, PUT, PATCH, DELETE, OPTIONS or another word, and not GET, HEAD, CONNECT or TRACE",
		toolabi.CleanLine(req.Method, 40))
}

func maySend(method string) bool {
	switch strings.ToUpper(method) {
	case "GET", "HEAD", "CONNECT", "TRACE", "PRI":
		return false
	}
	return len(method) <= 32 && isToken(method)
}
