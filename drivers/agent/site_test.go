package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// site is what outlives a process: the journal, the model's provider, and the world in which effects take place.
type site struct {
	t    *testing.T
	mem  *journaltest.Mem
	task string

	mu      sync.Mutex
	sent    []string        // guarded by mu: the effects that took place
	entered []string        // guarded by mu: the tools that were entered, with their inputs
	asked   []model.Request // guarded by mu: what the model was asked
	bills   map[string]int  // guarded by mu: how often each key was worked on
	replays bool            // the provider knows the keys that it has worked on
	before  func(n int) error
	after   func(n int) error
	run     string // whose log is looked at
}

func newSite(t *testing.T) *site {
	s := &site{t: t, mem: journaltest.NewMem(), bills: map[string]int{}, task: "pay the rent", run: "r"}
	journaltest.CheckOnCleanup(t, s.mem)
	return s
}

// shop is the module of the tests: send makes its input an effect, echo returns it, fail fails.
var shop = runtime.Module{Name: "shop", Digest: toolabi.DigestOf([]byte("shop")), Manifest: toolabi.Manifest{
	Name: "shop", Version: "1.0.0", Tools: []toolabi.Tool{
		{Name: "send", Description: "sends", Input: []byte(`{"type":"object","properties":{"what":{"type":"string"}},"required":["what"]}`)},
		{Name: "echo", Description: "returns its input", Idempotency: toolabi.Pure},
		{Name: "fail", Description: "fails", Idempotency: toolabi.Pure},
		{Name: "ask", Description: "is asked about", Approval: true},
	},
}}

// Invoke enters a tool.
func (s *site) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	s.mu.Lock()
	s.entered = append(s.entered, inv.Tool+" "+string(inv.Input))
	s.mu.Unlock()
	switch inv.Tool {
	case "send", "ask":
		answer, err := host(ctx, toolabi.FuncHTTPSend, inv.Input)
		if err != nil || answer.Err != nil {
			return toolabi.Outcome{Err: answer.Err}, err
		}
		return toolabi.Outcome{Output: []byte(`{"sent":true}`)}, nil
	case "fail":
		return toolabi.Outcome{Err: toolabi.NewError(toolabi.Failed, "out of stock")}, nil
	}
	return toolabi.Outcome{Output: inv.Input}, nil
}

func (s *site) send(_ context.Context, c hostfuncs.Call, request []byte) ([]byte, error) {
	if err := c.BeforeSend(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(s.sent, string(request))
	return []byte("ok"), nil
}

// provider is the model as it is reached from outside: it counts what it works on, and what is in its way.
type provider struct {
	model.Client
	*site
}

// connect makes a client that knows nothing of the ones before it.
func (s *site) connect(_ context.Context, m agent.Model) (model.Client, error) {
	sc, err := script.Parse([]byte(m.Script))
	if err != nil {
		return nil, err
	}
	return &provider{script.Client(sc), s}, nil
}

func (p *provider) Encode(r model.Request) ([]byte, error) {
	p.mu.Lock()
	p.asked = append(p.asked, r)
	p.mu.Unlock()
	return p.Client.Encode(r)
}

func (p *provider) Send(ctx context.Context, request []byte, a model.Attempt) (model.Answer, error) {
	if a.BeforeSend != nil {
		if err := a.BeforeSend(); err != nil {
			return model.Answer{}, err
		}
		a.BeforeSend = nil
	}
	if p.before != nil {
		if err := p.before(p.billed()); err != nil {
			return model.Answer{}, err
		}
	}
	p.mu.Lock()
	known := p.replays && p.bills[a.Key] > 0
	if !known {
		p.bills[a.Key]++
	}
	p.mu.Unlock()
	if p.after != nil {
		if err := p.after(p.billed()); err != nil {
			return model.Answer{}, err
		}
	}
	answer, err := p.Client.Send(ctx, request, a)
	answer.Replayed = known
	return answer, err
}

// billed is how often the model has worked.
func (s *site) billed() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.bills {
		n += b
	}
	return n
}

// scripted is an agent whose model answers by a script.
func scripted(text string) agent.Agent {
	return agent.Agent{
		Model: agent.Model{Protocol: agent.Scripted, Script: text, Retry: toolabi.RetryPolicy{Attempts: 3}},
		Tools: []string{"shop.send", "shop.echo", "shop.fail", "shop.ask"},
	}
}

