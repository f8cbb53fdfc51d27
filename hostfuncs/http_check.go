package hostfuncs

import (
	"strings"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

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
