package world_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// everything has each key of a world.
const everything = `
clock: 2026-01-02T03:04:05Z
http:
- name: charge
  request: POST https://api.example.com/charges
  headers: {X-Tenant: a}
  body: {amount: 500, list: [1, "2", null, true]}
  where: .amount > 0
  dedupe: header Idempotency-Key
  times: 2
  replies: [{status: 503, headers: {Retry-After: "1"}, fault: lost_reply}, {status: 201, body: {id: ch_1}}]
- request: GET https://api.example.com/charges/*
  effect: true
  if: charge
  dedupe: body .request_id
  late: 10m
  undoes: charge
  reply: {base64: AP8=}
- request: GET http://127.0.0.1:8080/a?x=1
  unless: charge
  optional: true
  effect: sets
  reply: {file: big.bin}
  fault: refused
kv: {payments: {"order/7": paid, "order/8": {n: 1.50}, "9": "9"}}
files: {in/orders.csv: "a,b\n"}
config: {currency: EUR, note: null}
secrets: {api_key: not-a-real-key, other: null}
approvals: [yes, no, {yes: false, by: mia, note: too much}]
mail: [accept, refuse, lost]
tools: {"rates.get": [{output: {rate: 2}}, {error: {code: unavailable, message: down}}]}
`

func files(path string) ([]byte, error) {
	if path != "big.bin" {
		return nil, errors.New("there is no such file")
	}
	return []byte{0, 1}, nil
}

func parse(t *testing.T, text string) *world.World {
	t.Helper()
	w, err := world.Parse([]byte(text), files)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return w
}

func TestAWorldIsReadAsItIsWritten(t *testing.T) {
	w := parse(t, everything)
	if want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC); !w.At().Equal(want) || len(w.HTTP) != 3 {
		t.Fatalf("at %v, %d routes", w.At(), len(w.HTTP))
	}
	charge := w.HTTP[0]
	if charge.Name != "charge" || charge.Origin() != "https://api.example.com" || !charge.Effect || charge.Times != 2 || len(charge.Replies) != 2 || charge.Replies[0].Fault != world.LostReply {
		t.Errorf("the first route is %+v", charge)
	}
	if got, want := string(charge.Body.Raw()), `{"amount":500,"list":[1,"2",null,true]}`; got != want {
		t.Errorf("its body is %s, want %s", got, want)
	}
	if r := w.HTTP[1]; r.Name != "GET https://api.example.com/charges/*" || !r.Effect || r.Late != 10*time.Minute || r.Undoes != "charge" || string(r.Replies[0].Body.Raw()) != "\x00\xff" || r.Replies[0].Status != 200 {
		t.Errorf("the second route is %+v", r)
	}
	if r := w.HTTP[2]; !r.Effect || !r.Sets || !r.Optional || r.Replies[0].Fault != world.Refused || string(r.Replies[0].Body.Raw()) != "\x00\x01" {
		t.Errorf("the third route is %+v", r)
	}
	for i, want := range []string{"POST https://api.example.com/charges", "GET https://api.example.com/charges/", "GET http://127.0.0.1:8080/a"} {
		if got := w.HTTP[i].Grant(); got != want {
			t.Errorf("route %d needs %q, want %q", i, got, want)
		}
	}
	if got := string(w.KV["payments"]["order/8"].Raw()); got != `{"n":1.50}` || string(w.KV["payments"]["9"].Raw()) != "9" {
		t.Errorf("the store has %s", got)
	}
	want := []world.Approval{{Yes: true}, {}, {By: "mia", Note: "too much"}}
	if !reflect.DeepEqual(w.Approvals, want) {
		t.Errorf("answers %+v, want %+v", w.Approvals, want)
	}
	rates := w.Tools["rates.get"]
	if world.ShowJSON(rates[0].Output) != `{"rate":2}` || !errors.Is(rates[1].Err, toolabi.Unavailable) || rates[1].Err.Message != "down" {
		t.Errorf("the tool answers %+v", rates)
	}
	if !w.Without("note") || !w.Without("other") || w.Without("currency") || len(w.Config) != 1 {
		t.Errorf("settings %v", w.Config)
	}
	if again := parse(t, written(t, w)); !same(w, again) {
		t.Errorf("written as\n%s", written(t, w))
	}
}

