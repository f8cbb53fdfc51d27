package registry

import (
	"errors"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// EncodeFailure returns the encoded reply of a call that failed.
func EncodeFailure(e *toolabi.Error) []byte { return toolabi.AppendReply(nil, toolabi.Reply{Err: e}) }

// failure returns what a tool's error looks like to its caller. A *toolabi.Error keeps its code; one that was wrapped
// gets the whole text as its message. What is neither failed.
func failure(err error) *toolabi.Error {
	e := toolabi.Error{Code: toolabi.Failed, Message: err.Error(), Retry: toolabi.RetryNever, Effect: toolabi.EffectNone}
	var known *toolabi.Error
	if errors.As(err, &known) && known != nil {
		e = *known
		if error(known) != err {
			e.Message = err.Error()
		}
		if e.Code == 0 {
			e.Code = toolabi.Failed
		}
	}
	e.Message = CleanText(e.Message, toolabi.MaxText)
	e.Detail = CleanText(e.Detail, 64)
	return &e
}

// CleanText returns s as text that the contract can carry: valid UTF-8, at most size bytes.
func CleanText(s string, size int) string {
	return toolabi.CutText(strings.ToValidUTF8(s, "\uFFFD"), size)
}
