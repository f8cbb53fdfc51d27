package sdk

import "github.com/wrun-dev/wrun/toolabi"

// Fail returns the error with which a tool says that it failed. Detail is a short word of the tool's own that callers
// can branch on, at most 64 bytes; message is for people, at most toolabi.MaxText bytes. The code is toolabi.Failed. The
// fields Retry and RetryAfterMS may be set before it is returned.
func Fail(detail, message string) *toolabi.Error {
	e := toolabi.NewError(toolabi.Failed, message)
	e.Detail = toolabi.CutText(detail, 64)
	return e
}