// written is a world in YAML.
func written(t *testing.T, w *world.World) string {
	t.Helper()
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(w.Node()), enc.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// same compares worlds by what can be seen of them.
func same(a, b *world.World) bool {
	show := func(w *world.World) string {
		text, err := yaml.Marshal(w.Node())
		if err != nil {
			return err.Error()
		}
		routes, err := json.Marshal(w.HTTP)
		if err != nil {
			return err.Error()
		}
		return string(text) + string(routes)
	}
	return show(a) == show(b)
}

func TestWhatARouteDoesByItsMethod(t *testing.T) {
	for text, want := range map[string]string{
		"GET https://a.example/": "nothing", "HEAD https://a.example/": "nothing", "POST https://a.example/": "adds", "PATCH https://a.example/": "adds",
		"PUT https://a.example/": "sets", "DELETE https://a.example/": "sets", "GET https://a.example/, effect: true": "adds",
		"PUT https://a.example/, effect: true": "sets", "PUT https://a.example/, effect: adds": "adds", "POST https://a.example/, effect: sets": "sets",
		"POST https://a.example/, effect: false": "nothing",
	} {
		w := parse(t, "http: [{request: "+text+"}]")
		got := map[bool]string{false: "adds", true: "sets"}[w.HTTP[0].Sets]
		if !w.HTTP[0].Effect {
			got = "nothing"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if again := parse(t, written(t, w)); !same(w, again) {
			t.Errorf("%s is written as\n%s", text, written(t, w))
		}
	}
}

func TestTheFieldsOfACaseTakeThePlaceOfTheSharedOnes(t *testing.T) {
	shared := parse(t, "http: [{request: GET https://a.example/}]\nconfig: {a: b, c: d}\nmail: [accept]")
	own := parse(t, "config: {a: e}\napprovals: [no]")
	m := world.Merge(shared, own)
	if len(m.HTTP) != 1 || !m.HTTP[0].Shared || shared.HTTP[0].Shared || !reflect.DeepEqual(m.Config, map[string]string{"a": "e"}) || len(m.Mail) != 1 || len(m.Approvals) != 1 {
		t.Errorf("merged %+v", m)
	}
	if m := world.Merge(shared, parse(t, "http: []")); len(m.HTTP) != 0 {
		t.Errorf("an empty list leaves %d routes", len(m.HTTP))
	}
	if m := world.Merge(nil, own); !reflect.DeepEqual(m.Config, own.Config) {
		t.Errorf("without a shared one: %+v", m)
	}
}

func TestAMistakeIsNamedWithItsPlace(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"htpp: []", `line 1, column 1: unknown field "htpp"; did you mean "http"?`},
		{"clock: noon", `"clock" has to be a time such as 2026-01-02T03:04:05Z, this is "noon"`},
		{"http: {}", `"http" has to be a list, this is a mapping`},
		{"http: [{reply: {}}]", `"request" is missing: METHOD URL`},
		{"http: [{request: https://a.example}]", `has to be METHOD URL`},
		{"http: [{request: get https://a.example}]", `method "get": want a word`},
		{"http: [{request: GET ftp://a.example}]", `want http://HOST or https://HOST`},
		{"http: [{request: GET https://a.example/a/../b}]", `nothing but dots`},
		{"http: [{request: GET https://a.example/#x}]", `#`},
		{"http: [{request: GET https://a.example/}, {request: GET https://a.example/}]", `there are two routes of the name`},
		{"http: [{request: GET https://a.example/, if: b}]", `line 1, column 46: there is no route of the name "b"`},
		{"http: [{request: GET https://a.example/, undoes: b}]", `there is no route of the name "b"`},
		{"http: [{request: GET https://a.example/, late: soon}]", `"late" has to be`},
		{"http: [{request: GET https://a.example/, where: .a >}]", `"where": unexpected EOF`},
		{"http: [{request: GET https://a.example/, where: now > 1}]", `now is not available in a case`},
		{"http: [{request: GET https://a.example/, dedupe: key}]", `"dedupe" has to be "header NAME" or "body EXPRESSION"`},
		{"http: [{request: GET https://a.example/, effect: maybe}]", `"effect" has to be true, false, adds or sets, this is "maybe"`},
		{"http: [{request: GET https://a.example/, times: 0}]", `"times" has to be a whole number from 1`},
		{"http: [{request: GET https://a.example/, reply: {}, replies: [{}]}]", `exclude each other`},
		{"http: [{request: GET https://a.example/, replies: []}]", `"replies" is empty`},
		{"http: [{request: GET https://a.example/, fault: hang}]", `want lost_reply, refused or hangs; did you mean "hangs"?`},
		{"http: [{request: GET https://a.example/, fault: hangs, reply: {fault: hangs}}]", `and so has one of its replies`},
		{"http: [{request: GET https://a.example/, reply: {status: 99}}]", `from 200 to 599`},
		{"http: [{request: GET https://a.example/, reply: {body: a, base64: YQ==}}]", `one of body, base64 and file`},
		{"http: [{request: GET https://a.example/, reply: {base64: '?'}}]", `illegal base64`},
		{"http: [{request: GET https://a.example/, reply: {file: nothing}}]", `file "nothing": there is no such file`},
		{"http: [{request: GET https://a.example/, reply: {headers: {'a b': c}}}]", `is no header that can be sent`},
		{"http: [{request: GET https://a.example/, reply: {headers: {Retry-After: 1}}}]", `"headers: Retry-After" has to be a string, this is the number 1`},
		{"kv: {A: {}}", `"A" is no name of a store`},
		{"files: {../a: b}", `is no path in a workspace`},
		{"files: {a: [b]}", `"a" has to be a string, this is a list`},
		{"config: {a: 1}", `"a" has to be a string, this is the number 1`},
		{"secrets: {a: short}", `at least 8 bytes`},
		{"approvals: [maybe]", `want yes or no, this is "maybe"`},
		{"approvals: [{by: a}]", `"yes" is missing`},
		{"approvals: []", `"approvals" is empty; leave it out`},
		{"mail: [acept]", `did you mean "accept"?`},
		{"tools: {rates: [{output: 1}]}", `want MODULE.TOOL`},
		{"tools: {rates.get: [{output: 1, error: {}}]}", `want "output" or "error"`},
		{"tools: {rates.get: [{error: {code: broken}}]}", `is no code of an error`},
		{"kv: {a: {b: &x c}}", `anchors are not allowed`},
		{"kv: {a: {b: 0x10}}", `no number of JSON`},
	} {
		if _, err := world.Parse([]byte(c.text), files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

// What is read is written and read as the same.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	for _, s := range []string{"http: [{request: GET https://a.example/a%20b?c=d&e}]", "kv: {a: {b: '1e5', c: .5, d: '- x', e: \"\\u2028\", f: [[]], g: {}}}", "files: {a: \"\\r\\n\"}", "approvals: [true, {yes: no}]", "mail: [lost]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := world.Parse([]byte(text), files)
		if err != nil {
			return
		}
		again, err := world.Parse([]byte(written(t, w)), files)
		if err != nil || !same(w, again) {
			t.Fatalf("%q is written as\n%s\nand read with %v", text, written(t, w), err)
		}
	})
}
