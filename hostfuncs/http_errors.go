package hostfuncs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/wrun-dev/wrun/toolabi"
)

func invalidf(format string, a ...any) error {
	return toolabi.NewError(toolabi.Invalid, fmt.Sprintf(format, a...))
}

func tooLargef(format string, a ...any) error {
	return toolabi.NewError(toolabi.TooLarge, fmt.Sprintf(format, a...))
}

// unsent is the error of a request of which nothing was written: it may be sent again.
func (r *request) unsent(ctx context.Context, detail string, err error) *toolabi.Error {
	code, text := toolabi.Unavailable, err.Error()
	var lookup *net.DNSError
	if errors.As(err, &lookup) {
		text = lookup.Err // without the address of the name server
	}
	if isTimeout(ctx, err) {
		code, text = toolabi.Timeout, "the time ran out"
	} else if ctx.Err() != nil {
		text = "the call was given up"
	}
	e := toolabi.NewError(code, toolabi.CleanLine(fmt.Sprintf("%s: %s: %s; nothing was sent", r.function, r.origin, text), 500))
	e.Detail, e.Retry = detail, toolabi.RetrySafe
	return e
}

// unanswered is the error of a request that may have reached the server, and to which no complete reply came. What the
// server sent is not quoted: it can repeat what it was sent.
func (r *request) unanswered(ctx context.Context, sent int64, err error) *toolabi.Error {
	code, detail, text := toolabi.Unavailable, "closed", "the connection broke"
	var bad *replyError
	switch {
	case isTimeout(ctx, err):
		code, detail, text = toolabi.Timeout, "timeout", "the time ran out"
	case ctx.Err() != nil:
		detail, text = "given_up", "the call was given up"
	case errors.As(err, &bad):
		code, detail, text = bad.code, bad.detail, bad.text
	}
	e := toolabi.NewError(code, fmt.Sprintf("%s: %s: %s before a complete reply; %d bytes were sent", r.function, r.origin, text, sent))
	if bad != nil && code == toolabi.TooLarge {
		e.Message = fmt.Sprintf("%s: %s: %s", r.function, r.origin, text)
	}
	if bad != nil && bad.answered && code != toolabi.TooLarge {
		e.Message = fmt.Sprintf("%s: %s: %s; %d bytes were sent", r.function, r.origin, text, sent)
	}
	switch {
	case r.scarce && code == toolabi.TooLarge:
		e.Message += "; nothing of it was kept, and there is no more room (--allow-artifacts=SIZE)"
	case r.keep > 0:
		e.Message += "; nothing of it was kept"
	}
	e.Detail, e.Effect = detail, toolabi.EffectUnknown
	if bad != nil && bad.answered {
		e.Effect = toolabi.EffectApplied
	}
	if r.again && e.Effect == toolabi.EffectUnknown && code != toolabi.TooLarge { // what took place is not sent again
		e.Retry = toolabi.RetrySafe
	}
	return e
}

// replyError says what is wrong with a reply.
type replyError struct {
	code     toolabi.Code
	detail   string
	text     string
	answered bool // a final status came, so the server did what it did
}

func (e *replyError) Error() string { return e.text }

func malformed(text string) error {
	return &replyError{code: toolabi.Unavailable, detail: "malformed", text: text}
}

// broken tells a connection that ended from one whose bytes make no sense.
func broken(err error, otherwise string) error {
	var network net.Error
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) || errors.Is(err, net.ErrClosed) {
		return err
	}
	return malformed(otherwise)
}

func isTimeout(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return errors.Is(ctx.Err(), context.DeadlineExceeded)
	}
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}
