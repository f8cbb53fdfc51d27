package world_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// start lets a world run until the test ends.
func start(t *testing.T, text string, mail ...hostfuncs.MailGrant) *world.Live {
	t.Helper()
	var opts world.Options
	if len(mail) > 0 {
		opts.Mail = mail[0]
	}
	l, err := world.Start(parse(t, text), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// tool uses host functions as a tool would.
type tool struct {
	t     *testing.T
	funcs []hostfuncs.Func
	call  hostfuncs.Call
}

// newTool is a tool in this process, granted the origins.
func newTool(t *testing.T, l *world.Live, origins ...string) *tool {
	t.Helper()
	cfg, err := l.Config()
	if err != nil {
		t.Fatal(err)
	}
	return &tool{t, l.Funcs(hostfuncs.Standard(cfg)), hostfuncs.Call{Key: "k1", Repeatable: true, Grants: hostfuncs.Grants{HTTP: origins}}}
}

func use[Req, Reply any](u *tool, name string, req Req) (reply Reply, err error) {
	u.t.Helper()
	i := slices.IndexFunc(u.funcs, func(f hostfuncs.Func) bool { return f.Name == name })
	raw, err := toolabi.Encode(req)
	if err != nil {
		u.t.Fatal(err)
	}
	out, err := u.funcs[i].Call(context.Background(), u.call, raw)
	if err != nil {
		return reply, err
	}
	return reply, toolabi.Decode(out, &reply)
}

// http sends or fetches, and says what came of it: status and body, or code and effect.
func (u *tool) http(method, url, body string, headers ...toolabi.Header) string {
	u.t.Helper()
	name := toolabi.FuncHTTPSend
	if method == "GET" {
		name = toolabi.FuncHTTPFetch
	}
	reply, err := use[toolabi.HTTPRequest, toolabi.HTTPReply](u, name, toolabi.HTTPRequest{Method: method, URL: url, Body: []byte(body), Headers: headers})
	var said *toolabi.Error
	if errors.As(err, &said) {
		return said.Code.String() + " " + said.Detail + " " + said.Effect.String()
	}
	if err != nil {
		u.t.Fatal(err)
	}
	return strings.TrimSpace(world.ShowJSON(json.Number(itoa(reply.Status))) + " " + string(reply.Body))
}

func itoa(n uint16) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func (u *tool) want(got, want string) {
	u.t.Helper()
	if got != want {
		u.t.Errorf("got %q, want %q", got, want)
	}
}

// events says what the world saw, in a word for each.
func events(l *world.Live) string {
	var words []string
	for _, e := range l.Seen() {
		word := e.Route
		for mark, is := range map[string]bool{"!": e.Acted, "=": e.Replayed, "#": e.Contradicted, "?": e.Unexpected} {
			if is {
				word += mark
			}
		}
		if e.Fault != "" {
			word += "/" + string(e.Fault)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestEveryOriginAnswersOnLoopback(t *testing.T) {
	l := start(t, `
http:
- {name: secure, request: GET https://api.example.com/a, reply: {body: {b: 1}}}
- {name: port, request: GET https://api.example.com:8443/a, reply: {body: port}}
- {name: plain, request: GET http://api.example.com/a, reply: {body: plain}}
- {name: address, request: GET http://127.0.0.1:9/a, reply: {body: address}}
- {name: secure address, request: GET https://10.1.2.3/a, reply: {body: private}}
- {name: six, request: "GET https://[::1]:9/a", reply: {body: six}}
- {name: local, request: GET http://localhost:9/a, reply: {body: local}}
- {name: below, request: GET https://api.example.com/all/*, reply: {body: below, headers: {Retry-After: "1"}}}
`)
	u := newTool(t, l, "https://api.example.com", "https://api.example.com:8443", "http://api.example.com", "http://127.0.0.1:9", "https://10.1.2.3", "https://[::1]:9", "http://localhost:9")
	for url, want := range map[string]string{
		"https://api.example.com/a": `200 {"b":1}`, "https://api.example.com:8443/a": "200 port", "http://api.example.com/a": "200 plain",
		"http://127.0.0.1:9/a": "200 address", "https://10.1.2.3/a": "200 private", "https://[::1]:9/a": "200 six", "http://localhost:9/a": "200 local",
		"https://api.example.com/all/x/y?z": "200 below", "http://api.example.com:80/a": "200 plain",
	} {
		if got := u.http("GET", url, ""); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
	if got := l.Unexpected(); len(got) > 0 {
		t.Errorf("unexpected: %+v", got)
	}
	if got := u.http("GET", "http://10.1.2.3/a", ""); got != "denied  none" {
		t.Errorf("what is not granted: %q", got)
	}
}

func TestWhatARouteWantsOfARequest(t *testing.T) {
	l := start(t, `
http:
- {name: json, request: POST https://a.example/j, body: {a: 1, b: [2]}}
- {name: text, request: POST https://a.example/t, body: "{\"a\": 1}"}
- {name: where, request: POST https://a.example/w, where: .n > 0}
- {name: header, request: POST https://a.example/h, headers: {X-Tenant: a}}
- {name: query, request: "GET https://a.example/q?a=1&b=2"}
`)
	u := newTool(t, l, "https://a.example")
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/j", `{ "b": [2.0], "a": 1 }`, "200"},
		{"POST", "/t", `{"a": 1}`, "200"},
		{"POST", "/w", `{"n": 1}`, "200"},
		{"GET", "/q?b=2&a=1", "", "200"},
		{"POST", "/j", `{"a":2}`, `the closest route is "json": it wants the body {"a":1,"b":[2]}, this one has {"a":2}`},
		{"POST", "/t", `{"a":1}`, `the closest route is "text": it wants the body {"a": 1}, this one has {"a":1}`},
		{"POST", "/w", `{"n": 0}`, `the closest route is "where": it wants .n > 0 of the body, this one has {"n": 0}`},
		{"POST", "/w", `n`, `the closest route is "where": it wants .n > 0 of the body, which is no JSON`},
		{"POST", "/h", ``, `the closest route is "header": it wants the header X-Tenant: a, which is not there`},
		{"PUT", "/h", ``, `the closest route is "header": it answers POST`},
		{"GET", "/q?a=1", "", `the closest route is "query": it answers the query "a=1&b=2", this one has "a=1"`},
		{"GET", "/x", "", `the closest route is "json": it answers another path`},
	} {
		before := len(l.Unexpected())
		got := u.http(c.method, "https://a.example"+c.path, c.body)
		if wrong := l.Unexpected(); len(wrong) > before {
			u.want(got[:3], "501")
			got = wrong[before].Why
		}
		if got != c.want {
			t.Errorf("%s %s %s\ngot  %s\nwant %s", c.method, c.path, c.body, got, c.want)
		}
	}
	u.want(u.http("POST", "https://a.example/h", "", toolabi.Header{Name: "x-tenant", Value: "a"}), "200")
}

func TestAKeyIsActedUponOnce(t *testing.T) {
	l := start(t, `
http:
- name: charge
  request: POST https://a.example/charges
  dedupe: header Idempotency-Key
  replies: [{status: 201, body: first, fault: lost_reply}, {status: 201, body: second}]
- {name: order, request: POST https://a.example/orders, dedupe: body .id, reply: {status: 202}}
`)
	u := newTool(t, l, "https://a.example")
	url := "https://a.example/charges"
	u.want(u.http("POST", url, "x"), "unavailable closed unknown")
	u.want(u.http("POST", url, "x"), "201 first")
	u.want(u.http("POST", url, "y"), "422 the key was used for another request")
	u.call.Key = "k2"
	u.want(u.http("POST", url, "y"), "201 second")
	u.want(u.http("POST", "https://a.example/orders", `{"id":1,"n":1}`), "202")
	u.want(u.http("POST", "https://a.example/orders", `{"id":1,"n":2}`), "422 the key was used for another request")
	u.want(u.http("POST", "https://a.example/orders", `{"n":2}`), "202")
	u.want(events(l), "charge!/lost_reply charge= charge# charge! order! order# order!")
	if l.Acted("charge") != 2 || l.Acted("order") != 2 || len(l.Unexpected()) != 2 {
		t.Errorf("acted %d and %d times, %d requests contradict", l.Acted("charge"), l.Acted("order"), len(l.Unexpected()))
	}
}

func TestRoutesKnowWhatOthersDid(t *testing.T) {
	l := start(t, `
http:
- {name: none, request: GET https://a.example/charge, unless: charge, reply: {status: 404}}
- {name: one, request: GET https://a.example/charge, if: charge, times: 1, reply: {status: 200}}
- {name: charge, request: POST https://a.example/charge, reply: {status: 201}}
`)
	u := newTool(t, l, "https://a.example")
	url := "https://a.example/charge"
	u.want(u.http("GET", url, ""), "404")
	u.want(u.http("POST", url, ""), "201")
	u.want(u.http("GET", url, ""), "200")
	u.want(u.http("GET", url, "")[:3], "501")
	if got, want := l.Unexpected()[0].Why, `the closest route is "none": it answers only before "charge" has acted`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFaults(t *testing.T) {
	l := start(t, `
http:
- {name: other, request: GET https://a.example/other}
- {name: refused, request: POST https://a.example/r, replies: [{fault: refused}, {status: 201}]}
- {name: hangs, request: POST https://a.example/h, fault: hangs}
- {name: lost, request: GET https://a.example/l, fault: lost_reply}
`)
	u := newTool(t, l, "https://a.example")
	u.want(u.http("GET", "https://a.example/other", ""), "200")
	u.want(u.http("POST", "https://a.example/r", ""), "unavailable connect none")
	u.want(u.http("POST", "https://a.example/r", ""), "201")
	u.want(u.http("POST", "https://a.example/h", ""), "timeout timeout unknown")
	u.want(u.http("GET", "https://a.example/l", ""), "unavailable closed unknown")
	u.want(events(l), "other refused/refused refused! hangs!/hangs lost/lost_reply")
	if e := l.Seen()[1]; e.Method != "POST" || e.URL != "https://a.example/r" || e.Key != "k1" {
		t.Errorf("what was refused is %+v", e)
	}
}

func TestValuesOfSecretsAreNotSeen(t *testing.T) {
	const value = "not a real key"
	l := start(t, `
secrets: {api-key: "`+value+`", other_key: never-used-here}
http:
- name: charge
  request: POST https://a.example/charges
  headers: {Authorization: "Bearer {{secret:api-key}}"}
  body: {key: "`+value+`"}
  reply: {body: {echo: "`+value+`"}}
`)
	u := newTool(t, l, "https://a.example")
	for _, name := range []string{"api-key", "other_key"} {
		g := hostfuncs.SecretGrant{Name: name, Source: world.SecretSource(name), Origins: []string{"https://a.example"}}
		u.call.Grants.Secrets = append(u.call.Grants.Secrets, g)
		u.call.Secrets = append(u.call.Secrets, name)
	}
	if err := u.call.Grants.Validate(); err != nil {
		t.Fatal(err)
	}
	got := u.http("POST", "https://a.example/charges", `{"key":"{{secret:api-key}}"}`, toolabi.Header{Name: "Authorization", Value: "Bearer {{secret:api-key}}"})
	u.want(got, `200 {"echo":"[secret:api-key]"}`)
	u.http("POST", "https://a.example/other", "Bm90IGEgcmVhbCBrZXk=") // in base64
	seen, err := json.Marshal(l.Seen())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(seen), value) || strings.Count(string(seen), "{{secret:api-key}}") < 3 || strings.Contains(string(seen), "bm90IGEgcmVhbCBrZXk") {
		t.Errorf("seen %s", seen)
	}
}

func TestMessages(t *testing.T) {
	for _, server := range []string{"smtps://mail.example.com:465", "smtp://mail.example.com:587", "smtp://127.0.0.1:2525"} {
		g := hostfuncs.MailGrant{Server: server, From: "desk@example.com", User: "desk", Secret: "pw", To: []string{"*"}}
		l := start(t, "mail: [refuse, lost, accept]\nsecrets: {pw: not-a-password}", g)
		u := newTool(t, l)
		u.call.Grants.Mail = g
		u.call.Grants.Secrets = []hostfuncs.SecretGrant{{Name: "pw", Source: world.SecretSource("pw"), Origins: []string{server}}}
		req := toolabi.MailSendRequest{
			To: []string{"ann@example.com"}, Subject: "Grüße", Text: "a\nb = c\n", HTML: "<p>é</p>", Attachments: []toolabi.MailAttachment{{Name: "a.pdf", Body: []byte("x")}},
		}
		var got []string
		for range 4 {
			reply, err := use[toolabi.MailSendRequest, toolabi.MailSendReply](u, toolabi.FuncMailSend, req)
			var said *toolabi.Error
			switch {
			case errors.As(err, &said):
				got = append(got, said.Code.String()+" "+said.Effect.String())
			case err != nil:
				t.Fatal(err)
			default:
				got = append(got, reply.MessageID)
			}
		}
		if want := "failed none, unavailable unknown, <k1@example.com>, <k1@example.com>"; strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q", server, got, want)
		}
		u.want(events(l), " !/lost_reply ! !")
		seen := l.Seen()
		m := seen[3].Message
		if len(seen) != 4 || m.From != "desk@example.com" || !slices.Equal(m.To, req.To) || m.Subject != req.Subject || m.Text != req.Text || m.HTML != "<p>é</p>\n" || !slices.Equal(m.Attachments, []string{"a.pdf"}) {
			t.Errorf("%s: seen %+v, %+v", server, seen, m)
		}
	}
}

func TestAMessageThatTheWorldDoesNotKnowIsUnexpected(t *testing.T) {
	g := hostfuncs.MailGrant{Server: "smtp://127.0.0.1:2525", From: "desk@example.com", To: []string{"*"}}
	l := start(t, "{}", g)
	u := newTool(t, l)
	u.call.Grants.Mail = g
	_, err := use[toolabi.MailSendRequest, toolabi.MailSendReply](u, toolabi.FuncMailSend, toolabi.MailSendRequest{To: []string{"ann@example.com"}, Text: "a"})
	if wrong := l.Unexpected(); !errors.Is(err, toolabi.Failed) || len(wrong) != 1 || wrong[0].Why != "the world has no mail server" {
		t.Errorf("got %v, and %+v", err, wrong)
	}
}

const envRemote = "WRUN_TEST_WORLD"

// Another process reaches the servers of a world, and the world remembers what it did there.
func TestAnotherProcessReachesTheWorld(t *testing.T) {
	if text := os.Getenv(envRemote); text != "" {
		var r world.Remote
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		cfg, err := world.Dial(r)
		if err != nil {
			t.Fatal(err)
		}
		u := &tool{t, hostfuncs.Standard(cfg), hostfuncs.Call{Key: "k1", Repeatable: true, Grants: hostfuncs.Grants{HTTP: []string{"https://a.example"}}}}
		u.want(u.http("POST", "https://a.example/charges", "x"), "unavailable connect none")
		u.want(u.http("POST", "https://a.example/charges", "x"), "201 first")
		return
	}
	l := start(t, `
http:
- name: charge
  request: POST https://a.example/charges
  dedupe: header Idempotency-Key
  replies: [{fault: refused}, {status: 201, body: first}]
`)
	remote, err := json.Marshal(l.Remote())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestAnotherProcessReachesTheWorld$")
	cmd.Env = append(os.Environ(), envRemote+"="+string(remote))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	u := newTool(t, l, "https://a.example")
	u.want(u.http("POST", "https://a.example/charges", "x"), "201 first")
	u.want(events(l), "charge/refused charge! charge=")
}
