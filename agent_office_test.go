package wrun_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// agentShape is an agent with known effects and a known number of answers.
type agentShape struct {
	name, replies, rules string
	modules, tools       []string
	// effects are the references of the charges that the ledger must have in the end, each once.
	effects []string
	answers int
	output  string
}

// office is a machine with a model's provider: what stays when the processes of an agent die.
type office struct {
	*machine
	model *fakemodel.Server
	agent agent.Agent
	want  agentShape

	// left is how many appends the processes make until the one at which a process dies, 0 when none does any more; after
	// says that it dies once that one was made, appends counts those of all processes.
	left, appends int
	after         bool
}

func newOffice(t *testing.T, k *kit, s agentShape, protocol string, b fakemodel.Behaviour) *office {
	t.Helper()
	replies, err := script.Parse([]byte(s.replies))
	if err != nil {
		t.Fatal(err)
	}
	server, err := fakemodel.Start(fakemodel.Config{Script: replies, Behaviour: b})
	if err != nil {
		t.Fatal(err)
	}
	a := agent.Agent{
		Model: agent.Model{Protocol: protocol, Name: "m-1", BaseURL: server.URL(), Retry: toolabi.RetryPolicy{Attempts: 4}},
		Tools: s.tools, Rules: s.rules,
	}
	if protocol == agent.OpenAI {
		a.Model.BaseURL += "/v1"
	}
	spec, err := a.Spec("LEDGER", k.modules(s.modules...), hostfuncs.Grants{}, toolabi.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	o := &office{machine: newMachine(t, k, shape{name: s.name, spec: spec}, time.Hour), model: server, agent: a, want: s}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// life lets a process do something, and says whether it died of it.
func (o *office) life(do func(*process) error) (died bool, err error) {
	o.t.Helper()
	var c *journaltest.Crasher
	one := o.start(func(j journaltest.Store) journaltest.Store {
		c = journaltest.CrashBefore(j, o.left)
		if o.after {
			c = journaltest.CrashAfter(j, o.left)
		}
		return c
	})
	err = do(one)
	if err := one.store.Close(); err != nil {
		o.t.Fatal(err)
	}
	o.appends += c.Appends()
	switch {
	case c.Crashed():
		o.left = 0
		if !errors.Is(err, journal.ErrUnusable) {
			o.t.Fatalf("the crash shows as %v", err)
		}
	case o.left > 0:
		o.left -= c.Appends()
	}
	return c.Crashed(), err
}

// drive goes on with the run by its id alone, or begins it.
func (o *office) drive(one *process) (runtime.Result, error) {
	res, err := one.Drive(o.t.Context(), "r", runtime.DriveOptions{})
	if errors.Is(err, journal.ErrNotFound) {
		return o.machine.drive(one)
	}
	return res, err
}

// finish drives the run in new processes until it is closed: what is uncertain is settled from what the ledger knows, and what
// is asked is agreed to, each by a process of its own. died is called behind each process that died.
func (o *office) finish(died func()) (res runtime.Result, err error) {
	o.t.Helper()
	for range 30 {
		dead, err := o.life(func(one *process) (err error) {
			res, err = o.drive(one)
			return err
		})
		var u *runtime.UncertainError
		var w *runtime.WaitingError
		switch {
		case dead:
		case errors.As(err, &u):
			dead, err = o.life(func(one *process) error { return one.Resolve(o.t.Context(), "r", u.Step, o.verdict(u.Intent)) })
		case errors.As(err, &w) && w.For == toolabi.FuncApprove:
			dead, err = o.life(func(one *process) error {
				return one.Answer(o.t.Context(), "r", w.Step.Asks(), runtime.Answer{Yes: true, By: "ann"})
			})
		default:
			return res, err
		}
		switch {
		case dead:
			died()
		case err != nil:
			o.t.Fatal(err)
		}
	}
	o.t.Fatal("the run does not end")
	return
}

// log returns the entries of the run, none when it was never written, and what they alone say of what was paid.
func (o *office) log() (all []journal.Entry, books *agent.Ledger) {
	o.t.Helper()
	one := o.start(nil)
	defer one.store.Close()
	b := agent.NewBookkeeper("r", &o.agent, func(ctx context.Context, e journal.Entry) ([]byte, error) {
		return journal.Body(ctx, one.store, e)
	})
	for e, err := range one.store.Read(o.t.Context(), "r", 0) {
		if errors.Is(err, journal.ErrNotFound) {
			break
		}
		if err := errors.Join(err, b.Add(o.t.Context(), e)); err != nil {
			o.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all, b.Close(false)
}

// recorded returns the results in a log, by step.
func recorded(log []journal.Entry) map[journal.Step]string {
	got := map[journal.Step]string{}
	for _, e := range log {
		if e.Kind == journal.Result {
			got[e.Step] = string(e.Body)
		}
	}
	return got
}

// charged are the references of the charges that the ledger has, in order, and with how many different keys they came.
func (o *office) charged() (references []string, keys int) {
	different := map[string]bool{}
	for _, c := range o.ledger.Charges() {
		references = append(references, c.Reference)
		different[c.Key] = true
	}
	slices.Sort(references)
	return references, len(different)
}
