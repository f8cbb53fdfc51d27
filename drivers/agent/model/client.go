package model

import (
	"context"
	"fmt"
)

// client speaks a protocol with an endpoint.
type client struct {
	protocol
	endpoint Endpoint
}

// OpenAI returns a client for chat completions, as OpenAI offers them and many others after it. Its answers have the protocol
// "openai", and hold the assistant's message.
//
// What is asked of the endpoint is POST BaseURL/chat/completions; the default of BaseURL is https://api.openai.com/v1. There, and
// nowhere else, Request.MaxTokens goes out as max_completion_tokens instead of max_tokens.
func OpenAI(e Endpoint) Client { return &client{openAI{}, e} }

// Anthropic returns a client for Anthropic's messages. Its answers have the protocol "anthropic", and hold the content of the
// message: an array of blocks.
//
// What is asked of the endpoint is POST BaseURL/v1/messages; the default of BaseURL is https://api.anthropic.com.
func Anthropic(e Endpoint) Client { return &client{anthropic{}, e} }

// Encode is as in Client. Whether answers are streamed is no part of the bytes: it is how an answer is delivered, and is added
// when they are sent, so that a run can be resumed where that is set otherwise.
func (c *client) Encode(r Request) ([]byte, error) {
	t, err := c.endpoint.target(c.protocol)
	if err != nil {
		return nil, err
	}
	b, err := c.encode(r, t.native)
	switch {
	case err != nil:
		return nil, fmt.Errorf("encode a request to %s: %w", c.name(), err)
	case len(b) > MaxRequest:
		return nil, fmt.Errorf("encode a request to %s: %d bytes, at most %d are sent", c.name(), len(b), MaxRequest)
	}
	return b, nil
}

// Read is as in Client.
func (c *client) Read(a Answer) (Said, error) {
	if a.Protocol != c.name() {
		return Said{}, fmt.Errorf("read an answer of %s: its protocol is %.40q", c.name(), a.Protocol)
	}
	said, err := c.read(a.Message)
	if err != nil {
		return Said{}, fmt.Errorf("read an answer of %s: %w", c.name(), err)
	}
	said.Cut = isCut(a)
	return said, nil
}

// isCut says whether the answer was ended before the model was done: by a limit on its length, or by a filter of the provider.
func isCut(a Answer) bool {
	switch a.Stop {
	case "length", "content_filter":
		return a.Protocol == openAI{}.name()
	case "max_tokens", "model_context_window_exceeded":
		return a.Protocol == anthropic{}.name()
	}
	return false
}

// Send is as in Client.
func (c *client) Send(ctx context.Context, request []byte, a Attempt) (Answer, error) {
	timeout := a.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	x := exchange{client: c, attempt: a, gate: gate{before: a.BeforeSend}}
	return x.do(ctx, request)
}
