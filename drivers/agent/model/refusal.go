package model

import (
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// maxErrorBody is how much is read of the body of an answer that is an error, in bytes.
const maxErrorBody = 64 << 10

// refused is the error of an answer whose status is not one of success. What a provider refuses as it stands it has not worked
// on; of what it failed at nobody knows.
func (x *exchange) refused(res *http.Response) error {
	status := res.StatusCode
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody)) // the status counts, whatever becomes of its explanation
	said := errorMessage(body)
	if said == "" {
		said = http.StatusText(status)
	}
	code, effect, retry := judge(status)
	known := "the provider refused it"
	if effect == toolabi.EffectUnknown {
		known = "the request was sent; no answer came whole"
	}
	if status >= 300 && status < 400 {
		said = "it is somewhere else, and the key goes nowhere else"
	}
	e := x.errorf(code, "status %d: %s; %s", status, x.clean(said), known)
	e.Detail, e.Effect, e.Retry = "status_"+strconv.Itoa(status), effect, retry
	if status == http.StatusTooManyRequests && errorWord(body) == "insufficient_quota" {
		e.Retry = toolabi.RetryNever // waiting pays no bill
	}
	switch res.Header.Get("X-Should-Retry") {
	case "true":
		e.Retry = toolabi.RetrySafe
	case "false":
		e.Retry = toolabi.RetryNever
	}
	if ms := retryAfter(res.Header, time.Now()); ms > 0 && e.Retry != toolabi.RetryNever {
		e.Retry, e.RetryAfterMS = toolabi.RetryAfter, ms
	}
	return e
}

// judge says what a status means.
func judge(status int) (toolabi.Code, toolabi.EffectState, toolabi.Retry) {
	const none, unknown = toolabi.EffectNone, toolabi.EffectUnknown
	const never, safe = toolabi.RetryNever, toolabi.RetrySafe
	switch {
	case status == 429:
		return toolabi.RateLimited, none, safe
	case status == 503 || status == 529:
		return toolabi.Unavailable, none, safe
	case status == 408 || status == 504:
		return toolabi.Timeout, unknown, safe
	case status == 409:
		return toolabi.Conflict, unknown, safe
	case status == 401 || status == 403:
		return toolabi.Denied, none, never
	case status == 404:
		return toolabi.NotFound, none, never
	case status == 413:
		return toolabi.TooLarge, none, never
	case status >= 300 && status < 500:
		return toolabi.Invalid, none, never
	}
	return toolabi.Unavailable, unknown, safe
}

// errorMessage returns what a provider says of an error: {"error":{"message":…}} of both protocols, {"error":"…"} and
// {"message":"…"} as some say it. "" when it says nothing in JSON: a page in HTML explains nothing on one line.
func errorMessage(body []byte) string {
	v := object(body)
	e := member(v, "error")
	for _, found := range [][]byte{member(e, "message"), e, member(v, "message")} {
		if text := unquote(found); len(text) > 0 {
			return asText(text)
		}
	}
	return string(errorWord(body))
}

// errorWord returns the provider's word for an error.
func errorWord(body []byte) string {
	e := member(object(body), "error")
	for _, name := range []string{"code", "type"} {
		if word := asName(member(e, name)); word != "" {
			return word
		}
	}
	return ""
}
