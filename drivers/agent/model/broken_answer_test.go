package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/toolabi"
)

// TestAnAnswerThatDidNotComeWholeMayBePaidFor holds the faults behind the last byte of a request.
func TestAnAnswerThatDidNotComeWholeMayBePaidFor(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	body := `{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"content":[]}`
	cases := []struct{ name, raw, detail string }{
		{"nothing", "", "closed"},
		{"half a status", "HTTP/1.1 20", "malformed"},
		{"no HTTP", "hello " + secret + "\r\n\r\n", "malformed"},
		{"half a header", head, "closed"},
		{"a short body", head + "Content-Length: 500\r\n\r\n" + body, "closed"},
		{"a cut chunk", head + "Transfer-Encoding: chunked\r\n\r\nffff\r\n" + body, "closed"},
		{"a bad chunk", head + "Transfer-Encoding: chunked\r\n\r\nxx\r\n" + body, "malformed"},
		{"no last chunk", head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n", len(body), body), "closed"},
		{"no JSON", reply(200, "{"), "malformed"},
		{"nothing in it", reply(200, ""), "malformed"},
		{"two answers", reply(200, body+body), "malformed"},
		{"another form", reply(200, `{"choices":[],"content":{}}`), "malformed"},
		{"an array", reply(200, `[]`), "malformed"},
		{"a page", reply(200, "<html>", "Content-Type: text/html"), "malformed"},
		{"compressed", reply(200, body, "Content-Encoding: gzip"), "malformed"},
		{"an error", reply(200, `{"error":{"message":"overloaded `+secret+`"}}`), "error_answer"},
		{"a stream of nothing", streamed(), "cut"},
		{"a stream of no JSON", streamed("data: {\n\n"), "malformed"},
		{"a stream of one array", streamed("data: []\n\n"), "malformed"},
		{"a stream with an error", streamed("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded " + secret + "\"}}\n\n"), "error_event"},
		{"a stream with an error in its data", streamed("data: {\"error\":{\"message\":\"Overloaded\"}}\n\n"), "error_event"},
		{"a stream that ends at once", streamed("data: [DONE]\n\n", event("message_stop", "")), "malformed"},
	}
	for n, c := range cases {
		p := startProvider(t, says(c.raw))
		for i, s := range sides(p.url, n%2 == 1) {
			_, err := s.client.Send(t.Context(), question(t, s.client), patient())
			e := told(t, err)
			if e.Effect != toolabi.EffectUnknown || e.Retry != toolabi.RetrySafe {
				t.Errorf("%s, %s: effect %v, retry %d: %v", s.name, c.name, e.Effect, e.Retry, e)
			}
			if e.Detail != c.detail || !strings.Contains(e.Message, "no answer came whole") {
				t.Errorf("%s, %s: %v, want detail %s", s.name, c.name, e, c.detail)
			}
			if all, conns, _ := p.arrived(); len(all) != i+1 || conns != i+1 {
				t.Errorf("%s, %s: %d requests on %d connections, want %d: it was sent again", s.name, c.name, len(all), conns, i+1)
			}
		}
	}
}

// TestAnEventThatBelongsToNothingIsAnError holds the order of a stream of Anthropic's.
func TestAnEventThatBelongsToNothingIsAnError(t *testing.T) {
	for _, e := range []string{
		event("content_block_delta", `"index":4,"delta":{"type":"text_delta","text":"x"}`),
		event("content_block_start", `"index":4`),
	} {
		p := startProvider(t, says(streamed(anthropicEvents[0], e, anthropicEvents[len(anthropicEvents)-1])))
		c := sides(p.url, true)[1].client
		_, err := c.Send(t.Context(), question(t, c), patient())
		if got := told(t, err); got.Detail != "malformed" {
			t.Errorf("%s: %v", e, got)
		}
	}
}

// TestACutAnswerIsNeverTakenForAWholeOne cuts at every byte, with each way in which an answer says where it ends.
func TestACutAnswerIsNeverTakenForAWholeOne(t *testing.T) {
	for _, form := range []string{"length", "close", "chunks", "stream"} {
		stream := form == "stream"
		var raw string
		p := startProvider(t, func(c net.Conn, h heard) { says(raw)(c, h) })
		for _, s := range sides(p.url, stream) {
			t.Run(form+" "+s.name, func(t *testing.T) { cutEverywhere(t, s, form, &raw) })
		}
	}
}

func cutEverywhere(t *testing.T, s side, form string, raw *string) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	full := map[string]string{
		"length": reply(200, s.whole),
		"close":  head + "\r\n" + s.whole,
		"chunks": head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("40\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", s.whole[:64], len(s.whole)-64, s.whole[64:]),
		"stream": streamed(s.events...),
	}[form]
	q := question(t, s.client)
	*raw = full
	want, err := s.client.Send(t.Context(), q, patient())
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for n := range len(full) {
		*raw = full[:n]
		a, err := s.client.Send(t.Context(), q, patient())
		if err != nil {
			if e := told(t, err); e.Effect != toolabi.EffectUnknown || e.Retry != toolabi.RetrySafe {
				t.Fatalf("cut at %d: effect %v, retry %d: %v", n, e.Effect, e.Retry, e)
			}
			continue
		}
		whole++
		if a.Usage == (model.Usage{}) {
			a.Usage = want.Usage // it comes behind the message
		}
		if !reflect.DeepEqual(a, want) {
			t.Fatalf("cut at %d of %d it is taken for\n%s\nwant %s", n, len(full), a.Message, want.Message)
		}
	}
	if (form == "stream") != (whole > 0) {
		t.Errorf("%d cuts leave the answer whole", whole)
	}
}

