package agent

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
)

// Connect returns a Config.Connect that speaks every protocol. key reads the key from where Model.Key says, before a request is
// announced and again when it is sent, so it remembers what takes long; the caller keeps it out of what is shown. One that cannot be
// read before a request is announced is a *KeyError, which leaves the run resumable.
func Connect(key func(ctx context.Context, source string) ([]byte, error)) func(context.Context, Model) (model.Client, error) {
	return func(_ context.Context, m Model) (model.Client, error) {
		at := model.Endpoint{BaseURL: m.BaseURL, Stream: !m.Whole}
		if m.Key == "" {
			return connect(m, at)
		}
		at.Key = func(ctx context.Context) (string, error) {
			value, err := key(ctx, m.Key)
			return string(value), err
		}
		client, err := connect(m, at)
		return &keyed{client, m.Key, at.Key}, err
	}
}

// connect makes the client of a protocol.
func connect(m Model, at model.Endpoint) (model.Client, error) {
	switch m.Protocol {
	case Scripted:
		s, err := script.Parse([]byte(m.Script))
		if err != nil {
			return nil, fmt.Errorf("the script of the run cannot be read: %w", err)
		}
		return script.Client(s), nil
	case OpenAI:
		return model.OpenAI(at), at.Check()
	case Anthropic:
		return model.Anthropic(at), at.Check()
	}
	return nil, fmt.Errorf("this program does not speak the protocol %q", m.Protocol)
}

// KeyError says that the key could not be read that the provider of a run's model wants. Nothing was announced and nothing was sent.
type KeyError struct {
	Run string
	// Source is where it comes from, as Model.Key.
	Source string
	Err    error
}

// Error says what is wrong with the source.
func (e *KeyError) Error() string { return "nothing was sent: " + e.Err.Error() }

// Unwrap returns what is wrong with the source.
func (e *KeyError) Unwrap() error { return e.Err }

// keyed is a client that sends a key.
type keyed struct {
	model.Client
	source string
	read   func(ctx context.Context) (string, error)
}
