package agents_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/internal/soak/trials"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

const (
	turns = 2000
	// promised is how long a cold process may take from its start to the first step that is not served from the journal. A test
	// may run on a machine that does other things as well: it holds five times as long.
	promised = time.Second
)

const longAgent = `name: counter
model: openai/m-1
tools: { text: { from: ./text.wasm, use: [upper] } }
limits: { steps: 3000 }
context: { turns: 10 }
`

const longReplies = `replies:
  - {when: "${ (.results[0].output.text // \"0\" | tonumber) >= %d }", say: done}
  - {call: text.upper, with: {text: "${ ((.results[0].output.text // \"100000\") | tonumber) + 1 | tostring }"}}
`

// counting is a model that says when a request has arrived, and answers none from that one on until it is told to.
type counting struct {
	http.Handler
	requests, last atomic.Int64
	reached        chan struct{}
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch n := c.requests.Add(1); {
	case n < c.last.Load():
	case n == c.last.Load():
		close(c.reached)
		fallthrough
	default:
		_, _ = io.Copy(io.Discard, r.Body) // only behind it is it noticed that the client is gone
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	c.Handler.ServeHTTP(w, r)
}

// A process that resumes an agent near its 2,000th turn goes through all of them first, and asks the model soon.
func TestALongRunIsSoonWhereItWas(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: 2,000 answers, -short")
	}
	wrun := build(t, "")
	says, err := script.Parse(fmt.Appendf(nil, longReplies, 100000+turns))
	if err != nil {
		t.Fatal(err)
	}
	model, err := fakemodel.New(fakemodel.Config{Script: says})
	if err != nil {
		t.Fatal(err)
	}
	c := &counting{Handler: model, reached: make(chan struct{})}
	c.last.Store(turns - 5)
	server := httptest.NewServer(c)
	defer server.Close()
	dir := t.TempDir()
	for name, text := range map[string][]byte{"agent.yaml": []byte(longAgent), "text.wasm": wasmtest.Tool(t, "tools/text")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := trials.Program{
		Wrun: wrun, Journal: filepath.Join(dir, "journal.db"), Cache: wasmtest.CodeCache(t),
		Env: []string{"WRUN_MODEL_BASE_URL=" + server.URL + "/v1", "WRUN_MODEL=", "WRUN_MODEL_KEY="},
	}
	began := time.Now()
	exit := untilAsked(t, p, c, "agent", filepath.Join(dir, "agent.yaml"), "count", "--id", "long")
	if !exit.Killed() {
		t.Fatalf("the first process ended with %d\n%s", exit.Code, exit.Stderr)
	}
	t.Logf("%d turns took %s", turns-5, time.Since(began).Round(time.Millisecond))

	c.reached = make(chan struct{})
	c.last.Store(c.requests.Load() + 1)
	began = time.Now()
	exit = untilAsked(t, p, c, "-v", "resume", "long")
	took := time.Since(began)
	t.Logf("the first live step of a cold process came after %s, want %s", took.Round(time.Millisecond), promised)
	if first := begun(exit.Stderr); first != fmt.Sprintf("model[%d]", turns-6) {
		t.Errorf("the first step that was not served is %q", first)
	}
	if took > 5*promised {
		t.Errorf("it took %s, over five times %s", took, promised)
	}
	c.last.Store(1 << 62)
	if exit, err := p.Run(t.Context(), "--json", "resume", "long"); err != nil || exit.Code != 0 || exit.Stdout != "\"done\"\n" {
		t.Errorf("the run ended with %d and %q, %v\n%s", exit.Code, exit.Stdout, err, exit.Stderr)
	}
	if n := len(model.Bills()); n != turns+1 {
		t.Errorf("%d answers were paid for, want %d", n, turns+1)
	}
}

// untilAsked runs the program until the model is asked what it does not answer, and kills it then.
func untilAsked(t *testing.T, p trials.Program, c *counting, args ...string) trials.Exit {
	t.Helper()
	proc, err := p.Start(args...)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := proc.WaitOrKill(t.Context(), 0, c.reached)
	if err != nil {
		t.Fatal(err)
	}
	return exit
}

// begun is the first step that a process says it begins.
func begun(said string) string {
	for line := range strings.Lines(said) {
		if f := strings.Fields(line); len(f) > 2 && f[1] == "begun" {
			return f[0]
		}
	}
	return ""
}
