package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/wrun-dev/wrun/toolabi"
)

// maxSaid is how much of what a provider or a connection says stands in an error, in bytes.
const maxSaid = 500

// clean makes what others say fit for an error: it may hold the key, which never stands there.
func (x *exchange) clean(s string) string {
	s = toolabi.CleanLine(s, 64<<10)
	if x.key != "" {
		s = strings.ReplaceAll(s, x.key, "[key]")
	}
	return toolabi.CutText(s, maxSaid)
}

func (x *exchange) errorf(code toolabi.Code, format string, a ...any) *toolabi.Error {
	text := x.client.name() + ": " + x.to.origin + ": " + fmt.Sprintf(format, a...)
	return toolabi.NewError(code, toolabi.CleanLine(text, 2*maxSaid))
}

// unfit is the error of a request that cannot be sent at all.
func (x *exchange) unfit(code toolabi.Code, text string) error {
	e := x.errorf(code, "%s; nothing was sent", text)
	e.Detail = "request"
	return e
}

// keyless is the error of a key that could not be read.
func (x *exchange) keyless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return x.unsent(ctx, err)
	}
	e := x.errorf(toolabi.Denied, "read the key of the account: %s; nothing was sent", x.clean(err.Error()))
	e.Detail = "key"
	return e
}

// failed is the error of an exchange in which no header of an answer came.
func (x *exchange) failed(ctx context.Context, g gateState, err error) error {
	switch {
	case g.refusal != nil:
		return g.refusal
	case !g.written:
		return x.unsent(ctx, err)
	}
	return x.unanswered(ctx, g.sent, err)
}

// unsent is the error of a request of which nothing was written.
func (x *exchange) unsent(ctx context.Context, err error) error {
	code, detail, text := toolabi.Unavailable, "connect", x.clean(err.Error())
	var lookup *net.DNSError
	var op *net.OpError
	switch {
	case isTimeout(ctx, err):
		code, detail, text = toolabi.Timeout, "timeout", "the time ran out"
	case ctx.Err() != nil:
		detail, text = "given_up", "the exchange was given up"
	case errors.As(err, &lookup):
		detail, text = "dns", x.clean(lookup.Err) // without the address of the name server
	case isTLS(err):
		detail = "tls"
	case errors.As(err, &op) && op.Op == "proxyconnect":
		detail = "proxy"
	}
	e := x.errorf(code, "%s; nothing was sent", text)
	e.Detail, e.Retry = detail, toolabi.RetrySafe
	return e
}

func isTLS(err error) bool {
	var shake *handshakeError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var host x509.HostnameError
	return errors.As(err, &shake) || errors.As(err, &certificate) || errors.As(err, &record) ||
		errors.As(err, &alert) || errors.As(err, &host)
}

// unanswered is the error of a request that was written, and to which no whole answer came. It may be paid for.
func (x *exchange) unanswered(ctx context.Context, sent int64, err error) error {
	code, detail, text := toolabi.Unavailable, "closed", "the connection broke"
	retry := toolabi.RetrySafe
	var bad *answerError
	switch {
	case errors.As(err, &bad):
		code, detail, text = bad.code, bad.detail, bad.text
	case errors.Is(err, errLong), errors.Is(err, errEventSize):
		code, detail, text = toolabi.TooLarge, "too_large", fmt.Sprintf("the answer is over %d bytes", MaxAnswer)
		retry = toolabi.RetryNever // it would cost as much again
	case errors.Is(err, errCut):
		detail, text = "cut", errCut.Error()
	case errors.Is(err, errNoAnswer), errors.Is(err, errOrder):
		detail, text = "malformed", err.Error()
	case isTimeout(ctx, err):
		code, detail, text = toolabi.Timeout, "timeout", "the time ran out"
	case ctx.Err() != nil:
		detail, text = "given_up", "the exchange was given up"
	case !isBroken(err):
		detail, text = "malformed", "the answer is no HTTP"
	}
	e := x.errorf(code, "%s; the request was sent (%d bytes); no answer came whole", text, sent)
	e.Detail, e.Effect, e.Retry = detail, toolabi.EffectUnknown, retry
	return e
}

func isTimeout(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return errors.Is(ctx.Err(), context.DeadlineExceeded)
	}
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}

// isBroken says whether err is a connection that ended, and not one whose bytes make no sense.
func isBroken(err error) bool {
	var network net.Error
	var number syscall.Errno
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, &network) || errors.As(err, &number) ||
		strings.Contains(err.Error(), "closed") // by the server before it was asked: net/http has no name for that error
}
