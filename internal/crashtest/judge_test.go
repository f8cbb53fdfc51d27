package crashtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wrun-dev/wrun/internal/crashtest"
	"github.com/wrun-dev/wrun/internal/world"
)

// actor is a Child without a process: what a life does is written for one test. second is called for a process that goes on after
// one that died.
type actor struct {
	t      *testing.T
	first  func(pay func(what string)) string
	second func(pay func(what string)) string
	end    func(*crashtest.End)
}

func (a actor) Live(ctx context.Context, job crashtest.Job, _ func(crashtest.Doubt) (crashtest.Verdict, error)) (crashtest.Lived, error) {
	cfg, err := world.Dial(job.World)
	if err != nil {
		return crashtest.Lived{}, err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, at string) (net.Conn, error) {
		host, port, _ := net.SplitHostPort(at)
		ips, err := cfg.Resolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return nil, err
		}
		return cfg.Dial(ctx, network, net.JoinHostPort(ips[0].String(), port))
	}}}
	pay := func(what string) {
		res, err := client.Post("http://shop.example/pay", "text/plain", strings.NewReader(what))
		if err != nil {
			a.t.Error(err)
			return
		}
		res.Body.Close()
	}
	life := a.first
	if job.Kill == nil && strings.Contains(job.Dir, "trial-") { // the first life of a trial is one that ends early
		life = a.second
	}
	output := life(pay)
	if job.Kill != nil {
		return crashtest.Lived{Died: job.Kill, Killed: true}, nil
	}
	end := &crashtest.End{
		Output: json.RawMessage(output), Had: 1, Log: []crashtest.Line{{Kind: "created"}},
		Trace: crashtest.Trace{{{Kind: "created", Nth: 1}}},
	}
	if a.end != nil {
		a.end(end)
	}
	return crashtest.Lived{End: end}, nil
}

func TestWhatIsWrongIsFound(t *testing.T) {
	var random atomic.Int64
	once := func(pay func(string)) string { pay("a"); return `{"paid":1}` }
	nothing := func(func(string)) string { return `{"paid":1}` }
	for _, c := range []struct {
		name          string
		first, second func(func(string)) string
		end           func(*crashtest.End)
		finding       string // "" for none
		sum           crashtest.Sum
	}{
		{"nothing is", once, nothing, nil, "", crashtest.Sum{Kills: 1, Acted: 1}},
		{"it is done twice", once, once, nil, "repeated: http pay: POST http://shop.example/pay a (2 instead of 1)", crashtest.Sum{Kills: 1, Acted: 2, Repeated: 1, Failed: 1}},
		{"another output", once, func(func(string)) string { return `{"paid":2}` }, nil, "it ends otherwise at .output.paid: 2, without a death 1", crashtest.Sum{Kills: 1, Acted: 1, Differs: 1, Failed: 1}},
		{"an output that is another one each time", func(pay func(string)) string {
			pay(fmt.Sprint(random.Add(1)))
			return fmt.Sprintf(`{"paid":%d}`, random.Add(1))
		}, func(func(string)) string { return `{"paid":-1}` }, nil, "", crashtest.Sum{Kills: 1, Acted: 1}},
		{"the log forgets", once, nothing, func(e *crashtest.End) { e.Forgotten = 1 }, "1 entries that were in the log", crashtest.Sum{Kills: 1, Acted: 1, Failed: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := parseWorld(t, "wrun_test: 1\nworld: { http: [{ name: pay, request: POST http://shop.example/pay }] }\n")
			rep, err := crashtest.Test(t.Context(), crashtest.Config{Child: actor{t, c.first, c.second, c.end}, World: w, Dir: t.TempDir(), Places: 1, Only: 1})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, tr := range rep.Trials {
				found = append(found, tr.Findings...)
			}
			text := strings.Join(found, "; ")
			if (c.finding == "") != (text == "") || !strings.Contains(text, c.finding) {
				t.Errorf("found %q, want %q", text, c.finding)
			}
			if got := rep.Sum(); got != c.sum {
				t.Errorf("the sums are %+v, want %+v", got, c.sum)
			}
		})
	}
}

// Lost is the other way round: the process that dies has not done it, and the one that goes on believes so.
func TestWhatIsLostIsFound(t *testing.T) {
	w := parseWorld(t, "wrun_test: 1\nworld: { http: [{ name: pay, request: POST http://shop.example/pay }] }\n")
	calm := true
	first := func(pay func(string)) string {
		if calm {
			pay("a")
		}
		return `1`
	}
	dies := dying{actor{t, first, func(func(string)) string { return `1` }, nil}, func() { calm = false }}
	rep, err := crashtest.Test(t.Context(), crashtest.Config{Child: dies, World: w, Dir: t.TempDir(), Places: 1})
	if err != nil {
		t.Fatal(err)
	}
	if s := rep.Sum(); s.Lost != 1 || s.Failed != 1 || rep.Trials[0].Findings[0] != "lost: http pay: POST http://shop.example/pay a (0 instead of 1)" {
		t.Errorf("got %+v, %q", s, rep.Trials[0].Findings)
	}
}

// dying says when a process is to be killed.
type dying struct {
	actor
	before func()
}

func (d dying) Live(ctx context.Context, job crashtest.Job, judge func(crashtest.Doubt) (crashtest.Verdict, error)) (crashtest.Lived, error) {
	if job.Kill != nil {
		d.before()
	}
	return d.actor.Live(ctx, job, judge)
}

func TestAWorldThatARunHasNoUseForIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"world: {}\n":    `it has to begin with "wrun_test: 1"`,
		"wrun_test: 1\n": `"world" is missing`,
		"wrun_test: 1\nworld: { tools: { rates.get: [{ output: 1 }] } }\n": "a tool is a module of the plan",
		"wrun_test: 1\nworld: { kv: { s: { a: b } } }\n":                   "begins with empty stores",
		"wrun_test: 1\nworld: {}\ncases: []\n":                             "cases",
	} {
		if _, err := crashtest.ParseWorld([]byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
