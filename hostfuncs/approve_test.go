package hostfuncs_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/toolabi"
)

func at(seconds int64) hostfuncs.Call {
	return hostfuncs.Call{Now: func() time.Time { return time.Unix(seconds, 0) }}
}

func TestAnApprovalWaitsForAPerson(t *testing.T) {
	f := function(t, toolabi.FuncApprove)
	p, err := f.Await(at(50), encode(t, toolabi.ApproveRequest{Text: "Pay\x1b[31m 5?\nReally?", Detail: []byte(`{"a": 1}`), ExpiresMS: 1500}))
	if err != nil {
		t.Fatal(err)
	}
	if p.Text != "Pay 5? Really?" || string(p.Detail) != `{"a": 1}` || !p.Due.IsZero() || p.Reply != nil || !p.Expires.Equal(time.Unix(51, 5e8)) {
		t.Errorf("got %+v", p)
	}
	p, err = f.Await(hostfuncs.Call{}, encode(t, toolabi.ApproveRequest{Text: "Pay?"}))
	if err != nil || p.Text != "Pay?" || p.Detail != nil || !p.Expires.IsZero() {
		t.Errorf("got %+v, %v, want nothing that expires", p, err)
	}
	p, err = f.Await(hostfuncs.Call{}, encode(t, toolabi.ApproveRequest{Text: "Pay?", ExpiresMS: toolabi.MaxManifestMS}))
	if err != nil || !p.Expires.Equal(time.Unix(1000+toolabi.MaxManifestMS/1000, 0)) {
		t.Errorf("got %+v, %v, want it to expire in a hundred years by the configured clock", p, err)
	}
}

func TestQuestionsThatAreNotAsked(t *testing.T) {
	f := function(t, toolabi.FuncApprove)
	for why, req := range map[string]toolabi.ApproveRequest{
		"empty":                    {},
		"is empty":                 {Text: " \n\u200b"},
		"or has nothing":           {Text: "\x1b[31m\u202e"},
		"a text of 4097 bytes":     {Text: strings.Repeat("a", 4097)},
		"a detail of 16385 bytes":  {Text: "a", Detail: []byte(`"` + strings.Repeat("a", 16383) + `"`)},
		"the detail is not JSON":   {Text: "a", Detail: []byte("{")},
		`the key "a" is there`:     {Text: "a", Detail: []byte(`{"a":1,"a":2}`)},
		"expires after 3155760000": {Text: "a", ExpiresMS: toolabi.MaxManifestMS + 1},
	} {
		for what, err := range judgements(t, f, at(0), encode(t, req)) {
			if e := wantError(t, err, toolabi.Invalid, toolabi.EffectNone); !strings.Contains(e.Message, why) {
				t.Errorf("%s says %q, want %q", what, e.Message, why)
			}
		}
	}
	for _, req := range []toolabi.ApproveRequest{
		{Text: strings.Repeat("a", 4096), Detail: []byte(`"` + strings.Repeat("a", 16382) + `"`)}, {Text: "é", Detail: []byte("null")},
	} {
		for what, err := range judgements(t, f, at(0), encode(t, req)) {
			if err != nil {
				t.Errorf("%s refuses %.20q: %v", what, req.Text, err)
			}
		}
	}
}

func TestAnApprovalAsPeopleReadAndWriteIt(t *testing.T) {
	f := function(t, toolabi.FuncApprove)
	req := encode(t, toolabi.ApproveRequest{Text: "Pay <5>\nnow?" + strings.Repeat("!", 300), Detail: []byte(`{"cents": 500}`)})
	if got, want := f.Describe(req), "Pay <5> now?"+strings.Repeat("!", 188); got != want {
		t.Errorf("described as %q, want %q", got, want)
	}
	shown, err := f.ShowRequest(encode(t, toolabi.ApproveRequest{Text: "Pay <5>\nnow?", Detail: []byte(`{"cents": 500}`)}))
	if want := `{"text":"Pay <5>\nnow?","detail":{"cents":500}}` + "\n"; err != nil || string(shown) != want {
		t.Errorf("shown as %s, %v, want %s", shown, err, want)
	}
	shown, err = f.ShowRequest(encode(t, toolabi.ApproveRequest{Text: "a"}))
	if want := `{"text":"a"}` + "\n"; err != nil || string(shown) != want {
		t.Errorf("shown as %s, %v, want %s", shown, err, want)
	}
	for text, want := range map[string]toolabi.ApproveReply{
		`{"by":"mia","note":"once"}`: {By: "mia", Note: "once"}, ` {"by":"mia"} `: {By: "mia"}, `{"by":"m","note":null}`: {By: "m"},
	} {
		reply, err := f.ParseReply([]byte(text))
		if err != nil || !bytes.Equal(reply, encode(t, want)) {
			t.Errorf("%s became %x, %v, want %+v", text, reply, err, want)
		}
	}
	shown, err = f.ShowReply(encode(t, toolabi.ApproveReply{By: "mia", Note: "a&b"}))
	if want := `{"by":"mia","note":"a&b"}` + "\n"; err != nil || string(shown) != want {
		t.Errorf("the reply is shown as %s, %v, want %s", shown, err, want)
	}
	if shown, err := f.ShowReply([]byte{0xff}); err == nil {
		t.Errorf("garbage is shown as %s", shown)
	}
}

