package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/drivers/rollback"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// finch is a module whose tools are written in Go, for what no module of WebAssembly can be made to do, such as to be another one
// under the same digest.
type finch map[string]func(ctx context.Context, input []byte, host toolabi.HostFunc) (toolabi.Outcome, error)

var finchDigest = toolabi.DigestOf([]byte("finch"))

func (f finch) Invoke(ctx context.Context, inv toolabi.Invocation, host toolabi.HostFunc) (toolabi.Outcome, error) {
	return f[inv.Tool](ctx, inv.Input, host)
}

// finchModule is what it says of itself.
func finchModule() runtime.Module {
	m := toolabi.Manifest{Name: "finch", Version: "1.0.0", Tools: []toolabi.Tool{
		{Name: "once", Compensate: "undo"}, {Name: "undo"}, {Name: "read", Idempotency: toolabi.ReadOnly}, {Name: "sure", Lookup: "read", SettleMS: 1},
	}}
	for _, f := range []string{toolabi.FuncHTTPSend, toolabi.FuncSecretHas, toolabi.FuncLog, toolabi.FuncMailSend} {
		c := toolabi.Capability{Name: f, Reason: "to sing"}
		if f == toolabi.FuncHTTPSend {
			c.Secrets = []string{"key"}
		}
		m.Capabilities = append(m.Capabilities, c)
	}
	return runtime.Module{Name: "finch", Digest: finchDigest, Manifest: m}
}

// fullJournal has no space for the entries that it says.
type fullJournal struct {
	*boltdb.Journal
	entry func(journal.Entry) bool
}

func (f *fullJournal) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) error {
	for _, e := range entries {
		if f.entry != nil && f.entry(e) {
			return journal.ErrNoSpace
		}
	}
	return f.Journal.Append(ctx, run, at, entries...)
}

// nest is a process whose tools and host functions are written for one test. It says what the command says.
type nest struct {
	a      *aviary
	run    string
	store  *fullJournal
	app    *app
	out    bytes.Buffer
	tools  finch
	change func(hostfuncs.Func) hostfuncs.Func // of the host functions
	drive  runtime.Driver                      // nil calls finch.once
	tool   string                              // what the run is a call of
	policy runtime.Policy
	ahead  time.Duration // how far the clock is in front
	grants hostfuncs.Grants
	engine *runtime.Engine
}

