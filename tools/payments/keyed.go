package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/wrun-dev/wrun/sdk"
	"github.com/wrun-dev/wrun/toolabi"
)

// tries is how often a request is sent in one call when its connection breaks.
const tries = 3

// retryAfterMS is how long to leave the ledger to what it is working on, unless it asks for more.
const retryAfterMS = 1000

func chargeKeyed(_ context.Context, in ChargeIn) (Charge, error) {
	sdk.Logf(toolabi.LevelInfo, "charging %d cents for %s, once under its key", in.AmountCents, in.Reference)
	return sendKeyed[Charge](in.Ledger, "/charges", in.order(), in.TimeoutMS, "declined")
}

// sendKeyed is send for a keyed tool. A request to which no reply came is sent again at once: it is the same request to
// the host, and has the same key. One that was answered, with whatever status, must not be sent again in the same call,
// because the host would take it for a second request and give it a key of its own; what the answer leaves open is said
// to whoever calls, and the call as a whole can be tried again under its key.
func sendKeyed[Out interface{ known() bool }](ledger, path string, body any, timeoutMS uint32, refusal string) (Out, error) {
	var none Out
	for try := 1; ; try++ {
		reply, err := post(ledger, path, body, timeoutMS)
		switch {
		case err != nil && try < tries && broke(err):
			sdk.Logf(toolabi.LevelWarn, "no reply, sending again under the same key: %v", err)
		case err != nil:
			return none, err
		case open(reply.Status):
			return none, unsettled(reply)
		default:
			return understand[Out](reply, refusal)
		}
	}
}

// broke says whether a connection ended without a reply, after which the request may be sent again.
func broke(err error) bool {
	var e *toolabi.Error
	return errors.As(err, &e) && e.Code == toolabi.Unavailable && e.Effect == toolabi.EffectUnknown && e.Retry == toolabi.RetrySafe
}

// open says whether a status leaves open what becomes of the request: 409 is what a provider replies while the first
// request with the key is in work, the others say that it had no time for it, or failed itself.
func open(status uint16) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// unsettled is the failure for such a status. It is no refusal: an earlier request with the key may be taking place.
func unsettled(reply toolabi.HTTPReply) error {
	e := bad(reply, "unsettled")
	e.Effect, e.Retry, e.RetryAfterMS = toolabi.EffectUnknown, toolabi.RetryAfter, max(retryAfterMS, reply.RetryAfterMS())
	return e
}
