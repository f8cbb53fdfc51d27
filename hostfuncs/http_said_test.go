package hostfuncs_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestWhatAPersonSaysBecomesAReply(t *testing.T) {
	tests := []struct {
		text, body string
		status     uint16
		fails      bool
	}{
		{text: `{"id":"ch_1"}`, status: 200, body: `{"id":"ch_1"}`},
		{text: `{"status":200,"body":"plain"}`, status: 200, body: `plain`},
		{text: `{"status":200,"body":[]}`, status: 200, body: `[]`},
		{text: `{"status":204}`, status: 204},
		{text: `reply.json`, fails: true}, // a forgotten @
		{text: ``, fails: true},           // a variable that is not set
		{text: ` `, fails: true},
		{text: `null`, fails: true},
		{text: `[]`, fails: true},
		{text: `"text"`, fails: true},
		{text: `{"status":200,"headers":{"a b":"c"}}`, fails: true},
		{text: `{"status":200,"headers":{"a":"b\nc: d"}}`, fails: true},
		{text: `{"status":201,"body":{"id":9007199254740993}}`, status: 201, body: `{"id":9007199254740993}`},
		{text: `{"status":201,"body":"text"}`, status: 201, body: `text`},
		{text: `{"status":200,"body_base64":"AAE="}`, status: 200, body: "\x00\x01"},
		{text: `{"status":"succeeded","id":1}`, status: 200, body: `{"status":"succeeded","id":1}`},
		{text: `{"status":201,"status":500}`, fails: true},
		{text: `{"status":201,"Status":500}`, fails: true},
		{text: `{"status":201,"headers":{"A":"b","A":"c"}}`, fails: true},
		{text: `{"status":201,"headers":{"A":null}}`, fails: true},
		{text: `{"status":201,"headers":{"A":[null]}}`, fails: true},
		{text: `{"status":201,"body":"\ud800"}`, fails: true},
		{text: `{"status":42}`, fails: true},
		{text: `{"status":200,"bdy":1}`, fails: true},
		{text: `{"status":200,"body":1,"body_base64":"AAE="}`, fails: true},
	}
	for _, tt := range tests {
		raw, err := hostfuncs.ParseSaidReply([]byte(tt.text))
		if tt.fails {
			if err == nil {
				t.Errorf("%s is accepted", tt.text)
			}
			continue
		}
		var r toolabi.HTTPReply
		if err == nil {
			err = toolabi.Decode(raw, &r)
		}
		if err != nil || r.Status != tt.status || string(r.Body) != tt.body {
			t.Errorf("%s: status %d, body %q, %v", tt.text, r.Status, r.Body, err)
		}
	}
}

func TestARescuedReplyCanBeSaid(t *testing.T) {
	for _, body := range []string{`{"id":"ch_1"}`, "text", `"quoted"`, "\x00\xff", "", "[1, 2]", `{"a":"<b>"}`, `{"a":1,"a":2}`, `{"a":"\ud800"}`,
		strings.Repeat("[", 2000) + strings.Repeat("]", 2000)} {
		want := toolabi.HTTPReply{Status: 201, Headers: []toolabi.Header{{Name: "Set-Cookie", Value: "a=1"}, {Name: "Set-Cookie", Value: "b=2"}, {Name: "X", Value: "y"}}, Body: []byte(body)}
		raw, err := toolabi.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		text, err := hostfuncs.FormatSaidReply(raw)
		if err != nil {
			t.Fatal(err)
		}
		again, err := hostfuncs.ParseSaidReply(text)
		var got toolabi.HTTPReply
		if err == nil {
			err = toolabi.Decode(again, &got)
		}
		if err != nil || got.Status != 201 || !slices.Equal(got.Headers, want.Headers) || string(got.Body) != body {
			t.Errorf("%q became %+v, %v by %s", body, got, err, text)
		}
	}
}

func TestARequestIsShownWithAllThatItSays(t *testing.T) {
	for _, tt := range []struct {
		body, want string
	}{
		{"", ``},
		{`{"amount":1999}`, `,"body":{"amount":1999}`},
		{"amount=1999&to=<a>", `,"body":"amount=1999&to=<a>"`},
		{`{"a": 1}`, `,"body":"{\"a\": 1}"`},
		{`"text"`, `,"body":"\"text\""`},
		{"\x00\xff", `,"body_base64":"AP8="`},
	} {
		req := toolabi.HTTPRequest{Method: "POST", URL: "https://a.example/x?y=<z>", Body: []byte(tt.body),
			Headers: []toolabi.Header{{Name: "B", Value: "1"}, {Name: "A", Value: "x"}, {Name: "B", Value: "2"}}}
		want := `{"method":"POST","url":"https://a.example/x?y=<z>","headers":{"A":"x","B":["1","2"]}` + tt.want + "}\n"
		for _, name := range []string{toolabi.FuncHTTPFetch, toolabi.FuncHTTPSend} {
			got, err := function(t, name).ShowRequest(encode(t, req))
			if err != nil || string(got) != want {
				t.Errorf("%s of %q is shown as %s, %v, want %s", name, tt.body, got, err, want)
			}
		}
	}
	got, err := function(t, toolabi.FuncHTTPFetch).ShowRequest(encode(t, toolabi.HTTPRequest{Method: "GET", URL: "https://a.example"}))
	if want := `{"method":"GET","url":"https://a.example"}` + "\n"; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestWhatIsSaidOfTheHTTPFunctionsIsReadByThem(t *testing.T) {
	for _, name := range []string{toolabi.FuncHTTPFetch, toolabi.FuncHTTPSend} {
		f := function(t, name)
		reply, err := f.ParseReply([]byte(`{"status":201,"body":{"id":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		shown, err := f.ShowReply(reply)
		if want := `{"status":201,"body":{"id":1}}` + "\n"; err != nil || string(shown) != want {
			t.Errorf("%s: %s, %v, want %s", name, shown, err, want)
		}
	}
}

// Whatever is said is refused, or becomes a reply that can be recorded, and that stays what it is when it is written down.
func FuzzParseSaidReply(f *testing.F) {
	for _, seed := range []string{`{"status":201,"body":{"a":1}}`, `{"status":200,"headers":{"X":["a","b"],"Y":"c"},"body":"t"}`, "plain", "\xff", `{"status":200,"body":null}`, "null"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		raw, err := hostfuncs.ParseSaidReply(text)
		if err != nil {
			return
		}
		var r toolabi.HTTPReply
		if err := toolabi.Decode(raw, &r); err != nil {
			t.Fatalf("%q became a reply that cannot be read: %v", text, err)
		}
		written, err := hostfuncs.FormatSaidReply(raw)
		if err != nil {
			t.Fatal(err)
		}
		again, err := hostfuncs.ParseSaidReply(written)
		if err != nil || !bytes.Equal(again, raw) {
			t.Fatalf("%q was written as %s and became another reply: %v", text, written, err)
		}
	})
}
