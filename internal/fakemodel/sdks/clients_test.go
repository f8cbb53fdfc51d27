package sdks_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/fakemodel"
)

// asking is how a client asks.
type asking struct {
	url     string
	stream  bool
	retries int
	apiKey  string
	key     string // the idempotency key, "" for none
}

// said is what the last answer of a conversation said, and what all of them asked for.
type said struct {
	text, stop    string
	calls         []string // tool and arguments
	input, output int64
}

// client has a conversation: it tells the user's word, answers every call of the tool accounts_balance with the result {"balance":7},
// and returns what was said when there are no more calls.
type client struct {
	name string
	talk func(ctx context.Context, a asking) (said, error)
	// status is that of an error that the server sent, and Retry-After.
	status func(error) (int, string)
}

var clients = []client{{"openai", talkToOpenAI, statusOfOpenAI}, {"anthropic", talkToAnthropic, statusOfAnthropic}}

func talkToOpenAI(ctx context.Context, a asking) (said, error) {
	options := []option.RequestOption{option.WithBaseURL(a.url + "/v1"), option.WithAPIKey(a.apiKey), option.WithMaxRetries(a.retries)}
	if a.key != "" {
		options = append(options, option.WithHeader("Idempotency-Key", a.key))
	}
	c := openai.NewClient(options...)
	params := openai.ChatCompletionNewParams{
		Model:    "m",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("be kind"), openai.UserMessage("x")},
		Tools:    []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "accounts_balance"})},
	}
	var out said
	for {
		answer, err := askOpenAI(ctx, c, params, a.stream)
		if err != nil {
			return out, err
		}
		if len(answer.Choices) != 1 {
			return out, errors.New("the answer has no choice")
		}
		choice := answer.Choices[0]
		out.text, out.stop = choice.Message.Content, choice.FinishReason
		out.input, out.output = answer.Usage.PromptTokens, answer.Usage.CompletionTokens
		if len(choice.Message.ToolCalls) == 0 {
			return out, nil
		}
		params.Messages = append(params.Messages, choice.Message.ToParam())
		for _, call := range choice.Message.ToolCalls {
			out.calls = append(out.calls, call.Function.Name+" "+call.Function.Arguments)
			params.Messages = append(params.Messages, openai.ToolMessage(`{"balance":7}`, call.ID))
		}
	}
}

func askOpenAI(ctx context.Context, c openai.Client, params openai.ChatCompletionNewParams, stream bool) (*openai.ChatCompletion, error) {
	if !stream {
		return c.Chat.Completions.New(ctx, params)
	}
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	var acc openai.ChatCompletionAccumulator
	s := c.Chat.Completions.NewStreaming(ctx, params)
	defer s.Close()
	for s.Next() {
		if !acc.AddChunk(s.Current()) {
			return nil, errors.New("a chunk does not fit")
		}
	}
	return &acc.ChatCompletion, s.Err()
}

func statusOfOpenAI(err error) (int, string) {
	var e *openai.Error
	if !errors.As(err, &e) {
		return 0, ""
	}
	return e.StatusCode, e.Response.Header.Get("Retry-After")
}

func talkToAnthropic(ctx context.Context, a asking) (said, error) {
	options := []anthropicoption.RequestOption{
		anthropicoption.WithBaseURL(a.url), anthropicoption.WithAPIKey(a.apiKey), anthropicoption.WithMaxRetries(a.retries),
	}
	if a.key != "" {
		options = append(options, anthropicoption.WithHeader("Idempotency-Key", a.key))
	}
	c := anthropic.NewClient(options...)
	schema := anthropic.ToolInputSchemaParam{Properties: map[string]any{"account": map[string]any{"type": "string"}}}
	params := anthropic.MessageNewParams{
		Model: "m", MaxTokens: 100, System: []anthropic.TextBlockParam{{Text: "be kind"}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("x"))},
		Tools:    []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(schema, "accounts_balance")},
	}
	var out said
	for {
		answer, err := askAnthropic(ctx, c, params, a.stream)
		if err != nil {
			return out, err
		}
		out.text, out.stop = "", string(answer.StopReason)
		out.input, out.output = answer.Usage.InputTokens, answer.Usage.OutputTokens
		var results []anthropic.ContentBlockParamUnion
		for _, block := range answer.Content {
			switch b := block.AsAny().(type) {
			case anthropic.TextBlock:
				out.text += b.Text
			case anthropic.ToolUseBlock:
				input, err := json.Marshal(b.Input)
				if err != nil {
					return out, err
				}
				out.calls = append(out.calls, b.Name+" "+string(input))
				results = append(results, anthropic.NewToolResultBlock(b.ID, `{"balance":7}`, false))
			}
		}
		if results == nil {
			return out, nil
		}
		params.Messages = append(params.Messages, answer.ToParam(), anthropic.NewUserMessage(results...))
	}
}

func askAnthropic(ctx context.Context, c anthropic.Client, params anthropic.MessageNewParams, stream bool) (*anthropic.Message, error) {
	if !stream {
		return c.Messages.New(ctx, params)
	}
	var message anthropic.Message
	s := c.Messages.NewStreaming(ctx, params)
	defer s.Close()
	for s.Next() {
		if err := message.Accumulate(s.Current()); err != nil {
			return nil, err
		}
	}
	return &message, s.Err()
}

func statusOfAnthropic(err error) (int, string) {
	var e *anthropic.Error
	if !errors.As(err, &e) {
		return 0, ""
	}
	return e.StatusCode, e.Response.Header.Get("Retry-After")
}

// everyWay runs a test with each client, streamed and not, against a server of its own.
func everyWay(t *testing.T, cfg fakemodel.Config, test func(t *testing.T, s *fakemodel.Server, c client, a asking)) {
	for _, c := range clients {
		for _, stream := range []bool{false, true} {
			name := c.name
			if stream {
				name += " streamed"
			}
			t.Run(name, func(t *testing.T) {
				s, err := fakemodel.Start(cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				test(t, s, c, asking{url: s.URL(), stream: stream, apiKey: "let-me-in"})
			})
		}
	}
}

func replies(t *testing.T, text string) *script.Script {
	t.Helper()
	s, err := script.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
