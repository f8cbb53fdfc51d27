package crashtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/crashtest"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// envSubject says what a child of a test runs, and makes the test's program a child.
const envSubject = "CRASHTEST_SUBJECT"

func TestMain(m *testing.M) {
	if name := os.Getenv(envSubject); name != "" {
		if err := child(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// selfChild is this program as a child.
func selfChild(t *testing.T, subject string) crashtest.Child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return crashtest.Command{Argv: []string{self}, Env: func(crashtest.Job) []string { return []string{envSubject + "=" + subject} }}
}

func child(subject string) (err error) {
	ctx := context.Background()
	talk := crashtest.NewTalk(os.Stdin, os.Stdout)
	job, err := talk.Job()
	if err != nil {
		return err
	}
	db, err := boltdb.Create(ctx, filepath.Join(job.Dir, "journal.db"), boltdb.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	life := crashtest.Life{
		Clock: world.NewClock(job.Clock), Approvals: job.Approvals, Ask: talk.Ask,
		Store: crashtest.Watch(db, job.Kill, func(at crashtest.Place) error {
			if err := talk.Dies(at); err != nil || subject == "survivor" {
				return err
			}
			crashtest.KillSelf()
			return nil
		}),
	}
	net, err := world.Dial(job.World)
	if err != nil {
		return err
	}
	net.Now = life.Clock.Now
	life.Engine, err = runtime.New(life.Config(runtime.Config{
		Invoker: shop{}, Funcs: life.Store.Funcs(hostfuncs.Standard(net)), Secrets: net.Secrets, RescueDir: job.Dir,
		Drivers: map[string]runtime.DriverInfo{
			plan.Name: plan.Driver(),
			agent.Name: agent.Driver(agent.Config{Connect: func(_ context.Context, m agent.Model) (model.Client, error) {
				return life.Store.Model(model.OpenAI(model.Endpoint{BaseURL: job.Model + "/v1"})), nil
			}}),
		},
	}))
	if err != nil {
		return err
	}
	life.Begin = func(ctx context.Context) error {
		spec, err := specOf(subject, job)
		if err == nil {
			_, err = life.Engine.Start(ctx, crashtest.Run, spec, map[toolabi.Digest][]byte{shopModule.Digest: []byte("shop")}, true)
		}
		return err
	}
	if job.Model != "" {
		life.Twice = func(ctx context.Context) ([]string, error) { return crashtest.PaidTwice(ctx, life.Engine, db) }
	}
	end, err := life.Go(ctx)
	if err != nil {
		return err
	}
	return talk.Ends(end)
}

func specOf(subject string, job crashtest.Job) (runtime.Spec, error) {
	grants := job.Offer.Grants([]toolabi.Manifest{shopModule.Manifest})
	if subject != "agent" {
		return runtime.Spec{
			Driver: plan.Name, Version: plan.Version, Plan: []byte(plans[subject]), Input: []byte(`{}`), Modules: []runtime.Module{shopModule}, Grants: grants,
		}, nil
	}
	f, err := agent.Parse([]byte(agentText))
	if err != nil {
		return runtime.Spec{}, err
	}
	a, err := f.With("", map[string]agent.Offers{"shop": agent.OfferedBy(&shopModule.Manifest)})
	if err != nil {
		return runtime.Spec{}, err
	}
	return a.Spec("buy", []runtime.Module{shopModule}, grants, toolabi.Limits{})
}

// shopModule is the module of the tests. Its tools are written in Go.
var shopModule = runtime.Module{Name: "shop", Digest: toolabi.DigestOf([]byte("shop")), Manifest: toolabi.Manifest{
	Name: "shop", Version: "1.0.0",
	Tools: []toolabi.Tool{
		{Name: "pay"}, {Name: "pay_twice"}, {Name: "pay_later"},
		{Name: "pay_keyed", Idempotency: toolabi.Keyed, KeyTTLMS: 3_600_000},
		{Name: "pay_sure", Lookup: "find", SettleMS: 5_000}, {Name: "find", Idempotency: toolabi.ReadOnly},
		{Name: "count", Idempotency: toolabi.ReadOnly},
	},
	Capabilities: []toolabi.Capability{
		{Name: toolabi.FuncHTTPSend, Reason: "to pay"}, {Name: toolabi.FuncHTTPFetch, Reason: "to look"}, {Name: toolabi.FuncSleep, Reason: "to wait"},
	},
}}

// shop enters its tools.
type shop struct{}

func (shop) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	var in struct{ What string }
	if err := json.Unmarshal(inv.Input, &in); err != nil {
		return toolabi.Outcome{}, err
	}
	u := use{ctx, host}
	var out []byte
	var err error
	switch inv.Tool {
	case "pay":
		out, err = u.http(toolabi.FuncHTTPSend, "POST", "/pay", in.What)
	case "pay_twice":
		if out, err = u.http(toolabi.FuncHTTPSend, "POST", "/pay", in.What); err == nil {
			_, err = u.http(toolabi.FuncHTTPSend, "POST", "/pay", in.What+" fee")
		}
	case "pay_later":
		if err = u.sleep(90_000); err == nil {
			out, err = u.http(toolabi.FuncHTTPSend, "POST", "/pay", in.What)
		}
	case "pay_keyed":
		out, err = u.http(toolabi.FuncHTTPSend, "POST", "/keyed", in.What)
	case "pay_sure":
		out, err = u.http(toolabi.FuncHTTPSend, "POST", "/sure", in.What)
	case "count":
		out, err = u.http(toolabi.FuncHTTPFetch, "GET", "/sure", "")
	case "find":
		out, err = u.find()
	}
	var shown *toolabi.Error
	if errors.As(err, &shown) {
		return toolabi.Outcome{Err: shown}, nil
	}
	return toolabi.Outcome{Output: out}, err
}

// use is one use of host functions.
type use struct {
	ctx  context.Context
	host toolabi.HostFunc
}

func (u use) ask(function string, request any) ([]byte, error) {
	raw, err := toolabi.Encode(request)
	if err != nil {
		return nil, err
	}
	a, err := u.host(u.ctx, function, raw)
	if err == nil && a.Err != nil {
		err = a.Err
	}
	return a.Reply, err
}

// http returns the body of a reply.
func (u use) http(function, method, path, what string) ([]byte, error) {
	req := toolabi.HTTPRequest{Method: method, URL: "https://shop.example" + path}
	if what != "" {
		req.Body = fmt.Appendf(nil, `{"what":%q}`, what)
	}
	raw, err := u.ask(function, req)
	if err != nil {
		return nil, err
	}
	var reply toolabi.HTTPReply
	if err := toolabi.Decode(raw, &reply); err != nil {
		return nil, err
	}
	return reply.Body, nil
}

func (u use) sleep(ms uint64) error {
	_, err := u.ask(toolabi.FuncSleep, toolabi.SleepRequest{MS: ms})
	return err
}

// find says whether the one payment of /sure was made.
func (u use) find() ([]byte, error) {
	said, err := u.http(toolabi.FuncHTTPFetch, "GET", "/sure", "")
	if err != nil {
		return nil, err
	}
	if string(said) == "[]" {
		return []byte(`{"verdict":"did_not_happen"}`), nil
	}
	return []byte(`{"verdict":"happened","reply":{"status":200,"headers":{"Content-Type":"application/json"},"body":{"paid":"sure"}}}`), nil
}

var _ journal.Journal = (*crashtest.Watched)(nil)