// newNest makes a process in a. The value of the secret is known from the beginning, as it is after any use of it.
func newNest(t *testing.T, a *aviary, run string) *nest {
	t.Helper()
	path := filepath.Join(a.dir, "journal.db")
	j, err := boltdb.Create(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	n := &nest{a: a, run: run, tool: "once", store: &fullJournal{Journal: j}, tools: finch{}}
	n.app = &app{out: &n.out, errOut: &n.out, journalPath: path, verbose: true}
	n.grants = a.spec("", order{}).Grants
	return n
}

// go drives the run as far as it goes, from its beginning if there is none yet.
func (n *nest) drives() error {
	t, vault := n.a.t, hostfuncs.NewVault(nil)
	t.Helper()
	if !vault.Has(t.Context(), hostfuncs.Call{Grants: n.grants}, "key") {
		t.Fatal("the secret cannot be read")
	}
	funcs := hostfuncs.Standard(hostfuncs.Config{Secrets: vault})
	for i := range funcs {
		if n.change != nil {
			funcs[i] = n.change(funcs[i])
		}
	}
	var err error
	n.engine, err = runtime.New(runtime.Config{
		Journal: n.store, Invoker: n.tools, Funcs: funcs, Secrets: vault, Observe: n.app.observe, RescueDir: filepath.Dir(n.app.journalPath),
		Policy: n.policy, Now: func() time.Time { return time.Now().Add(n.ahead) },
		Drivers: map[string]runtime.DriverInfo{call.Name: call.Driver(), runtime.RollbackDriver: rollback.Driver()},
	})
	if err != nil {
		t.Fatal(err)
	}
	spec := runtime.Spec{Driver: call.Name, Version: call.Version, Plan: []byte("finch." + n.tool), Input: []byte(`{}`), Modules: []runtime.Module{finchModule()}, Grants: n.grants}
	if _, err := n.engine.Start(t.Context(), n.run, spec, map[toolabi.Digest][]byte{finchDigest: []byte("finch")}, true); err != nil {
		t.Fatal(err)
	}
	opts := runtime.DriveOptions{}
	if n.drive != nil {
		opts.Driver = &runtime.DriverInfo{Version: call.Version, Drive: n.drive}
	}
	res, err := n.engine.Drive(t.Context(), n.run, opts)
	return n.report(res.Output, err)
}

// report writes what the command would write, and returns err.
func (n *nest) report(output []byte, err error) error {
	fmt.Fprintf(&n.out, "%s\n", output)
	if err != nil {
		fmt.Fprintf(&n.out, "%v\n", err)
		n.app.report(n.a.t.Context(), &runError{n.run, err})
	}
	return err
}

// asks is a tool that sends the secret, or a text, to a path of the server, and returns what came.
func (n *nest) asks(path, text string) func(context.Context, []byte, toolabi.HostFunc) (toolabi.Outcome, error) {
	req := toolabi.HTTPRequest{Method: "POST", URL: n.a.server.URL + path, Body: []byte(text)}
	if text == canaryValue {
		req.Body = []byte(toolabi.SecretRef("key"))
		req.Headers = []toolabi.Header{{Name: "Authorization", Value: "Bearer " + toolabi.SecretRef("key")}}
	}
	return asking(toolabi.FuncHTTPSend, req)
}

// asking is a tool that asks for one thing, and returns what came.
func asking(function string, request any) func(context.Context, []byte, toolabi.HostFunc) (toolabi.Outcome, error) {
	return func(ctx context.Context, _ []byte, host toolabi.HostFunc) (toolabi.Outcome, error) {
		raw, err := toolabi.Encode(request)
		if err != nil {
			return toolabi.Outcome{}, err
		}
		answer, err := host(ctx, function, raw)
		if err != nil || answer.Err != nil {
			return toolabi.Outcome{Err: answer.Err}, err
		}
		output, err := json.Marshal(string(answer.Reply))
		return toolabi.Outcome{Output: output, Stderr: answer.Reply}, err
	}
}

// panics is a change of a host function: it panics with a text when it has done its work.
func panics(function, text string) func(hostfuncs.Func) hostfuncs.Func {
	return func(f hostfuncs.Func) hostfuncs.Func {
		if does := f.Call; f.Name == function {
			f.Call = func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
				does(ctx, c, req)
				panic(text)
			}
		}
		return f
	}
}

