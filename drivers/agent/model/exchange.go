package model

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/toolabi"
)

// exchange is one request and what comes back.
type exchange struct {
	client  *client
	attempt Attempt
	gate    gate
	to      target
	key     string
}

// do does the exchange. ctx ends it.
func (x *exchange) do(ctx context.Context, request []byte) (Answer, error) {
	req, err := x.prepare(ctx, request)
	if err != nil {
		return Answer{}, err
	}
	t := x.transport()
	defer t.CloseIdleConnections()
	res, err := t.RoundTrip(req)
	if err != nil {
		return Answer{}, x.failed(ctx, x.gate.shut(), err)
	}
	defer res.Body.Close()
	defer x.gate.shut()
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return Answer{}, x.refused(res)
	}
	a, err := x.receive(res)
	if err != nil {
		return Answer{}, x.unanswered(ctx, x.gate.shut().sent, err)
	}
	a.Replayed = strings.EqualFold(strings.TrimSpace(res.Header.Get(ReplayedHeader)), "true")
	return a, nil
}

// prepare makes the request. An error says that nothing was sent.
func (x *exchange) prepare(ctx context.Context, request []byte) (*http.Request, error) {
	var err error
	if x.to, err = x.client.endpoint.target(x.client.protocol); err != nil {
		return nil, toolabi.NewError(toolabi.Invalid, x.client.name()+": "+err.Error()+"; nothing was sent")
	}
	if len(request) > MaxRequest {
		return nil, x.unfit(toolabi.TooLarge, fmt.Sprintf("a request of %d bytes, at most %d are sent", len(request), MaxRequest))
	}
	if len(request) < 3 || request[0] != '{' || request[len(request)-1] != '}' {
		return nil, x.unfit(toolabi.Invalid, "the request is none that Encode made")
	}
	if !isHeaderValue(x.attempt.Key) {
		return nil, x.unfit(toolabi.Invalid, "the idempotency key cannot stand in a header")
	}
	if x.key, err = x.client.endpoint.key(ctx); err != nil {
		return nil, x.keyless(ctx, err)
	}
	if !isHeaderValue(x.key) {
		return nil, x.unfit(toolabi.Invalid, "the key of the account cannot stand in a header")
	}
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { x.gate.open() }}
	body, size := x.body(request)
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), http.MethodPost, x.to.url.String(), body)
	if err != nil {
		return nil, x.unfit(toolabi.Invalid, "no request can be made of the base URL")
	}
	req.ContentLength, req.GetBody = size, nil
	x.headers(req.Header)
	return req, nil
}

// body returns what is sent, and its length: the request, and what asks for a stream. It is in one piece and in memory, so that
// net/http writes the headers together with it: a server that answers to headers alone would close the connection on the rest.
func (x *exchange) body(request []byte) (io.Reader, int64) {
	more := ""
	if x.client.endpoint.Stream {
		more = x.client.streaming()
	}
	last := len(request) - 1
	whole := slices.Concat(request[:last], []byte(more), request[last:])
	return bytes.NewReader(whole), int64(len(whole))
}

func (x *exchange) headers(h http.Header) {
	agent, accept := x.client.endpoint.UserAgent, "application/json"
	if agent == "" {
		agent = "wrun/1"
	}
	if x.client.endpoint.Stream {
		accept = "text/event-stream, application/json"
	}
	h.Set("User-Agent", agent)
	h.Set("Accept", accept)
	h.Set("Accept-Encoding", "identity")
	h.Set("Content-Type", "application/json")
	if x.attempt.Key != "" {
		h.Set(KeyHeader, x.attempt.Key)
	}
	x.client.authorise(h, x.key)
}

// answerError says what is wrong with an answer that came.
type answerError struct {
	code   toolabi.Code
	detail string
	text   string
}

func (e *answerError) Error() string { return e.text }

func malformed(text string) error {
	return &answerError{code: toolabi.Unavailable, detail: "malformed", text: text}
}

// maxStream bounds what is read of a stream, in bytes: each piece of a few letters comes in an envelope of some hundred.
const maxStream = 16 * MaxAnswer

// receive reads an answer in the form that it comes in, whichever was asked for.
func (x *exchange) receive(res *http.Response) (Answer, error) {
	if coding := res.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return Answer{}, malformed("the answer is compressed, which was not asked for")
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream":
		return x.receiveStream(&meter{r: res.Body, max: maxStream})
	case kind == "application/json", strings.HasSuffix(kind, "+json"), kind == "" && res.Header.Get("Content-Type") == "":
		return x.receiveWhole(&meter{r: res.Body, max: MaxAnswer, tell: x.attempt.Progress})
	}
	return Answer{}, malformed("the answer is neither JSON nor a stream of events")
}

// meter reads, counts, and stops behind max bytes.
type meter struct {
	r    io.Reader
	max  int64
	n    int64
	tell func(bytes int64, text string)
}

func (m *meter) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	m.n += int64(n)
	switch {
	case m.n > m.max:
		return 0, errLong
	case n > 0 && m.tell != nil:
		m.tell(m.n, "")
	}
	return n, err
}

func (x *exchange) receiveWhole(m *meter) (Answer, error) {
	body, err := io.ReadAll(m)
	if err != nil {
		return Answer{}, err
	}
	if !valid(body) {
		return Answer{}, malformed("the answer is no whole JSON")
	}
	a, err := x.client.whole(body)
	if err != nil {
		return Answer{}, x.withoutAnswer(err, body)
	}
	if m.tell != nil {
		if said, err := x.client.read(a.Message); err == nil {
			m.tell(m.n, said.Text)
		}
	}
	return a, nil
}

// streamEnd is what stands in the last event of some streams, instead of an object.
const streamEnd = "[DONE]"

// withoutAnswer is the error of JSON that holds no answer; most often it holds an error.
func (x *exchange) withoutAnswer(err error, body []byte) error {
	if message := errorMessage(body); message != "" {
		return &answerError{code: toolabi.Unavailable, detail: "error_answer", text: "an error instead of an answer: " + x.clean(message)}
	}
	return malformed(err.Error())
}

// receiveStream reads events up to the one that ends the answer. What breaks off behind the last piece of the message has cost
// nothing of it, and the answer is whole; what the provider counted can be lost with the rest.
func (x *exchange) receiveStream(m *meter) (Answer, error) {
	events, s := newEventReader(m), x.client.assemble()
	for {
		e, err := events.next()
		word := bytes.TrimSpace(e.data)
		switch {
		case err == nil && len(word) == 0:
			continue
		case err == nil && string(word) != streamEnd && object(word) == nil:
			err = malformed("an event of the stream is no JSON object")
		}
		if err != nil {
			a, incomplete := s.answer()
			if incomplete == nil && err != errLong && err != errEventSize {
				return a, nil
			} else if err == io.EOF {
				err = incomplete
			}
			return Answer{}, err
		}
		if e.name == "error" || !isNothing(member(e.data, "error")) {
			text := "the stream ended with an error: " + x.clean(errorMessage(e.data))
			return Answer{}, &answerError{toolabi.Unavailable, "error_event", text}
		}
		text, done, err := s.add(e.data)
		if err != nil {
			return Answer{}, err
		}
		if x.attempt.Progress != nil {
			x.attempt.Progress(m.n, text)
		}
		if done {
			return s.answer()
		}
	}
}
