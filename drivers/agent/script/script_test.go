package script_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/toolabi"
)

func parse(t testing.TB, text string) *script.Script {
	t.Helper()
	s, err := script.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func task(text string) model.Request {
	return model.Request{Model: "m", Messages: []model.Message{{User: text}}}
}

func reply(t *testing.T, text string, req model.Request) script.Reply {
	t.Helper()
	r, err := parse(t, text).Reply(req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestMistakesAreFoundWithTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "line 1: the script is empty",
		"[]":                             "line 1, column 1: a script has to be a mapping, this is a list",
		"{}":                             `line 1, column 1: a script needs "replies"`,
		"replies: []":                    `line 1, column 10: "replies" has 0 replies; 1 to 1000 are allowed`,
		"replies: x":                     `line 1, column 10: "replies" has to be a list, this is "x"`,
		"replies: [{}]":                  `line 1, column 11: a reply needs "say", "call" or "calls"; say: "" answers with nothing`,
		"replies: [{say: 7}]":            `line 1, column 17: "say" has to be a string, this is the number 7`,
		"replies: [{say: a}, {say: b}]":  `line 1, column 21: this reply is never reached: the one on line 1 comes first and has no "when"`,
		"replies: [{say: a, when: x y}]": `line 1, column 26: ${ x y }: unexpected token "y" at byte 3`,
		"replies: [{say: a, when: '${ .turn } ${ .turn }'}]":   `line 1, column 26: "when" has to be one expression, this is "${ .turn } ${ .turn }"`,
		"replies: [{say: a, when: 1}]":                         `line 1, column 26: "when" has to be one expression, this is the number 1`,
		"replies: [{say: a, when: now > 1}]":                   `line 1, column 26: ${ now > 1 }: now is not available in a script: the same request always gets the same answer`,
		"replies: [{say: a, repeat: 0}]":                       `line 1, column 28: "repeat" has to be a number of times, 1 to 67108864, this is the number 0`,
		"replies: [{call: a.b, repeat: 2}]":                    `line 1, column 31: "repeat" is only for "say": it says how often the text is said`,
		"replies: [{call: a.b, calls: [{tool: a.b}]}]":         `line 1, column 30: "call" is one call, and "calls" are several: one of them`,
		"replies: [{calls: [{tool: a.b}], with: {}}]":          `line 1, column 40: "with" is only for "call"; those in "calls" have their own`,
		"replies: [{call: a.b, with: {}, arguments: x}]":       `line 1, column 44: "arguments" is what the model writes instead of "with": one of them`,
		"replies: [{calls: []}]":                               `line 1, column 19: "calls" has 0 calls; 1 to 10000 are allowed`,
		"replies: [{calls: 'a ${ .turn }'}]":                   `line 1, column 19: "calls" has to be a list, or one expression that gives one, this is "a ${ .turn }"`,
		"replies: [{say: a, usage: {input: -1}}]":              `line 1, column 35: "input" has to be a number of tokens, this is the number -1`,
		"replies: [{say: a, usage: {inputs: 1}}]":              `line 1, column 28: unknown field "inputs"; did you mean "input"?`,
		"replies: [{say: a, cut: yes}]":                        `line 1, column 25: "cut" has to be true or false, this is "yes"`,
		"replies: [{say: a, cut: true, stop: x}]":              `line 1, column 25: "cut" says how the answer ends, and so does "stop": one of them`,
		"replies: [{call: a.b, with: {'${ .turn }': 1}}]":      `line 1, column 30: expressions are not evaluated in keys; give the whole mapping by an expression`,
		"replies: [{call: '', with: {}}]":                      `line 1, column 18: the name of a tool has to be a string, this is ""`,
		"replies: [{say: a, when: false}, {say: b, extra: 1}]": `line 1, column 43: unknown field "extra"`,
	} {
		_, err := script.Parse([]byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
		if e := (*script.Error)(nil); !errors.As(err, &e) {
			t.Errorf("%s: %T is no *script.Error", text, err)
		}
	}
}

func TestTheSameRequestAlwaysGetsTheSameAnswer(t *testing.T) {
	s := parse(t, "replies: [{when: .turn > 0, say: done}, {call: a.b, with: {n: '${ .turn }', t: '${ .task }'}}]")
	first, err := s.Answer(task("x"))
	if err != nil {
		t.Fatal(err)
	}
	later := model.Request{Messages: []model.Message{{User: "x"}, {Answer: &first}, {Results: []model.Result{{Call: "call_1_1", Tool: "a_b", Text: "1"}}}}}
	if r, err := s.Reply(later); err != nil || r.Text != "done" {
		t.Fatalf("after a result: %+v, %v", r, err)
	}
	again, err := s.Answer(task("x"))
	if err != nil || string(again.Message) != string(first.Message) || again.ID != first.ID || again.Usage != first.Usage {
		t.Errorf("first %+v, then %+v, %v", first, again, err)
	}
	if want := `{"text":"","calls":[{"id":"call_1_1","tool":"a_b","input":"{\"n\":0,\"t\":\"x\"}"}]}`; string(first.Message) != want {
		t.Errorf("got %s, want %s", first.Message, want)
	}
}

func TestALongTextIsSaidAsOftenAsAsked(t *testing.T) {
	if r := reply(t, "replies: [{say: 'ab', repeat: 5000000}]", task("x")); len(r.Text) != 10_000_000 || r.Usage.Output != 2_500_000 {
		t.Errorf("%d bytes, %+v", len(r.Text), r.Usage)
	}
	_, err := parse(t, "replies: [{say: 'ab', repeat: 50000000}]").Reply(task("x"))
	wantFailure(t, err, toolabi.Failed, "expression", "line 1 of the script: the text has more than 67108864 bytes")
}

func wantFailure(t *testing.T, err error, code toolabi.Code, detail, message string) {
	t.Helper()
	var e *toolabi.Error
	if !errors.As(err, &e) || e.Code != code || e.Detail != detail || !strings.Contains(e.Message, message) {
		t.Errorf("got %v, want %s (%s) %s", err, code, detail, message)
	} else if e.Retry != toolabi.RetryNever || e.Effect != toolabi.EffectNone {
		t.Errorf("%v has retry %d and effect %s", e, e.Retry, e.Effect)
	}
}

func TestAnExpressionThatFailsFailsTheRequest(t *testing.T) {
	for text, want := range map[string]string{
		"replies: [{when: '.task | error', say: a}]":                   "line 1 of the script: ${ .task | error }: error: x",
		"replies: [{say: '${ .tools[] }'}]":                            "it gives no value",
		"replies: [{calls: '${ .task }'}]":                             "calls: want a list of at most 10000 calls",
		"replies: [{calls: '${ [1] }'}]":                               "calls: number 1: want an object",
		"replies: [{calls: '${ [range(10001) | {tool: \"a\"}] }'}]":    "calls: want a list of at most 10000 calls",
		"replies: [{calls: '${ [{tool: \"a\", wiht: 1}] }'}]":          `calls: number 1: unknown field "wiht"`,
		"replies: [{calls: '${ [{}] }'}]":                              `calls: number 1: a call needs "tool"`,
		"replies: [{call: '${ .instructions }'}]":                      "the name of the tool is empty",
		"replies: [{say: a, usage: {input: '${ .task }'}}]":            `usage: input: want a number of tokens, not "x"`,
		"replies: [{say: '${ last(repeat(1)) }'}]":                     "it takes more than 4000000 instructions",
		"replies:\n- say: a\n  when: .turn == 9\n- call: '${ error }'": "line 4 of the script: ${ error }",
	} {
		_, err := parse(t, text).Reply(task("x"))
		wantFailure(t, err, toolabi.Failed, "expression", want)
	}
}

func TestACallNamesAToolAsAFileOrAModelDoes(t *testing.T) {
	for _, c := range []struct {
		tools []model.Tool
		name  string
		want  string
	}{
		{nil, "a.b", "a_b"}, {nil, "a_b", "a_b"}, {[]model.Tool{{Name: "a_b"}}, "a.b", "a_b"}, {[]model.Tool{{Name: "a.b"}}, "a.b", "a.b"},
	} {
		req := task("x")
		req.Tools = c.tools
		if r := reply(t, "replies: [{call: "+c.name+"}]", req); len(r.Calls) != 1 || r.Calls[0].Tool != c.want || string(r.Calls[0].Input) != "{}" {
			t.Errorf("%s with %v: %+v", c.name, c.tools, r.Calls)
		}
	}
}

func TestConditionsSeeTheWholeConversation(t *testing.T) {
	message, err := script.Message("a\xff", []model.Call{{ID: "i", Tool: "t", Input: []byte(`{"n":1}`)}, {ID: "j", Tool: "t", Input: []byte("{")}})
	if err != nil {
		t.Fatal(err)
	}
	req := model.Request{Model: "m", Instructions: "be kind", Tools: []model.Tool{{Name: "t"}}, Messages: []model.Message{
		{User: "x"}, {Answer: &model.Answer{Protocol: script.Protocol, Message: message}},
		{Results: []model.Result{{Call: "i", Tool: "t", Text: "[0.10]"}, {Call: "j", Tool: "t", Text: "no", Failed: true}}},
	}}
	r := reply(t, "replies: [{say: '${ . }'}]", req)
	want := `{"instructions":"be kind","messages":[{"user":"x"},{"answer":{"calls":[{"arguments":"{\"n\":1}","id":"i","input":{"n":1},"tool":"t"},` +
		`{"arguments":"{","id":"j","input":null,"tool":"t"}],"text":"a�"}},{"results":RESULTS}],"model":"m","results":RESULTS,"task":"x","tools":["t"],"turn":1}`
	want = strings.ReplaceAll(want, "RESULTS", `[{"call":"i","failed":false,"output":[0.10],"text":"[0.10]","tool":"t"},{"call":"j","failed":true,"output":null,"text":"no","tool":"t"}]`)
	if r.Text != want {
		t.Errorf("got\n%s\nwant\n%s", r.Text, want)
	}
}

func TestEscapesAreBytesOnlyInWhatTheModelWrites(t *testing.T) {
	r := reply(t, `replies: [{say: 'a\xff\\xff\xzz\x4 ${ "\\xff" }', calls: [{tool: t, with: {a: '\xff'}}, {tool: t, arguments: '\x7b\xC3'}]}]`, task("x"))
	if want := "a\xff\\xff\\xzz\\x4 \\xff"; r.Text != want {
		t.Errorf("said %q, want %q", r.Text, want)
	}
	if got, want := string(r.Calls[0].Input), `{"a":"\\xff"}`; got != want {
		t.Errorf("with is %s, want %s", got, want)
	}
	if got, want := string(r.Calls[1].Input), "{\xc3"; got != want {
		t.Errorf("arguments are %q, want %q", got, want)
	}
}

// A text is a script or a list of mistakes; and a script answers a request, twice the same, or fails for good.
func FuzzParse(f *testing.F) {
	request := `{"messages":[{"user":"x"}]}`
	for _, p := range pages(f) {
		for _, group := range p.Groups("script") {
			f.Add([]byte(group[0].Text), []byte(request))
			for _, b := range group[1:] {
				f.Add([]byte("replies: [{say: '${ . }'}]"), []byte(b.Text))
			}
		}
	}
	f.Add([]byte(`replies: [{calls: '${ .messages[0].user | fromjson }', usage: {input: '${ .turn }'}}]`), []byte(`{"messages":[{"user":"[{\"tool\":1}]"}]}`))
	f.Add([]byte(`replies: [{say: '\xff${ .task }', repeat: 3, stop: x}]`), []byte("{\"messages\":[{\"user\":\"\xff\"},{\"answer\":{\"text\":\"\xff\"}},{\"results\":[]}]}"))
	f.Fuzz(func(t *testing.T, text, request []byte) {
		s, err := script.Parse(text)
		if err != nil {
			if e := (*script.Error)(nil); !errors.As(err, &e) || s != nil {
				t.Fatalf("%v is no *script.Error, or there is a script besides", err)
			}
			return
		}
		c := script.Client(s)
		first, err := c.Send(t.Context(), request, model.Attempt{})
		if err != nil {
			if e := (*toolabi.Error)(nil); !errors.As(err, &e) || e.Retry != toolabi.RetryNever {
				t.Fatalf("%v is no failure for good", err)
			}
			return
		}
		if !json.Valid(first.Message) {
			t.Fatalf("message %q", first.Message)
		}
		if _, err := c.Read(first); err != nil {
			t.Fatalf("%q: %v", first.Message, err)
		}
		if again, err := c.Send(t.Context(), request, model.Attempt{}); err != nil || string(again.Message) != string(first.Message) || again.Usage != first.Usage {
			t.Fatalf("first %+v, then %+v, %v", first, again, err)
		}
	})
}
