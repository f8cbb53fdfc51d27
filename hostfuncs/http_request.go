package hostfuncs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// request is a request that was found to be in order, ready to be written.
type request struct {
	function string
	method   string
	origin   origin
	head     []byte
	body     []byte
	timeout  time.Duration
	again    bool // whether it may be sent again
}

// prepare judges everything about a request that can be judged without a network, and lays out its bytes.
func prepare(c Call, function string, req toolabi.HTTPRequest) (*request, error) {
	o, target, err := splitURL(req.URL)
	if err != nil {
		return nil, invalidf("%s: %v", function, err)
	}
	if err := checkHeaders(req.Headers); err != nil {
		return nil, err
	}
	if len(req.Body) > toolabi.MaxHTTPBody {
		return nil, tooLargef("%s: a body of %d bytes, at most %d are allowed", function, len(req.Body), toolabi.MaxHTTPBody)
	}
	if req.TimeoutMS > toolabi.MaxHTTPTimeout {
		return nil, invalidf("%s: a timeout of %d ms, at most %d are allowed", function, req.TimeoutMS, toolabi.MaxHTTPTimeout)
	}
	if !isHeaderValue(c.Key) || len(c.Key) > 1024 {
		return nil, fmt.Errorf("%s: the idempotency key cannot be sent in a header", function) // the host's own fault
	}
	if err := permit(c, function, req.Method, o, target); err != nil {
		return nil, err
	}
	return &request{
		function: function, method: req.Method, origin: o,
		head: layOut(c, o, target, req), body: req.Body,
		timeout: timeoutOf(req), again: c.Repeatable || function == toolabi.FuncHTTPFetch,
	}, nil
}

// layOut writes the request line and the headers: the host's first, then the tool's in their order.
func layOut(c Call, o origin, target string, req toolabi.HTTPRequest) []byte {
	var b strings.Builder
	line := func(name, value string) { b.WriteString(name + ": " + value + "\r\n") }
	b.WriteString(req.Method + " " + target + " HTTP/1.1\r\n")
	line("Host", o.authority())
	line("Connection", "close")
	if len(req.Body) > 0 || (req.Method != "GET" && req.Method != "HEAD") {
		line("Content-Length", strconv.Itoa(len(req.Body)))
	}
	if c.Key != "" {
		line("Idempotency-Key", c.Key)
	}
	agent := false
	for _, h := range req.Headers {
		line(h.Name, h.Value)
		agent = agent || strings.EqualFold(h.Name, "User-Agent")
	}
	if !agent {
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

// httpCheck judges a request completely without sending it.
func httpCheck(function string, method func(toolabi.HTTPRequest) error) func(Call, []byte) error {
	return func(c Call, raw []byte) error {
		var req toolabi.HTTPRequest
		if err := toolabi.Decode(raw, &req); err != nil {
			return toolabi.NewError(toolabi.Invalid, function+": "+err.Error())
		}
		if err := method(req); err != nil {
			return err
		}
		_, err := prepare(c, function, req)
		return err
	}
}

func httpTimeout(raw []byte) time.Duration {
	var req toolabi.HTTPRequest
	if toolabi.Decode(raw, &req) != nil {
		return 0 // will be refused at once
	}
	return timeoutOf(req)
}

// httpDescribe says method, host and path. The query is left out: it may hold what should not be shown.
func httpDescribe(raw []byte) string {
	var req toolabi.HTTPRequest
	if toolabi.Decode(raw, &req) != nil {
		return ""
	}
	method := toolabi.CleanLine(req.Method, 32)
	o, target, err := splitURL(req.URL)
	if err != nil {
		return method
	}
	path, _, _ := strings.Cut(target, "?")
	return toolabi.CleanLine(method+" "+o.authority()+path, 200)
}
