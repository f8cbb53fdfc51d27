package toolabi

import (
	"strconv"
	"strings"
	"time"
)

// RetryAfterMS returns how long a server asks to be left alone, in milliseconds, as its header Retry-After says it (RFC
// 9110, section 10.2.3): a number of seconds, or a date, which counts from the reply's own Date. 0 when it does not say, or
// not so that it can be understood. How long is too long is for the reader: what a server asks for has no bound here.
func (r HTTPReply) RetryAfterMS() uint64 {
	said := strings.TrimSpace(r.Header("Retry-After"))
	if said == "" {
		return 0
	}
	if strings.Trim(said, "0123456789") == "" {
		seconds, err := strconv.ParseUint(said, 10, 64)
		if err != nil || seconds > 1<<50 {
			return 1000 << 50 // for ever, in effect
		}
		return seconds * 1000
	}
	until, err := time.Parse(httpDate, said)
	if err != nil {
		return 0
	}
	now, err := time.Parse(httpDate, strings.TrimSpace(r.Header("Date")))
	if err != nil {
		return 0
	}
	return uint64(max(until.Sub(now).Milliseconds(), 0))
}

// httpDate is the form of a date in HTTP that is sent today (RFC 9110, section 5.6.7).
const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"
