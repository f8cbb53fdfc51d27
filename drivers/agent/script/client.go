package script

import (
	"context"
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/toolabi"
)

// Client returns a client whose model is the script: Send goes nowhere, and answers at once. It costs nothing, so no
// effect is unknown; only an answer of more than model.MaxAnswer bytes is lost like one that was paid for.
func Client(s *Script) model.Client { return client{s} }

type client struct{ script *Script }

// Encode returns the request as JSON. Errors: an answer of another protocol, and more than model.MaxRequest bytes.
func (client) Encode(req model.Request) ([]byte, error) {
	b, err := encodeRequest(req)
	if err == nil && len(b) > model.MaxRequest {
		err = fmt.Errorf("the request has %d bytes, at most %d can be sent", len(b), model.MaxRequest)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

// Send lets the script answer. Attempt's Key and Timeout make no difference.
func (c client) Send(ctx context.Context, request []byte, a model.Attempt) (model.Answer, error) {
	if err := ctx.Err(); err != nil {
		e := toolabi.NewError(toolabi.Unavailable, "broken off before anything was asked: "+err.Error())
		e.Retry = toolabi.RetrySafe
		return model.Answer{}, e
	}
	if a.BeforeSend != nil {
		if err := a.BeforeSend(); err != nil {
			return model.Answer{}, err
		}
	}
	req, err := decodeRequest(request)
	if err != nil {
		return model.Answer{}, toolabi.NewError(toolabi.Invalid, err.Error())
	}
	answer, err := c.script.Answer(req)
	if err != nil {
		return model.Answer{}, err
	}
	if len(answer.Message) > model.MaxAnswer {
		e := toolabi.NewError(toolabi.TooLarge, fmt.Sprintf("the answer has %d bytes, at most %d are read", len(answer.Message), model.MaxAnswer))
		e.Effect = toolabi.EffectUnknown // as of a model that is paid for what it writes
		return model.Answer{}, e
	}
	if a.Progress != nil {
		if said, err := c.Read(answer); err == nil {
			a.Progress(int64(len(answer.Message)), said.Text)
		}
	}
	return answer, nil
}

// Read says what a scripted answer says.
func (client) Read(answer model.Answer) (model.Said, error) {
	if answer.Protocol != Protocol {
		return model.Said{}, fmt.Errorf("read an answer: it is of the protocol %.40q, not %s", answer.Protocol, Protocol)
	}
	a, err := readMessage(answer.Message)
	if err != nil {
		return model.Said{}, err
	}
	said := model.Said{Text: strings.ToValidUTF8(string(a.Text), "\uFFFD"), Cut: answer.Stop == cutWord}
	for _, c := range a.Calls {
		said.Calls = append(said.Calls, model.Call{ID: string(c.ID), Tool: string(c.Tool), Input: []byte(c.Input)})
	}
	return said, nil
}
