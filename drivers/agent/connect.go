package agent

import (
	"context"
	"fmt"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
)

// Connect returns a Config.Connect that speaks every protocol. key reads the key from where Model.Key says, each time that
// something is sent; the caller keeps it out of what is shown.
func Connect(key func(ctx context.Context, source string) ([]byte, error)) func(context.Context, Model) (model.Client, error) {
	return func(_ context.Context, m Model) (model.Client, error) {
		at := model.Endpoint{BaseURL: m.BaseURL, Stream: !m.Whole}
		if m.Key != "" {
			at.Key = func(ctx context.Context) (string, error) {
				value, err := key(ctx, m.Key)
				return string(value), err
			}
		}
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
}
