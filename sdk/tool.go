package sdk

import (
	"context"
	"reflect"
	"time"

	"github.com/wrun-dev/wrun/sdk/internal/registry"
	"github.com/wrun-dev/wrun/toolabi"
)

// The promises that a tool can make about being done twice, as toolabi explains them.
const (
	Pure          = toolabi.Pure
	ReadOnly      = toolabi.ReadOnly
	Idempotent    = toolabi.Idempotent
	Keyed         = toolabi.Keyed
	NonIdempotent = toolabi.NonIdempotent
)

// Tool is one tool of a module. In and Out are described as JSON Schema, after these field tags: doc (a description),
// minimum, maximum, minLength, maxLength, pattern, and enum (values separated by commas). An input field is required
// unless it is a pointer or says omitempty or omitzero; fields that In does not have are refused.
//
// Durations are rounded down to the millisecond.
type Tool[In, Out any] struct {
	// Name is the tool's name: lower-case letters, digits and underscores, at most 64.
	Name string
	// Description tells people and models what the tool does.
	Description string
	// Idempotency is the promise; none means NonIdempotent.
	Idempotency toolabi.Idempotency
	// KeyTTL is how long the provider remembers an idempotency key; mandatory for Keyed.
	KeyTTL time.Duration
	// Lookup names the ReadOnly tool of the module that can tell what became of a call that was cut off in something that
	// must not be repeated. Its In is LookupInput and its Out is LookupOutput.
	Lookup string
	// Settle is how long a request may still be on its way after its timeout; mandatory with Lookup.
	Settle time.Duration
	// Compensate names another tool of the module, which undoes a call. Its In is CompensateInput, and its Out what it
	// likes: that is recorded and not looked at. It undoes what is in the Effects, also when the call failed after them,
	// and is best Idempotent or Keyed, as it may be cut off itself.
	Compensate string
	// Destructive says that what the tool does cannot be undone.
	Destructive bool
	// Approval says that a person has to agree before each call.
	Approval bool
	// Timeout bounds the live time of one call; 0 means the module's limit.
	Timeout time.Duration
	// Retry says how often a failed call may be tried again.
	Retry Retry
	// Run is the tool. Its context is never cancelled in a guest: a call that has to stop is stopped from outside.
	Run func(ctx context.Context, in In) (Out, error)
}

// Retry says how a failed call is tried again.
type Retry struct {
	// Attempts is how many there may be in all; 0 and 1 mean no retry.
	Attempts uint32
	// Backoff is the pause before the second attempt; it doubles each time.
	Backoff time.Duration
	// MaxBackoff bounds the pause; 0 means five minutes.
	MaxBackoff time.Duration
}

// Register adds a tool to the module. It is called in init; what is wrong with the tool is reported when the module is
// described, which lists tools in the order in which they were registered.
func Register[In, Out any](t Tool[In, Out]) {
	entry := registry.Entry{Tool: t.describe(), In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out]()}
	if t.Run != nil {
		entry.Run = func(ctx context.Context, input []byte) ([]byte, error) { return run(ctx, t.Run, input) }
	}
	registry.Default.Add(entry)
	warmTool(entry.In, entry.Out)
}

func (t Tool[In, Out]) describe() toolabi.Tool {
	return toolabi.Tool{
		Name: t.Name, Description: t.Description, Idempotency: t.Idempotency, KeyTTLMS: millis(t.KeyTTL),
		Lookup: t.Lookup, SettleMS: millis(t.Settle), Compensate: t.Compensate,
		Destructive: t.Destructive, Approval: t.Approval, TimeoutMS: millis(t.Timeout),
		Retry: toolabi.RetryPolicy{
			Attempts: t.Retry.Attempts, BackoffMS: millis(t.Retry.Backoff), MaxBackoffMS: millis(t.Retry.MaxBackoff),
		},
	}
}

func run[In, Out any](ctx context.Context, tool func(context.Context, In) (Out, error), input []byte) ([]byte, error) {
	var in In
	if err := registry.ReadInput(input, &in); err != nil {
		return nil, err
	}
	out, err := tool(ctx, in)
	if err != nil {
		return nil, err
	}
	return registry.WriteOutput(out)
}

func millis(d time.Duration) uint64 { return uint64(max(d, 0) / time.Millisecond) }
