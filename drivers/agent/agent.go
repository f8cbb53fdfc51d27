package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/wrun-dev/wrun/toolabi"
)

// Name is the driver's name in a run.
const Name = "agent"

// Version names what an agent's log means: which steps there are, and which bytes a request has. A run that was begun under
// another one must not be resumed with this one.
const Version = "1"

// Agent is what a run is made of beside its modules and its task. It is pinned as the plan of the run, so nothing of it can
// change on the way.
type Agent struct {
	// Name is what people call it; "" for none.
	Name string `json:"name,omitempty"`
	// Instructions are told to the model before anything else.
	Instructions string `json:"instructions,omitempty"`
	// Model is who is asked.
	Model Model `json:"model"`
	// Tools are the tools that the model may ask for, as "module.tool", in the order in which it is told of them.
	Tools []string `json:"tools,omitempty"`
	// Limits bound the run.
	Limits Limits `json:"limits,omitzero"`
	// Rules is the text of a policy, as package policy reads it. What it does not let begin does not; what it allows is still
	// asked about where the operator's policy or the tool's manifest wants that.
	Rules string `json:"rules,omitempty"`
	// Context bounds what the model is told of what happened.
	Context Window `json:"context,omitzero"`
}

// Model says who is asked, and how.
type Model struct {
	// Protocol is one of the Protocols.
	Protocol string `json:"protocol"`
	// Name is the name that the provider knows the model by; of a scripted one it means nothing.
	Name string `json:"name,omitempty"`
	// BaseURL is where the provider is; "" means the protocol's own.
	BaseURL string `json:"base_url,omitempty"`
	// Key says where the key comes from that the provider wants, as hostfuncs.ReadSecret reads it; "" for none. It is the
	// operator's to say, since it is sent to BaseURL.
	Key string `json:"key,omitempty"`
	// Script is the text that package script reads, of a scripted model.
	Script string `json:"script,omitempty"`
	// MaxTokens bounds one answer, and Temperature is how much chance there is in it, a decimal number.
	MaxTokens   int         `json:"max_tokens,omitempty"`
	Temperature json.Number `json:"temperature,omitempty"`
	// Whole asks for the answer in one piece, instead of as it comes.
	Whole bool `json:"whole,omitempty"`
	// TimeoutMS bounds one exchange, in milliseconds; 0 means model.DefaultTimeout.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
	// Retry is how an exchange is tried again that failed; the zero value means DefaultRetry.
	Retry toolabi.RetryPolicy `json:"retry,omitzero"`
	// Prices are what the tokens cost; nil where nobody said.
	Prices *Prices `json:"prices,omitempty"`
}

// The protocols.
const (
	Scripted  = "scripted"
	OpenAI    = "openai"
	Anthropic = "anthropic"
)

// Protocols lists them.
var protocols = []string{Scripted, OpenAI, Anthropic}

// DefaultRetry is how an exchange is tried again when nothing else is said: twenty times in all, a second and more between. The
// longer pauses suspend the run, so that an outage of the provider does not end it.
var DefaultRetry = toolabi.RetryPolicy{Attempts: 20, BackoffMS: 1000, MaxBackoffMS: 60_000}

// Limits bound a run. Zero means the default, or no limit where there is none.
type Limits struct {
	// Steps is how many answers the model gives at most; 0 means DefaultSteps.
	Steps int64 `json:"steps,omitempty"`
	// Tokens is how many tokens they may take in all, Cost how much they may cost, in millionths. Neither is exact: the answer
	// that goes over it is still paid.
	Tokens int64 `json:"tokens,omitempty"`
	Cost   int64 `json:"cost,omitempty"`
	// TimeMS is how long the run may be driven in all, in milliseconds; what it waits while nobody drives it is not counted.
	TimeMS int64 `json:"time_ms,omitempty"`
	// Calls is how many tools one answer may ask for, the others are refused; 0 means DefaultCalls.
	Calls int `json:"calls,omitempty"`
	// Parallel is how many of them are called at once; 0 means DefaultParallel.
	Parallel int `json:"parallel,omitempty"`
	// Repeats is how often the same call may fail in a row before the run fails; 0 means DefaultRepeats.
	Repeats int `json:"repeats,omitempty"`
}

// The defaults of Limits, and the most that it may say.
const (
	DefaultSteps    = 50
	DefaultCalls    = 32
	DefaultParallel = 8
	DefaultRepeats  = 3

	MaxSteps    = 1_000_000
	MaxCalls    = 1000
	MaxParallel = 64
)

// Window bounds what the model is told. Zero means the default.
type Window struct {
	// Turns is how many answers the model is told of, with what came of them, the latest; 0 means all. The task is always
	// there.
	Turns int `json:"turns,omitempty"`
	// ResultBytes is how much of one result the model is told, in bytes; 0 means DefaultResultBytes. The log has all of it.
	ResultBytes int `json:"result_bytes,omitempty"`
}

// DefaultResultBytes is how much of one result a model is told when nothing else is said.
const DefaultResultBytes = 64 << 10

func or[T ~int | ~int64](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

func (m *Model) timeout(otherwise time.Duration) time.Duration {
	return or(time.Duration(m.TimeoutMS)*time.Millisecond, otherwise)
}

func (m *Model) retry() toolabi.RetryPolicy {
	if m.Retry.Attempts == 0 {
		return DefaultRetry
	}
	return m.Retry
}

// document is an agent as it is pinned.
type document struct {
	Format int   `json:"format"`
	Agent  Agent `json:"agent"`
}

const format = 1

// Pin returns the text that pins the agent in a run. The same agent gives the same text.
func (a *Agent) Pin() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(document{format, *a}); err != nil {
		return nil, fmt.Errorf("pin the agent: %w", err)
	}
	return b.Bytes(), nil
}

// Unpin reads what Pin wrote. What this program does not know is an error, never left out.
func Unpin(text []byte) (*Agent, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var d document
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("read the agent of a run: %w", err)
	}
	if dec.More() {
		return nil, errors.New("read the agent of a run: there is something behind it")
	}
	if d.Format != format {
		return nil, fmt.Errorf("the agent of the run has format %d, this program knows %d", d.Format, format)
	}
	if err := d.Agent.check(); err != nil {
		return nil, fmt.Errorf("read the agent of a run: %w", err)
	}
	return &d.Agent, nil
}
