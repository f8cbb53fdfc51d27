package hostfuncs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// refusal is a reply that says no.
type refusal struct{ reply mailReply }

func (e *refusal) Error() string { return fmt.Sprintf("the server answered %d", e.reply.code) }

// refusedRecipient is a refusal of one of the recipients.
type refusedRecipient struct {
	who address
	*refusal
}

func (e *refusedRecipient) Unwrap() error { return e.refusal }

// unfit says that a server cannot do what is needed, with the detail of the error.
type unfit struct{ detail, text string }

func (e *unfit) Error() string { return e.text }

// retryMailAfter is how long a server that says "not now" is left alone, in milliseconds.
const retryMailAfter = 60_000

// failed is the error of a conversation that ended with err. ended says that the end of the message was begun to be written: from
// then on a server may act on it, and before it may not.
func (t *talk) failed(ctx context.Context, err error, ended bool) error {
	var known *toolabi.Error
	var no *refusal
	var bad *unfit
	var unread *readingError
	switch {
	case errors.As(err, &no):
		return t.refused(err, no.reply)
	case errors.As(err, &bad):
		e := t.error(toolabi.Unavailable, bad.text+"; nothing was sent")
		e.Detail = bad.detail
		return e
	case errors.As(err, &unread):
		return t.error(toolabi.Internal, unread.Error()+"; the message was not completed")
	case errors.As(err, &known):
		return known
	case ended:
		return t.unanswered(ctx, err)
	}
	code, text := toolabi.Unavailable, "the connection broke"
	var garbled *replyError
	switch {
	case isTimeout(ctx, err):
		code, text = toolabi.Timeout, "the time ran out"
	case ctx.Err() != nil:
		text = "the call was given up"
	case errors.As(err, &garbled):
		text = garbled.text
	case t.phase == "tls":
		text = err.Error()
	}
	e := t.error(code, fmt.Sprintf("%s: %s; the message was not sent", t.phase, text))
	e.Detail, e.Retry = t.phase, toolabi.RetrySafe
	return e
}

// unanswered is the error of a message that the server may have taken over.
func (t *talk) unanswered(ctx context.Context, err error) error {
	code, detail, text := toolabi.Unavailable, "closed", "the connection broke"
	var garbled *replyError
	switch {
	case isTimeout(ctx, err):
		code, detail, text = toolabi.Timeout, "timeout", "the time ran out"
	case ctx.Err() != nil:
		detail, text = "given_up", "the call was given up"
	case errors.As(err, &garbled):
		detail, text = garbled.detail, garbled.text
	}
	e := t.error(code, fmt.Sprintf("%s after the whole message was sent and before the server said whether it takes %s over", text, t.letter.id))
	e.Detail, e.Effect = detail, toolabi.EffectUnknown
	if t.letter.again {
		e.Retry = toolabi.RetrySafe
	}
	return e
}

// refused is the error of a reply that says no. The message is not taken over then, also when it was sent.
func (t *talk) refused(err error, reply mailReply) error {
	about := t.phase
	var to *refusedRecipient
	if errors.As(err, &to) {
		about += " " + to.who.String()
	}
	text := fmt.Sprintf("%s: the server refused with %d", about, reply.code)
	if words := t.words(reply); words != "" {
		text += ": " + words
	}
	e := t.error(toolabi.Failed, text)
	e.Detail = fmt.Sprintf("smtp_%d", reply.code)
	if reply.kind() == 4 {
		e.Retry, e.RetryAfterMS = toolabi.RetryAfter, retryMailAfter
	}
	return e
}

// words are what a server said, fit to be shown. Of a login nothing is: it may repeat a password in a form that nobody foresaw.
func (t *talk) words(reply mailReply) string {
	if t.phase == "login" {
		return ""
	}
	return toolabi.CleanLine(string(t.vault.Hide([]byte(strings.Join(reply.lines, " ")))), 200)
}

func (t *talk) error(code toolabi.Code, text string) *toolabi.Error {
	return toolabi.NewError(code, toolabi.CleanLine(fmt.Sprintf("mail_send: %s: %s", mailServer(t.letter.server), text), 600))
}