// TestACutStreamIsNeverTakenForAWholeOne is the same where nothing but the stream itself says where it ends.
func TestACutStreamIsNeverTakenForAWholeOne(t *testing.T) {
	for _, s := range sides("", true) {
		all := []byte(strings.Join(s.events, ""))
		want, _, err := model.Assemble(s.client, all)
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		for n := range all {
			a, _, err := model.Assemble(s.client, all[:n])
			if err != nil {
				last = n
			} else if string(a.Message) != string(want.Message) || a.Stop != want.Stop {
				t.Fatalf("%s: cut at %d of %d it is taken for\n%s\nwant %s", s.name, n, len(all), a.Message, want.Message)
			}
		}
		tail := string(all[last:])
		if s.name == "openai" && strings.Count(tail, "data: ") != 2 || s.name == "anthropic" && strings.Count(tail, "data: ") != 0 {
			t.Errorf("%s: it is whole without %q", s.name, tail)
		}
	}
}

// TestASilentProviderEndsWithTheTime: the request was written, so it may be paid for; a header, a body or a stream that stops.
func TestASilentProviderEndsWithTheTime(t *testing.T) {
	for name, begin := range map[string]string{
		"no header": "", "half a header": "HTTP/1.1 200 OK\r\nContent-", "no body": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n",
		"half a body":   "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"",
		"half a stream": "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\ndata: {",
	} {
		for i := range 2 {
			for _, how := range []string{"timeout", "given_up"} {
				t.Run(fmt.Sprint(name, " ", i, " ", how), func(t *testing.T) { askASilentOne(t, begin, i, how) })
			}
		}
	}
}

func askASilentOne(t *testing.T, begin string, i int, how string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := startProvider(t, func(c net.Conn, _ heard) {
		io.WriteString(c, begin)
		if how == "given_up" {
			cancel()
		}
		io.Copy(io.Discard, c) // until the client goes
	})
	s := sides(p.url, true)[i]
	a := patient()
	if how == "timeout" {
		a.Timeout = 50 * time.Millisecond
	}
	_, err := s.client.Send(ctx, question(t, s.client), a)
	for ; ; _, err = s.client.Send(ctx, question(t, s.client), a) {
		if all, _, _ := p.arrived(); len(all) > 0 {
			break
		}
		a.Timeout *= 2 // it ended before it began, on a busy machine
	}
	e := told(t, err)
	if e.Detail != how || e.Effect != toolabi.EffectUnknown || e.Retry != toolabi.RetrySafe || (e.Code == toolabi.Timeout) != (how == "timeout") {
		t.Errorf("%v, effect %v", e, e.Effect)
	}
}

// TestAStatusCountsWhenItsBodyNeverEnds: a refusal is known by its status alone.
func TestAStatusCountsWhenItsBodyNeverEnds(t *testing.T) {
	p := startProvider(t, func(c net.Conn, _ heard) {
		io.WriteString(c, "HTTP/1.1 429 Slow\r\nContent-Length: 99\r\n\r\n{")
		io.Copy(io.Discard, c)
	})
	c := sides(p.url, false)[0].client
	a := patient()
	a.Timeout = 100 * time.Millisecond
	_, err := c.Send(t.Context(), question(t, c), a)
	for told(t, err).Detail == "timeout" && a.Timeout < time.Minute {
		a.Timeout *= 2 // the status did not come in time, on a busy machine
		_, err = c.Send(t.Context(), question(t, c), a)
	}
	if e := told(t, err); e.Detail != "status_429" || e.Effect != toolabi.EffectNone {
		t.Errorf("%v, effect %v", e, e.Effect)
	}
}

// TestAProviderThatKeepsDroppingIsAskedOnce: whatever net/http would do by itself, one Send is one request.
func TestAProviderThatKeepsDroppingIsAskedOnce(t *testing.T) {
	p := startProvider(t, func(net.Conn, heard) {})
	for i := range 20 {
		s := sides(p.url, i%2 == 0)[i%2]
		asked := 0
		a := patient()
		a.BeforeSend = func() error { asked++; return nil }
		_, err := s.client.Send(t.Context(), question(t, s.client), a)
		told(t, err)
		if all, conns, _ := p.arrived(); len(all) != i+1 || conns != i+1 || asked != 1 {
			t.Fatalf("after %d times Send %d requests arrived on %d connections, BeforeSend asked %d times", i+1, len(all), conns, asked)
		}
	}
}

// TestWhatIsRefusedBeforeItIsSentIsNotSent holds BeforeSend.
func TestWhatIsRefusedBeforeItIsSentIsNotSent(t *testing.T) {
	p := startProvider(t, says(""))
	refusal := errors.New("claimed by another")
	for _, s := range sides(p.url, false) {
		a := patient()
		a.BeforeSend = func() error { return refusal }
		_, err := s.client.Send(t.Context(), question(t, s.client), a)
		if err != refusal {
			t.Errorf("%s: the error is %v, want the refusal itself", s.name, err)
		}
		<-p.gone
		if _, conns, n := p.arrived(); n != 0 || conns == 0 {
			t.Errorf("%s: %d bytes arrived", s.name, n)
		}
	}
}
