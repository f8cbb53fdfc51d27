package world_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// run lets a world run with a clock that the test sets.
func run(t *testing.T, w *world.World) (l *world.Live, now *time.Time) {
	t.Helper()
	now = &time.Time{}
	*now = w.At()
	l, err := world.Start(w, world.Options{Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, now
}

const shop = `
http:
- {name: look, request: GET https://a.example/ship, replies: [{status: 202}, {status: 200}]}
- {name: ship, request: POST https://a.example/ship, late: 10m, times: 1, reply: {status: 201}}
- {name: pay, request: POST https://a.example/pay, replies: [{status: 201, body: one}, {status: 201, body: two}]}
- {name: no, request: POST https://a.example/no, replies: [{status: 402}, {status: 500}]}
- {name: set, request: PUT https://a.example/set}
`

func TestALateRouteActsWhenItsTimeHasCome(t *testing.T) {
	l, now := run(t, parse(t, shop).WithFault("ship", 0, world.LostReply))
	u := newTool(t, l, "https://a.example")
	u.want(u.http("POST", "https://a.example/ship", ""), "unavailable closed unknown")
	if at := l.Late(); l.Acted("ship") != 0 || !at.Equal(now.Add(10*time.Minute)) {
		t.Errorf("at once: acted %d, to act at %v", l.Acted("ship"), at)
	}
	*now = now.Add(10*time.Minute - 1)
	if l.Acted("ship") != 0 {
		t.Error("it acted too soon")
	}
	*now = now.Add(1)
	if l.Acted("ship") != 1 || !l.Late().IsZero() {
		t.Errorf("then: acted %d, still to act at %v", l.Acted("ship"), l.Late())
	}
	u.want(events(l), "ship/lost_reply ship!")
	if r, ok := l.Replied("k1"); !ok || r.Status != 201 {
		t.Errorf("it would have been answered %v %v", r, ok)
	}
	if _, ok := l.Replied("k2"); ok {
		t.Error("a key that never came has a reply")
	}
}

// A route that is late acts at once where its reply comes.
func TestALateRouteThatRepliesHasActed(t *testing.T) {
	l, _ := run(t, parse(t, shop))
	u := newTool(t, l, "https://a.example")
	u.want(u.http("POST", "https://a.example/ship", ""), "201")
	u.want(events(l), "ship!")
}

func TestWhatComesAgainUnderItsKeyIsTheSameRequest(t *testing.T) {
	l, _ := run(t, parse(t, shop))
	u := newTool(t, l, "https://a.example")
	u.want(u.http("POST", "https://a.example/pay", "a"), "201 one")
	u.want(u.http("POST", "https://a.example/pay", "a"), "201 one")
	u.call.Key = "k2"
	u.want(u.http("POST", "https://a.example/pay", "a"), "201 two")
	u.want(u.http("POST", "https://a.example/ship", ""), "201")
	u.want(u.http("POST", "https://a.example/ship", ""), "201")
	u.want(events(l), "pay! pay! pay! ship! ship!")
}

func TestWhatAServerDeclinesIsSeenAsSuch(t *testing.T) {
	l, _ := run(t, parse(t, shop).WithFault("no", 0, world.LostReply))
	u := newTool(t, l, "https://a.example")
	u.want(u.http("POST", "https://a.example/no", ""), "unavailable closed unknown")
	u.call.Key = "k2"
	u.want(u.http("POST", "https://a.example/no", ""), "500")
	if seen := l.Seen(); !seen[0].Declined || seen[1].Declined {
		t.Errorf("declined: %v and %v, want the first, whose reply was lost", seen[0].Declined, seen[1].Declined)
	}
}

func TestAFaultThatIsAddedIsOneAnswer(t *testing.T) {
	for fault, want := range map[world.Fault]string{world.LostReply: "unavailable closed unknown", world.Hangs: "timeout timeout unknown", world.Refused: "unavailable connect none"} {
		for n := range 3 {
			l, _ := run(t, parse(t, shop).WithFault("pay", n, fault))
			u := newTool(t, l, "https://a.example")
			for i := range 4 {
				body := []string{"one", "two", "two", "two"}[i]
				u.call.Key = string(rune('a' + i))
				if got := u.http("POST", "https://a.example/pay", ""); i == n {
					u.want(got, want)
					got = u.http("POST", "https://a.example/pay", "")
					u.want(got, "201 "+body)
				} else {
					u.want(got, "201 "+body)
				}
			}
		}
	}
}

func TestAMessageHasAnotherFate(t *testing.T) {
	w := parse(t, "mail: [accept, refuse]").WithMail(0, world.Lost)
	if got := w.Mail; len(got) != 2 || got[0] != world.Lost || got[1] != world.Refuse {
		t.Errorf("got %v", got)
	}
	w = parse(t, "mail: [accept]").WithMail(1, world.Lost)
	if got := w.Mail; len(got) != 3 || got[0] != world.Accept || got[1] != world.Lost || got[2] != world.Accept {
		t.Errorf("got %v", got)
	}
}

func TestWhatWasNotWrittenDownIsReadAgain(t *testing.T) {
	l, _ := run(t, parse(t, shop))
	u := newTool(t, l, "https://a.example")
	u.want(u.http("GET", "https://a.example/ship", ""), "202")
	from := l.Mark()
	u.want(u.http("PUT", "https://a.example/set", ""), "200")
	u.want(u.http("GET", "https://a.example/ship", ""), "200")
	l.Unread(0, from)
	u.want(u.http("GET", "https://a.example/ship", ""), "200")
	l.Unread(from, l.Mark())
	u.want(u.http("GET", "https://a.example/ship", ""), "202")
}

// What is said that a server replied is what it would have replied.
func TestAReplyIsSaidAsItWouldHaveCome(t *testing.T) {
	const text = "http: [{request: POST https://a.example/, replies: [{status: 201, body: {id: 1}, headers: {X-A: b}}, {status: 204}, {base64: AP8=}]}]"
	l, _ := run(t, parse(t, text))
	u := newTool(t, l, "https://a.example")
	for _, key := range []string{"a", "b", "c"} {
		u.call.Key = key
		came, err := use[toolabi.HTTPRequest, toolabi.HTTPReply](u, toolabi.FuncHTTPSend, toolabi.HTTPRequest{Method: "POST", URL: "https://a.example/"})
		if err != nil {
			t.Fatal(err)
		}
		came.Headers = slices.DeleteFunc(came.Headers, func(h toolabi.Header) bool { return h.Name == "Content-Length" || h.Name == "Connection" })
		reply, ok := l.Replied(key)
		text, err := reply.Said()
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		raw, err := hostfuncs.ParseSaidReply(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var said toolabi.HTTPReply
		if err := toolabi.Decode(raw, &said); err != nil {
			t.Fatal(err)
		}
		if said.Status != came.Status || string(said.Body) != string(came.Body) || !slices.Equal(said.Headers, came.Headers) {
			t.Errorf("said %+v, came %+v", said, came)
		}
	}
}