// life is one process with the journal that wrap makes.
type life struct {
	*runtime.Engine
	store journaltest.Store
	site  *site
}

func (s *site) life(wrap func(journaltest.Store) journaltest.Store) *life {
	s.t.Helper()
	store := journaltest.Store(s.mem.Handle())
	if wrap != nil {
		store = wrap(store)
	}
	s.t.Cleanup(func() { store.Close() })
	e, err := runtime.New(runtime.Config{
		Journal: store, Invoker: s, Drivers: map[string]runtime.DriverInfo{agent.Name: agent.Driver(agent.Config{Connect: s.connect})},
		Funcs: []hostfuncs.Func{{Name: toolabi.FuncHTTPSend, Class: toolabi.Once, Call: s.send}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return &life{e, store, s}
}

// run starts the run of an agent, or goes on with it.
func (l *life) run(a agent.Agent, opts runtime.DriveOptions) (runtime.Result, error) {
	l.site.t.Helper()
	spec, err := a.Spec(l.site.task, []runtime.Module{shop}, hostfuncs.Grants{}, toolabi.Limits{})
	if err != nil {
		l.site.t.Fatal(err)
	}
	if _, err := l.Start(l.site.t.Context(), "r", spec, map[toolabi.Digest][]byte{shop.Digest: []byte("shop")}, true); err != nil {
		return runtime.Result{}, err
	}
	return l.Drive(l.site.t.Context(), "r", opts)
}

// answer runs an agent to its end in one process.
func (s *site) answer(a agent.Agent) (string, error) {
	s.t.Helper()
	res, err := s.life(nil).run(a, runtime.DriveOptions{})
	return textOf(s.t, res.Output), err
}

func textOf(t *testing.T, output []byte) (text string) {
	t.Helper()
	if output == nil {
		return ""
	}
	if err := json.Unmarshal(output, &text); err != nil {
		t.Fatal(err)
	}
	return text
}

// told are the results that the model was told of last.
func (s *site) told() []model.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) == 0 {
		return nil
	}
	messages := s.asked[len(s.asked)-1].Messages
	return messages[len(messages)-1].Results
}

// entries are those of the run's log.
func (s *site) entries() (all []journal.Entry) {
	for e, err := range s.mem.Read(context.Background(), s.run, 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// ledger makes the ledger of the run from its log.
func (s *site) ledger(a agent.Agent) *agent.Ledger {
	s.t.Helper()
	b := agent.NewBookkeeper(s.run, &a, func(ctx context.Context, e journal.Entry) ([]byte, error) { return journal.Body(ctx, s.mem, e) })
	for _, e := range s.entries() {
		if err := b.Add(context.Background(), e); err != nil {
			s.t.Fatal(err)
		}
	}
	return b.Close(false)
}

// finish resumes the run until it is closed; where nobody knows, it says what the world knows, and agrees to what is asked.
func (s *site) finish(a agent.Agent) (runtime.Result, error) {
	s.t.Helper()
	for range 20 {
		l := s.life(nil)
		res, err := l.run(a, runtime.DriveOptions{})
		var u *runtime.UncertainError
		var w *runtime.WaitingError
		switch {
		case errors.As(err, &u):
			say := runtime.Resolution{Happened: slices.Contains(s.sent, string(u.Intent.Body)), Reply: []byte("ok"), Now: true, By: "test"}
			if err := l.Resolve(s.t.Context(), "r", u.Step, say); err != nil {
				s.t.Fatal(err)
			}
		case errors.As(err, &w) && w.For == toolabi.FuncApprove:
			if err := l.Answer(s.t.Context(), "r", w.Step.Asks(), runtime.Answer{Yes: true, By: "ann"}); err != nil {
				s.t.Fatal(err)
			}
		default:
			return res, err
		}
	}
	s.t.Fatal("the run does not end")
	return runtime.Result{}, nil
}

// texts are the results as one text, in order.
func texts(results []model.Result) string {
	var all []string
	for _, r := range results {
		mark := ""
		if r.Failed {
			mark = "! "
		}
		all = append(all, fmt.Sprintf("%s%s", mark, r.Text))
	}
	return strings.Join(all, "\n")
}