// wrongs are what goes wrong in a host, each with a text in the middle of it: what the server was sent, or what a program of the
// host says.
var wrongs = map[string]func(n *nest, text string) error{
	"a host function panics behind an effect": func(n *nest, text string) error {
		n.tools["once"], n.change = n.asks("/json", text), panics(toolabi.FuncHTTPSend, text)
		return n.drives()
	},
	"a host function panics at length": func(n *nest, text string) error {
		n.tools["once"], n.change = n.asks("/json", text), panics(toolabi.FuncHTTPSend, strings.Repeat("x", toolabi.MaxText-70)+text)
		return n.drives()
	},
	"a host function panics that reads": func(n *nest, text string) error {
		n.tools["once"], n.change = asking(toolabi.FuncSecretHas, toolabi.SecretHasRequest{Name: "key"}), panics(toolabi.FuncSecretHas, text)
		return n.drives()
	},
	"a host function panics that says something": func(n *nest, text string) error {
		n.tools["once"], n.change = asking(toolabi.FuncLog, toolabi.LogRequest{Message: "so"}), panics(toolabi.FuncLog, text)
		return n.drives()
	},
	"a driver panics": func(n *nest, text string) error {
		n.drive = func(context.Context, *runtime.Run) ([]byte, error) { panic(text) }
		return n.drives()
	},
	"a driver fails": func(n *nest, text string) error {
		n.drive = func(context.Context, *runtime.Run) ([]byte, error) { return nil, errors.New(text) }
		return n.drives()
	},
	"a driver panics at length": func(n *nest, text string) error {
		n.drive = func(context.Context, *runtime.Run) ([]byte, error) { panic(strings.Repeat("x", 476) + text) } // a note ends in the middle of it
		return n.drives()
	},
	"a driver fails at length": func(n *nest, text string) error {
		n.drive = func(context.Context, *runtime.Run) ([]byte, error) {
			return nil, errors.New(strings.Repeat("x", toolabi.MaxText-24) + text)
		}
		err := n.drives()
		var failed *runtime.FailedError
		if !errors.As(err, &failed) {
			n.a.t.Errorf("got %v", err)
		}
		return err
	},
	"a sandbox fails": func(n *nest, text string) error {
		n.tools["once"] = func(context.Context, []byte, toolabi.HostFunc) (toolabi.Outcome, error) {
			return toolabi.Outcome{}, errors.New(text)
		}
		return n.drives()
	},
	"a sandbox panics": func(n *nest, text string) error {
		n.tools["once"] = func(context.Context, []byte, toolabi.HostFunc) (toolabi.Outcome, error) { panic(text) }
		return n.drives()
	},
	"a tool has changed": func(n *nest, text string) error {
		first, doubt := n.asks("/json", text), n.asks("/cut", text)
		n.tools["once"] = func(ctx context.Context, in []byte, host toolabi.HostFunc) (toolabi.Outcome, error) {
			if out, err := first(ctx, in, host); out.Err != nil || err != nil {
				return out, err
			}
			return doubt(ctx, in, host)
		}
		if err := n.drives(); !errors.As(err, new(*runtime.UncertainError)) {
			n.a.t.Errorf("got %v", err)
		}
		n.tools["once"] = n.asks("/cut", text)
		err := n.drives()
		if !errors.As(err, new(*runtime.DivergedError)) {
			n.a.t.Errorf("got %v", err)
		}
		return err
	},
	"a driver has changed": func(n *nest, text string) error {
		n.tools["once"] = n.asks("/cut", text)
		n.drives()
		n.drive = func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			input, _ := json.Marshal(text)
			return r.Call(ctx, "call", "finch.read", input)
		}
		err := n.drives()
		if !errors.As(err, new(*runtime.DivergedError)) {
			n.a.t.Errorf("got %v", err)
		}
		return err
	},
	"a sandbox fails in a look-up": func(n *nest, text string) error {
		n.tool, n.tools["sure"] = "sure", n.asks("/cut", text)
		n.tools["read"] = func(context.Context, []byte, toolabi.HostFunc) (toolabi.Outcome, error) {
			return toolabi.Outcome{}, errors.New(text)
		}
		n.drives()
		n.ahead = time.Hour // so that it is late enough for a look-up
		findings, err := n.engine.Reconcile(n.a.t.Context(), n.run)
		fmt.Fprintf(&n.out, "%v\n", findings)
		if n.report(nil, err) == nil && len(findings) == 0 {
			n.a.t.Error("nothing was looked up")
		}
		return n.drives()
	},
	"a policy asks at length": func(n *nest, text string) error {
		n.policy = func(context.Context, runtime.Candidate) runtime.Decision {
			return runtime.Decision{Verdict: runtime.AskFirst, Reason: strings.Repeat("x", 484) + text} // a note ends in the middle of it
		}
		err := n.drives()
		if !errors.As(err, new(*runtime.WaitingError)) {
			n.a.t.Errorf("got %v", err)
		}
		return err
	},
	"a person gives up at length": func(n *nest, text string) error {
		n.tools["once"] = n.asks("/cut", text)
		n.drives()
		return n.engine.Abandon(n.a.t.Context(), n.run, "ann", strings.Repeat("x", 489)+text)
	},
	"a reply cannot be recorded": func(n *nest, text string) error {
		n.tools["once"] = n.asks("/json", text)
		n.store.entry = func(e journal.Entry) bool { return e.Kind == journal.Result && e.Step == "call/1" }
		err := n.drives()
		if files, globErr := filepath.Glob(filepath.Join(n.a.dir, "wrun-rescued-"+n.run+"-*")); len(files) != 1 || globErr != nil {
			n.a.t.Errorf("the reply is rescued as %v, %v; the run ended with %v", files, globErr, err)
		}
		return err
	},
	"a reply can be recorded nowhere": func(n *nest, text string) error {
		n.tools["once"] = n.asks("/json", text)
		n.store.entry = func(e journal.Entry) bool { return e.Kind == journal.Result && e.Step == "call/1" }
		n.app.journalPath = filepath.Join(n.a.dir, "none", "journal.db")
		n.a.t.Setenv("TMPDIR", filepath.Join(n.a.dir, "none"))
		defer n.a.t.Setenv("TMPDIR", n.a.dir)
		return n.drives()
	},
	"a run is copied and undone": func(n *nest, text string) error {
		n.tools["once"], n.tools["undo"] = n.asks("/json", text), n.asks("/body", text)
		if err := n.drives(); err != nil {
			n.a.t.Errorf("the run ended with %v", err)
		}
		ctx, first := n.a.t.Context(), n.run
		copied, err := n.engine.Fork(ctx, first, "call", first+"-copy", "ann", "with "+text)
		if err != nil || len(copied.Again) != 1 {
			n.a.t.Errorf("copied with %d effects to do again, %v", len(copied.Again), err)
		}
		fmt.Fprintf(&n.out, "%+v\n", copied)
		left, err := n.engine.Rollback(ctx, first, "ann", "because of "+text)
		if err != nil {
			n.a.t.Errorf("undone with %v", err)
		}
		fmt.Fprintf(&n.out, "%+v\n", left)
		for _, run := range []string{first + "-copy", runtime.RollbackOf(first)} {
			res, err := n.engine.Drive(ctx, run, runtime.DriveOptions{})
			if n.report(res.Output, err) != nil {
				n.a.t.Errorf("%s ended with %v", run, err)
			}
		}
		return nil
	},
}

