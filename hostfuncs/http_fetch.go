package hostfuncs

import (
	"context"

	"github.com/wrun-dev/wrun/toolabi"
)

// fetchFunc makes http_fetch: GET and HEAD, without a body, and redirects where they are wanted.
func fetchFunc(web *client) Func {
	f := Handle(toolabi.FuncHTTPFetch, toolabi.Read,
		func(ctx context.Context, c Call, req toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
			if err := checkFetch(req); err != nil {
				return toolabi.HTTPReply{}, err
			}
			c.Key = "" // what only reads needs none
			return web.do(ctx, c, toolabi.FuncHTTPFetch, req)
		})
	f.Timeout, f.Describe, f.Check = httpTimeout, httpDescribe, httpCheck(toolabi.FuncHTTPFetch, checkFetch)
	f.ShowRequest, f.ParseReply, f.ShowReply = showHTTPRequest, ParseSaidReply, FormatSaidReply
	return f
}

func checkFetch(req toolabi.HTTPRequest) error {
	if !mayFetch(req.Method) {
		return invalidf("http_fetch: method %q: want GET or HEAD; http_send has the others", toolabi.CleanLine(req.Method, 40))
	}
	if len(req.Body) > 0 || req.BodyArtifact != "" {
		return invalidf("http_fetch: %s has no body", req.Method)
	}
	return nil
}

func mayFetch(method string) bool { return method == "GET" || method == "HEAD" }
