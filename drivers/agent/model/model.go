package model

import (
	"context"
	"encoding/json"
	"time"
)

// Request is one question to a model.
type Request struct {
	// Model is the name that the provider knows the model by.
	Model string
	// Instructions say what the model is there for; "" for none.
	Instructions string
	// Messages are the conversation so far, oldest first. It begins with the user's and ends with the user's or with results.
	Messages []Message
	// Tools are the tools that the model may ask for.
	Tools []Tool
	// MaxTokens bounds the answer; 0 leaves it to the provider, or where the protocol wants a number to the client.
	MaxTokens int
	// Temperature is how much chance there is in the answer, as a decimal number; "" leaves it to the provider.
	Temperature json.Number
}

// Message is one part of a conversation. Exactly one of its fields is set.
type Message struct {
	// User is what the user said.
	User string
	// Answer is what the model said: it goes back as it came.
	Answer *Answer
	// Results are what came of the calls that the answer before asked for, in their order.
	Results []Result
}

// Tool is a tool as a model is told of it. A model knows it by Name: letters, digits, _ and -, at most 64.
type Tool struct {
	Name, Description string
	// Input is the JSON Schema of its input; nil for anything.
	Input json.RawMessage
}

// Result is what came of one call.
type Result struct {
	// Call is the id that the model gave to the call, Tool the name that it called.
	Call, Tool string
	// Text is what the model is told. Failed says that it is an error.
	Text   string
	Failed bool
}

// Answer is what a model answered, as it is recorded. Its encoding is a format: fields are only ever added.
type Answer struct {
	// Protocol names the client that can read Message.
	Protocol string `cbor:"1,keyasint"`
	// Message is the model's message as it came, byte for byte; where it came in pieces, put together. It is JSON in the
	// protocol's form, but nothing more is known of it: it can hold what is no UTF-8, and arguments that are no JSON.
	Message []byte `cbor:"2,keyasint"`
	// Stop says why the model ended, in the provider's words; "" where it did not say.
	Stop string `cbor:"3,keyasint,omitempty"`
	// Usage is what the provider counted.
	Usage Usage `cbor:"4,keyasint,omitzero"`
	// Model is the name of the model that answered, ID the provider's name of the answer.
	Model string `cbor:"5,keyasint,omitempty"`
	ID    string `cbor:"6,keyasint,omitempty"`
	// Replayed says that the provider recognised the idempotency key and sent what it had answered before.
	Replayed bool `cbor:"7,keyasint,omitempty"`
}

// Usage counts tokens.
type Usage struct {
	// Input are the tokens of the request that were neither read from a cache nor written to one, Output those of the answer.
	Input  int64 `cbor:"1,keyasint,omitempty"`
	Output int64 `cbor:"2,keyasint,omitempty"`
	// CacheRead are tokens of the request that the provider had kept, CacheWrite those that it keeps from now on.
	CacheRead  int64 `cbor:"3,keyasint,omitempty"`
	CacheWrite int64 `cbor:"4,keyasint,omitempty"`
}

// Total is the number of all tokens.
func (u Usage) Total() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Add returns the sum of two usages.
func (u Usage) Add(o Usage) Usage {
	return Usage{u.Input + o.Input, u.Output + o.Output, u.CacheRead + o.CacheRead, u.CacheWrite + o.CacheWrite}
}

// Said is what an answer says.
type Said struct {
	// Text is what the model wrote, as UTF-8: what is none is replaced by U+FFFD.
	Text string
	// Calls are the tools that it asks for, in its order.
	Calls []Call
	// Cut says that the model was stopped before it was done, by a limit on the length of its answer or by a filter.
	Cut bool
}

// Call is a tool that a model asks for.
type Call struct {
	// ID is the model's name of the call; two calls can have the same.
	ID string
	// Tool is the name that the model called, which need not be that of a tool.
	Tool string
	// Input is what it wrote as the input, byte for byte, which need not be JSON.
	Input []byte
}

// Attempt is one sending of a request.
type Attempt struct {
	// Key is the idempotency key, which goes into a header of that name.
	Key string
	// BeforeSend is called immediately before the first byte of the request leaves. When it returns an error nothing is
	// sent, and Send returns that error as it is. nil permits it.
	BeforeSend func() error
	// Progress is told of the answer as it comes: how many bytes came so far, and the piece of text that is new, which may
	// be empty. It is called in order, by one goroutine at a time, and must return at once. nil for nobody.
	Progress func(bytes int64, text string)
	// Timeout bounds the whole exchange; 0 means DefaultTimeout.
	Timeout time.Duration
}

// DefaultTimeout is how long an exchange with a model may take when nothing else is said.
const DefaultTimeout = 5 * time.Minute

// MaxRequest and MaxAnswer bound an exchange, in bytes. A longer answer is read no further, and lost.
const (
	MaxRequest = 32 << 20
	MaxAnswer  = 16 << 20
)

// Client speaks one protocol. It may be used concurrently.
type Client interface {
	// Encode returns the bytes of a request, the same for the same request in every process and every version. Errors: what
	// cannot be said in the protocol, and more than MaxRequest bytes.
	Encode(Request) ([]byte, error)
	// Send sends the bytes once, and returns the answer when it is there whole. An answer that came whole is returned
	// whatever is in it, as long as it has the protocol's outer form.
	//
	// Errors: what BeforeSend returned; else a *toolabi.Error, whose Effect says whether the request may have been paid for:
	// EffectNone when nothing of it was written or the provider refused it without working on it, EffectUnknown when it was
	// written and no answer came whole. Its Retry says whether another attempt makes sense, and its RetryAfterMS from when on.
	Send(ctx context.Context, request []byte, a Attempt) (Answer, error)
	// Read says what an answer of this protocol says. Errors: an answer without the form of a message.
	Read(Answer) (Said, error)
}

// KeyHeader is the header in which the idempotency key goes out, and ReplayedHeader is set to "true" in an answer that is
// one from before.
const (
	KeyHeader      = "Idempotency-Key"
	ReplayedHeader = "Idempotent-Replayed"
)
