package fakemodel

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/script"
)

// Whatever a request is, it is refused, or a script can answer it and the answer has its form.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}]}`,
		`{"model":"m","messages":[{"role":"system","content":"i"},{"role":"user","content":[{"type":"text","text":"\ud83d"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"i","function":{"name":"t","arguments":"{"}}]},{"role":"tool","tool_call_id":"i","content":"1"}],"stream":true}`,
		`{"model":"m","max_tokens":9,"system":[{"type":"text","text":"i"}],"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"i","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"i","content":[{"type":"text","text":"1"}],"is_error":true},{"type":"text","text":"y"}]}],"tools":[{"name":"t","input_schema":{}}]}`,
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[[]]}],"temperature":0.10}`,
	} {
		f.Add([]byte(s))
	}
	s, err := script.Parse([]byte(`replies: [{say: "${ . }", calls: [{tool: "${ .task }t", arguments: '\xff${ .messages }'}]}]`))
	if err != nil {
		f.Fatal(err)
	}
	header := http.Header{"Anthropic-Version": {"1"}}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, p := range []protocol{chat{}, messages{}} {
			in, err := p.read(header, body)
			if err != nil {
				continue
			}
			said, err := s.Reply(in.Request)
			if err != nil {
				continue
			}
			a := answered{asked: in, Reply: said, bill: 1}
			if whole, err := p.whole(a); err != nil || !json.Valid(whole) {
				t.Fatalf("%s: %q, %v", p.name(), whole, err)
			}
			pieces, err := p.pieces(a)
			if err != nil {
				t.Fatal(err)
			}
			for _, piece := range pieces {
				if data := piece[bytes.Index(piece, []byte("data: "))+6:]; !json.Valid(data) && string(data) != "[DONE]\n\n" {
					t.Fatalf("%s: %q", p.name(), piece)
				}
			}
		}
	})
}

// What is read of a file is what was written.
func FuzzParseBills(f *testing.F) {
	const digest = `0000000000000000000000000000000000000000000000000000000000000000`
	f.Add([]byte(`{"n":1,"digest":"` + digest + `","protocol":"chat","tokens":1}` + "\n" + `{"n":2`))
	f.Add([]byte(`{"n":1,"key":"k","digest":"` + digest + `","protocol":"messages","tokens":1,"fault":"cut"}` + "\n"))
	f.Add([]byte("\n\n"))
	f.Add([]byte("{} {}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		bills, size, err := parseBills(b)
		if err != nil {
			return
		}
		if size > int64(len(b)) || bytes.Count(b[:size], []byte{'\n'}) != len(bills) || bytes.IndexByte(b[size:], '\n') >= 0 {
			t.Fatalf("%d bills in %d bytes of %q", len(bills), size, b)
		}
		var again []byte
		for _, bill := range bills {
			line, err := json.Marshal(bill)
			if err != nil {
				t.Fatal(err)
			}
			again = append(append(again, line...), '\n')
		}
		if back, _, err := parseBills(again); err != nil || len(back) != len(bills) {
			t.Fatalf("%q was read, written as %q, and read with %v", b, again, err)
		}
	})
}
