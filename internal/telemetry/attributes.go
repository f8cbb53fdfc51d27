package telemetry

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// attribute is a key with its value: a string, an int64 or a float64.
type attribute struct {
	key   string
	value any
}

// How long a value may be, in bytes, and one that is a body.
const (
	maxText = 1 << 10
	maxBody = 8 << 10
)

func text(key, value string) attribute { return attribute{key, clean(value, maxText)} }

func body(key string, value []byte) attribute {
	return attribute{key, clean(string(value[:min(len(value), maxBody+1)]), maxBody)}
}

// clean is a text as OTLP can carry it.
func clean(s string, most int) string {
	return toolabi.CutText(strings.ToValidUTF8(s, "\uFFFD"), most)
}

// outcomeOf is the word for what came of a step.
func outcomeOf(err *toolabi.Error) string {
	switch {
	case err == nil:
		return "ok"
	case err.Code == toolabi.Denied:
		return "denied"
	}
	return "failed"
}

// effectOf is what is known of a step's effect, "" of one that has none.
func effectOf(ev runtime.Event) string {
	if ev.Class != toolabi.Effect && ev.Class != toolabi.Once {
		return ""
	}
	if ev.Err == nil {
		return toolabi.EffectApplied.String()
	}
	return max(ev.Err.Effect, toolabi.EffectNone).String()
}

// asksModel says whether a step asks a model.
func asksModel(ev runtime.Event) bool {
	return ev.Name == agent.StepName && ev.Class == toolabi.Effect && ev.Step.Parent() == ""
}

// usesHTTP says whether a step is a request over HTTP.
func usesHTTP(ev runtime.Event) bool {
	return ev.Name == toolabi.FuncHTTPFetch || ev.Name == toolabi.FuncHTTPSend
}

// describe names a step's span and says what it is.
func (o *Observer) describe(ev runtime.Event) (name string, k kind, as []attribute) {
	as = []attribute{
		text("wrun.run", ev.Run), text("wrun.step", string(ev.Step)), text("wrun.name", ev.Name), text("wrun.class", ev.Class.String()),
		{"wrun.attempt", int64(ev.Step.Attempt())},
	}
	switch {
	case asksModel(ev):
		of, more := o.modelStep(ev)
		return strings.TrimSpace("chat " + of), client, append(as, more...)
	case usesHTTP(ev):
		method, more := o.httpStep(ev)
		return strings.TrimSpace(clean(ev.Name, maxText) + " " + method), client, append(as, more...)
	case ev.Class == toolabi.Call:
		as = append(as, o.bodies(ev.Request, ev.Reply)...)
		return "call " + clean(ev.Name, maxText), internal, as
	}
	return clean(ev.Name, maxText), internal, as
}

// modelStep says what a model was asked and what that took, in the words of the conventions for generative AI.
func (o *Observer) modelStep(ev runtime.Event) (name string, as []attribute) {
	as, name = modelOf(ev)
	answer := new(model.Answer)
	if ev.Reply == nil || toolabi.Decode(ev.Reply, answer) != nil {
		return name, append(as, o.bodies(ev.Request, nil)...)
	}
	if answer.Model != "" {
		as = append(as, text("gen_ai.response.model", answer.Model))
	}
	u := answer.Usage
	as = append(as, attribute{"gen_ai.usage.input_tokens", u.Input + u.CacheRead + u.CacheWrite}, attribute{"gen_ai.usage.output_tokens", u.Output})
	return name, append(as, o.bodies(ev.Request, answer.Message)...)
}

// modelOf is which model is asked, as attributes of spans and of metrics.
func modelOf(ev runtime.Event) (as []attribute, name string) {
	provider, name, _ := strings.Cut(ev.Text, "/")
	as = []attribute{text("gen_ai.operation.name", "chat"), text("gen_ai.provider.name", provider)}
	if name != "" {
		as = append(as, text("gen_ai.request.model", name))
	}
	return as, clean(name, maxText)
}

// httpStep says where a request goes and what was answered. Its path can hold what is nobody else's business, and is a body.
func (o *Observer) httpStep(ev runtime.Event) (method string, as []attribute) {
	var req toolabi.HTTPRequest
	if ev.Request == nil || toolabi.Decode(ev.Request, &req) != nil {
		return "", nil
	}
	method = clean(req.Method, maxText)
	as = append(as, text("http.request.method", method))
	if u, err := url.Parse(req.URL); err == nil {
		as = append(as, text("server.address", u.Hostname()), attribute{"server.port", portOf(u)})
	}
	var reply toolabi.HTTPReply
	if ev.Reply != nil && toolabi.Decode(ev.Reply, &reply) == nil {
		as = append(as, attribute{"http.response.status_code", int64(reply.Status)})
	}
	if o.cfg.Bodies {
		as = append(as, text("url.full", req.URL))
	}
	return method, append(as, o.bodies(req.Body, reply.Body)...)
}

func portOf(u *url.URL) int64 {
	port, err := strconv.ParseInt(u.Port(), 10, 32)
	switch {
	case err == nil:
		return port
	case u.Scheme == "http":
		return 80
	}
	return 443
}

// bodies are the attributes with what was asked and answered, where they are wanted.
func (o *Observer) bodies(request, reply []byte) (as []attribute) {
	if !o.cfg.Bodies {
		return nil
	}
	if len(request) > 0 {
		as = append(as, body("wrun.request", request))
	}
	if len(reply) > 0 {
		as = append(as, body("wrun.reply", reply))
	}
	return as
}
