package model_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/model"
)

// conversation has n messages of about size bytes: the user's, and then answers with a call and its result.
func conversation(protocol string, n, size int) model.Request {
	r := model.Request{Model: "m-1", Instructions: "Help ann.", Messages: []model.Message{{User: strings.Repeat("u", size)}}}
	for i := 0; len(r.Messages)+1 < n; i++ {
		id, text := fmt.Sprintf("call_%d", i), strings.Repeat("The charge is made, and ann knows.\\n", size/72)
		message := fmt.Sprintf(`{"role":"assistant","content":"%s","tool_calls":[{"id":"%s","type":"function","function":{"name":"charge","arguments":"{\"n\":%d}"}}]}`, text, id, i)
		if protocol == "anthropic" {
			message = fmt.Sprintf(`[{"type":"text","text":"%s"},{"type":"tool_use","id":"%s","name":"charge","input":{"n":%d}}]`, text, id, i)
		}
		r.Messages = append(r.Messages, model.Message{Answer: &model.Answer{Protocol: protocol, Message: []byte(message)}},
			model.Message{Results: []model.Result{{Call: id, Tool: "charge", Text: strings.Repeat(`{"receipt":"r-1","amount":1200,"currency":"EUR"} `, size/49)}}})
	}
	return r
}

func BenchmarkEncode(b *testing.B) {
	for _, protocol := range []string{"openai", "anthropic"} {
		for _, n := range []int{40, 400} {
			b.Run(fmt.Sprintf("%s/%d", protocol, n), func(b *testing.B) {
				c, r := side0(protocol), conversation(protocol, n, 200)
				b.ReportAllocs()
				for b.Loop() {
					out, err := c.Encode(r)
					if err != nil {
						b.Fatal(err)
					}
					b.SetBytes(int64(len(out)))
				}
			})
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, s := range sides("", false) {
		b.Run(s.name, func(b *testing.B) {
			r := conversation(s.name, 3, 2000)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.client.Read(*r.Messages[1].Answer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAssemble(b *testing.B) {
	for _, s := range sides("", false) {
		b.Run(s.name, func(b *testing.B) {
			at := 2
			if s.name == "anthropic" {
				at = 7
			}
			all := []byte(strings.Join(s.events[:at], "") + strings.Repeat(s.events[at], 10_000) + strings.Join(s.events[at+1:], ""))
			b.SetBytes(int64(len(all)))
			for b.Loop() {
				if _, _, err := model.Assemble(s.client, all); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
