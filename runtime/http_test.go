package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// online gives a machine the http functions that every program has.
func online(c *runtime.Config) {
	for _, f := range hostfuncs.Standard(hostfuncs.Config{}) {
		switch f.Name {
		case toolabi.FuncHTTPSend:
			c.Funcs[0] = f
		case toolabi.FuncHTTPFetch:
			c.Funcs = append(c.Funcs, f)
		}
	}
}

// archive serves a file, takes what is posted, and cuts the reply to what is posted to /cut and drops the one to /drop.
type archive struct {
	*httptest.Server
	mu     sync.Mutex // guards the rest
	asked  []string
	posted []string
}

var archived = strings.Repeat("bytes of a file, ", 1_000_000) // longer than a body in a reply may be

// heard returns what was asked so far, and the bodies. A handler may still be at it where its reply was broken off.
func (a *archive) heard() (asked, posted []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked), slices.Clone(a.posted)
}

func newArchive(t *testing.T) *archive {
	a := new(archive)
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		a.asked, a.posted = append(a.asked, r.Method+" "+r.URL.Path), append(a.posted, string(body))
		a.mu.Unlock()
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/file", http.StatusFound)
		case "/cut":
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "some of it")
			panic(http.ErrAbortHandler)
		case "/drop":
			panic(http.ErrAbortHandler)
		default:
			io.WriteString(w, archived)
		}
	}))
	t.Cleanup(a.Close)
	return a
}

func (m *machine) reaching(a *archive, artifacts uint64) {
	m.grants = hostfuncs.Grants{HTTP: []string{a.URL}, Artifacts: artifacts}
}

func TestAReplyThatIsKeptIsAnArtifactOfTheRunAndCanBeSent(t *testing.T) {
	a := newArchive(t)
	m := newMachine(t, map[string]tool{"mirror": func(g *guest, _ string) string {
		got, err := asks[toolabi.HTTPRequest, toolabi.HTTPReply](g, toolabi.FuncHTTPFetch, toolabi.HTTPRequest{Method: "GET", URL: a.URL + "/moved", Redirects: 1, ToArtifact: 64 << 20})
		if err != nil || got.Size != uint64(len(archived)) || got.URL != a.URL+"/file" {
			t.Errorf("fetched %+v, %v", got, err)
		}
		sent, err := asks[toolabi.HTTPRequest, toolabi.HTTPReply](g, toolabi.FuncHTTPSend, toolabi.HTTPRequest{Method: "PUT", URL: a.URL + "/copy", BodyArtifact: got.Artifact, ToArtifact: 64 << 20})
		if err != nil || sent.Artifact != got.Artifact {
			t.Errorf("sent %+v, %v", sent, err)
		}
		return fmt.Sprintf("%q", got.Artifact)
	}})
	m.reaching(a, 1<<30)
	want := fmt.Sprintf(`["%s"]`, digestOf(archived))
	for range 2 { // the second time it is served from the log
		res, err := m.drive(m.process(m.mem.Handle(), online), steps("mirror"))
		if err != nil || string(res.Output) != want {
			t.Fatalf("got %.100s, %v, want %s", res.Output, err, want)
		}
	}
	asked, posted := a.heard()
	if got := strings.Join(asked, ", "); got != "GET /moved, GET /file, PUT /copy" || posted[2] != archived {
		t.Errorf("the server was asked %s, and was sent %d bytes", got, len(posted[len(posted)-1]))
	}
	if got := strings.Join(refsOf(t, m, "r"), ", "); got != "s1/1 "+short(archived)+", s1/2 "+short(archived) {
		t.Errorf("the log refers to %s", got)
	}
}

// H15, H16: what was sent, and has no whole reply, is in doubt, also where the reply was to be kept; nothing of it is.
func TestAReplyThatBreaksOffLeavesItsEffectInDoubt(t *testing.T) {
	for _, path := range []string{"/drop", "/cut"} {
		for _, keep := range []uint64{0, 1000} {
			a := newArchive(t)
			m := newMachine(t, map[string]tool{"post": func(g *guest, _ string) string {
				asks[toolabi.HTTPRequest, toolabi.HTTPReply](g, toolabi.FuncHTTPSend, toolabi.HTTPRequest{Method: "POST", URL: a.URL + path, ToArtifact: keep})
				t.Error("the tool saw what nobody knows")
				return `""`
			}})
			m.reaching(a, 1<<20)
			for range 2 {
				_, err := m.drive(m.process(m.mem.Handle(), online), steps("post"))
				var u *runtime.UncertainError
				if !errors.As(err, &u) {
					t.Fatalf("%s, keeping %d: %v", path, keep, err)
				}
			}
			if asked, _ := a.heard(); len(asked) != 1 || len(refsOf(t, m, "r")) != 0 {
				t.Errorf("%s, keeping %d: asked %q, the log refers to %q", path, keep, asked, refsOf(t, m, "r"))
			}
		}
	}
}

// Parallel replies that each fit, and do not fit together, come to the cap at once.
func TestParallelRepliesKeepToTheCapOfArtifacts(t *testing.T) {
	const size, branches = 600, 4
	var all sync.WaitGroup
	all.Add(branches)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all.Done()
		all.Wait() // every one has found room by then
		io.WriteString(w, strings.Repeat(r.URL.Path[1:2], size))
	}))
	t.Cleanup(s.Close)
	var mu sync.Mutex
	var refused []*toolabi.Error
	m := newMachine(t, map[string]tool{"post": func(g *guest, input string) string {
		_, err := asks[toolabi.HTTPRequest, toolabi.HTTPReply](g, toolabi.FuncHTTPSend, toolabi.HTTPRequest{Method: "POST", URL: s.URL + "/" + input, ToArtifact: 1000})
		if err != nil {
			mu.Lock()
			refused = append(refused, err)
			mu.Unlock()
		}
		return `1`
	}})
	m.grants = hostfuncs.Grants{HTTP: []string{s.URL}, Artifacts: 1000}
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		var calls []runtime.CallSpec
		for i := range branches {
			calls = append(calls, runtime.CallSpec{Step: journal.Step(fmt.Sprintf("s%d", i)), Tool: "m.post", Input: fmt.Appendf(nil, "%d", i)})
		}
		for _, one := range r.CallAll(ctx, calls) {
			if one.Err != nil {
				return nil, one.Err
			}
		}
		return []byte(`1`), nil
	}
	if _, err := m.drive(m.process(m.mem.Handle(), online), driver); err != nil {
		t.Fatal(err)
	}
	if got := refsOf(t, m, "r"); len(got) != 1 || len(refused) != branches-1 {
		t.Errorf("the log refers to %q, %d were refused", got, len(refused))
	}
	for _, e := range refused {
		if e.Code != toolabi.TooLarge || e.Effect != toolabi.EffectApplied || e.Detail != "status_200" {
			t.Errorf("got %+v", e)
		}
	}
}
