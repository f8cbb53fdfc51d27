package crashtest

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// verdict is what the world knows of an effect: the first that it did under the idempotency key.
func verdict(live *world.Live, d Doubt) (Verdict, error) {
	switch d.Name {
	case toolabi.FuncHTTPSend:
		for _, e := range live.Seen() {
			if e.Kind == world.KindHTTP && e.Key == d.Key && (e.Acted || e.Status != 0 && !e.Unexpected) {
				reply, err := saidReply(live.World(), e)
				return Verdict{Happened: true, Reply: reply}, err
			}
		}
		return Verdict{}, nil
	case toolabi.FuncMailSend:
		for _, e := range live.Seen() {
			if e.Kind == world.KindMail && e.Acted && strings.Contains(e.Key, d.Key) {
				reply, err := json.Marshal(map[string]string{"message_id": e.Key})
				return Verdict{Happened: true, Reply: reply}, err
			}
		}
		return Verdict{}, nil
	}
	return Verdict{Unknown: true}, nil // what a program did to files, nobody else saw
}

// saidReply is what a person would find in the provider's books: the reply, or the one that was lost.
func saidReply(w *world.World, e world.Event) (json.RawMessage, error) {
	said := struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers,omitempty"`
		Body    any               `json:"body,omitempty"`
		Base64  []byte            `json:"body_base64,omitempty"`
	}{Status: e.Status}
	text := e.Reply
	if route, ok := w.Route(e.Route); ok {
		for _, r := range route.Replies {
			if e.Fault == world.NoFault && r.Status != e.Status || r.Fault != e.Fault {
				continue
			}
			said.Status, said.Headers = r.Status, r.Headers
			if e.Fault != world.NoFault {
				text = string(r.Body.Raw())
			}
			break
		}
	}
	raw, isBase64 := strings.CutPrefix(text, "base64:")
	b, err := base64.StdEncoding.DecodeString(raw)
	switch {
	case isBase64 && err == nil:
		said.Base64 = b
	case json.Valid([]byte(text)) && text[0] != '"':
		said.Body = json.RawMessage(text)
	case text != "":
		said.Body = text
	}
	return json.Marshal(said)
}