// Whatever goes wrong in the host itself: the value is in nothing that is written or said of it, and another text is.
func TestTheCanaryIsNotInWhatGoesWrongInTheHost(t *testing.T) {
	a := newUnopened(t)
	i := 0
	for what, wrong := range wrongs {
		i++
		core := fmt.Sprintf("%02dand%02d%s", i, i, controlCore)
		a.server.say(around(core))
		control := newNest(t, a, fmt.Sprintf("control%d", i))
		wrong(control, around(core))
		found := needlesOf(core)
		found["begin"] = []byte(core[:12])
		if found.in(control.out.Bytes()) == "" && found.below(t, a.dir, nil) == nil {
			t.Errorf("%s: the control is neither told nor written: %s", what, control.out.String())
		}
		control.store.Close()
		n := newNest(t, a, fmt.Sprintf("r%d", i))
		err := wrong(n, canaryValue)
		a.absent(what, told{err: err, output: n.out.String()})
		n.store.Close()
		for _, verb := range []string{"show", "log"} {
			var out bytes.Buffer
			Main(t.Context(), []string{verb, n.run, "--json", "--journal", filepath.Join(a.dir, "journal.db")}, strings.NewReader(""), &out, &out)
			a.absent("wrun "+verb+" after "+what, told{output: out.String()})
		}
	}
	if !a.server.sent(canaryValue) {
		t.Error("the server was never sent the secret")
	}
}
