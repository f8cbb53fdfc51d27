package toolabi

import (
	"strconv"
	"strings"
)

// Code names a kind of error that crosses the sandbox. The list is closed and append-only. A Code is an error itself, so
// that errors.Is(err, toolabi.Denied) asks for it.
type Code uint16

// The codes, with what each one means.
const (
	// Denied: the grants or the tool's declaration do not allow it. Nothing was done.
	Denied Code = 1
	// NotFound: what was asked for does not exist.
	NotFound Code = 2
	// Conflict: what was expected is not what is there.
	Conflict Code = 3
	// Timeout: the time allowed for it ran out.
	Timeout Code = 4
	// Unavailable: the other side cannot be reached or broke off.
	Unavailable Code = 5
	// TooLarge: a size is over its cap.
	TooLarge Code = 6
	// Invalid: the request cannot be understood or is not allowed in this form. Nothing was done.
	Invalid Code = 7
	// RateLimited: asked too often.
	RateLimited Code = 8
	// Unsupported: this host does not have the function.
	Unsupported Code = 9
	// Failed: the tool itself said that it failed; Detail holds the tool's own code.
	Failed Code = 10
	// Trapped: the module stopped with a WebAssembly trap.
	Trapped Code = 11
	// Exited: the module left through proc_exit; a program, with another status than 0.
	Exited Code = 12
	// Protocol: the module broke the ABI.
	Protocol Code = 13
	// LimitTime: the call used up its time.
	LimitTime Code = 14
	// LimitMemory: the call asked for more memory than it may have.
	LimitMemory Code = 15
	// LimitOutput: the call wrote more than it may.
	LimitOutput Code = 16
	// LimitFuel: the call used up its fuel.
	LimitFuel Code = 17
	// BadInput: the input does not match the tool's schema. The tool was not entered.
	BadInput Code = 18
	// BadOutput: the tool's output does not match its schema. The output is recorded.
	BadOutput Code = 19
	// Internal: the host failed at it; the message says how.
	Internal Code = 20
	// Expired: what it depended on is no longer valid.
	Expired Code = 21
)

var codeNames = map[Code]string{
	Denied: "denied", NotFound: "not_found", Conflict: "conflict", Timeout: "timeout", Unavailable: "unavailable",
	TooLarge: "too_large", Invalid: "invalid", RateLimited: "rate_limited", Unsupported: "unsupported", Failed: "failed",
	Trapped: "trapped", Exited: "exited", Protocol: "protocol", LimitTime: "limit_time", LimitMemory: "limit_memory",
	LimitOutput: "limit_output", LimitFuel: "limit_fuel", BadInput: "bad_input", BadOutput: "bad_output",
	Internal: "internal", Expired: "expired",
}

// String returns the code's name.
func (c Code) String() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	return "code " + strconv.Itoa(int(c))
}

// Error returns the code's name.
func (c Code) Error() string { return c.String() }

// IsLimit says whether the code is one of the limits.
func (c Code) IsLimit() bool { return c >= LimitTime && c <= LimitFuel }

// Retry says whether asking again can help.
type Retry uint8

// The three answers.
const (
	RetryNever Retry = 1
	RetrySafe  Retry = 2
	RetryAfter Retry = 3
)

// EffectState says what is known of the effect that an error belongs to.
type EffectState uint8

// The three answers.
const (
	// EffectNone: nothing left the host.
	EffectNone EffectState = 1
	// EffectUnknown: it may have taken place.
	EffectUnknown EffectState = 2
	// EffectApplied: it took place.
	EffectApplied EffectState = 3
)

// String returns none, unknown or applied.
func (e EffectState) String() string {
	switch e {
	case EffectNone:
		return "none"
	case EffectUnknown:
		return "unknown"
	case EffectApplied:
		return "applied"
	}
	return "effect " + strconv.Itoa(int(e))
}

// Error is an error that crosses the sandbox in either direction, and that is recorded as the outcome of a step.
type Error struct {
	// Code is from the closed list.
	Code Code `cbor:"1,keyasint"`
	// Message is for people, at most MaxText bytes.
	Message string `cbor:"2,keyasint,omitempty"`
	// Retry says whether asking again can help; 0 reads as RetryNever.
	Retry Retry `cbor:"3,keyasint,omitempty"`
	// Effect says what is known of the effect; 0 reads as EffectNone.
	Effect EffectState `cbor:"4,keyasint,omitempty"`
	// RetryAfterMS is how long to wait with RetryAfter, in milliseconds.
	RetryAfterMS uint64 `cbor:"5,keyasint,omitempty"`
	// Detail is a short word of the tool's or the function's own, at most 64 bytes.
	Detail string `cbor:"6,keyasint,omitempty"`
}

// NewError returns an error whose effect is EffectNone and that is not worth a retry. What is not UTF-8 in the message is
// replaced, because no message could carry it.
func NewError(code Code, message string) *Error {
	return &Error{Code: code, Message: CutText(strings.ToValidUTF8(message, "\uFFFD"), MaxText), Retry: RetryNever, Effect: EffectNone}
}

// Error returns "code: message".
func (e *Error) Error() string {
	s := e.Code.String()
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

// Is reports whether target is this error's code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}