func TestWhatIsNoYesIsRefused(t *testing.T) {
	parse := function(t, toolabi.FuncApprove).ParseReply
	for _, text := range []string{
		``, `yes`, `true`, `null`, `[]`, `{}`, `{"by":""}`, `{"by":" "}`, `{"note":"n"}`, `{"by":1}`, `{"by":null}`, `{"By":"mia"}`, `{"by":"a","by":"b"}`,
		`{"by":"a","approved":false}`, `{"by":"a"} {}`, `{"by":"` + strings.Repeat("a", 257) + `"}`, `{"by":"a","note":"` + strings.Repeat("a", 4097) + `"}`,
		"{\"by\":\"\xff\"}",
	} {
		if reply, err := parse([]byte(text)); err == nil {
			t.Errorf("%.40s became %x", text, reply)
		}
	}
}

// Whatever a person says is refused, or becomes a reply that can be read and that says the same when it is shown.
func FuzzParseApproval(f *testing.F) {
	for _, seed := range []string{`{"by":"mia","note":"once"}`, `{"by":"\u0000"}`, "yes", `{"by":"a","note":"\ud83d\ude00"}`} {
		f.Add([]byte(seed))
	}
	approve := function(f, toolabi.FuncApprove)
	f.Fuzz(func(t *testing.T, text []byte) {
		reply, err := approve.ParseReply(text)
		if err != nil {
			return
		}
		shown, err := approve.ShowReply(reply)
		if err != nil {
			t.Fatalf("%q became a reply that cannot be read: %v", text, err)
		}
		if again, err := approve.ParseReply(shown); err != nil || !bytes.Equal(again, reply) {
			t.Fatalf("%q is shown as %s and became another reply: %v", text, shown, err)
		}
	})
}

// No request that waits is accepted by one part of a function and refused by another, and what is accepted can be shown.
func FuzzWaiting(f *testing.F) {
	f.Add([]byte{0xa0})
	for _, v := range []any{
		toolabi.ApproveRequest{Text: "Pay?", Detail: []byte(`{"a":1}`), ExpiresMS: 1}, toolabi.SleepRequest{MS: 1}, toolabi.SleepRequest{Until: -1},
		toolabi.SleepRequest{MS: 1, Until: 1}, toolabi.SleepRequest{Until: 1 << 62},
	} {
		f.Add(encode(f, v))
	}
	funcs := []hostfuncs.Func{function(f, toolabi.FuncApprove), function(f, toolabi.FuncSleep)}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, fn := range funcs {
			p, err := fn.Await(at(1000), raw)
			if checked := fn.Check(at(1000), raw); (checked == nil) != (err == nil) {
				t.Fatalf("%s(%x): Await says %v, Check says %v", fn.Name, raw, err, checked)
			}
			if fn.ShowRequest != nil && err == nil {
				if _, err := fn.ShowRequest(raw); err != nil {
					t.Fatalf("%s(%x) cannot be shown: %v", fn.Name, raw, err)
				}
			}
			fn.Describe(raw)
			if err == nil && (strings.TrimSpace(p.Text) == "" || p.Due.IsZero() != (p.Reply == nil)) {
				t.Fatalf("%s(%x) waits for %+v", fn.Name, raw, p)
			}
		}
	})
}
