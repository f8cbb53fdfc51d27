package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun"
	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/runtime"
)

// The canary is a value of a secret that is found wherever it gets to. What the server says to whom sends no secret is the control:
// it gets to all of those places.
var (
	canaryCore  = backwards("Yn8Bs4WdL9tVm2RxZ7qK") // so that the program of the test does not hold it
	canaryValue = around(canaryCore)
	controlCore = backwards("Ew0Qb1NzT5cXv6JpG3fH")
)

func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}

// around puts around a core what every encoding makes something else of.
func around(core string) string { return `c"/+&%='<` + core + `>~\?` }

// aviary is a journal, a directory for everything else that is written, and a server that repeats what it hears.
type aviary struct {
	t      *testing.T
	dir    string // all that is searched
	source string // of the secret, elsewhere
	server *echo
	other  *echo
	module runtime.Module
	host   *wrun.Host
	clean  map[string]bool // blobs without the canary

	mu   sync.Mutex
	said strings.Builder // guarded by mu: what people are told
	seen int             // runs so far
}

func newAviary(t *testing.T) *aviary {
	a := newUnopened(t)
	a.open(nil)
	return a
}

// newUnopened is newAviary without a process.
func newUnopened(t *testing.T) *aviary {
	a := &aviary{t: t, clean: map[string]bool{}, dir: t.TempDir(), server: newEcho(t, around(controlCore)), other: newEcho(t, around(controlCore))}
	a.source = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(a.source, []byte(canaryValue+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", a.dir)
	return a
}

// open begins a process.
func (a *aviary) open(dial func(context.Context, string, string) (net.Conn, error)) {
	a.t.Helper()
	if a.host != nil {
		if err := a.host.Close(); err != nil {
			a.t.Fatal(err)
		}
	}
	var err error
	a.host, err = wrun.Open(a.t.Context(), wrun.Config{
		Journal: filepath.Join(a.dir, "journal.db"), Create: true, Cache: wasmtest.CodeCache(a.t), HTTP: hostfuncs.Config{Dial: dial},
		Drivers: map[string]runtime.DriverInfo{call.Name: call.Driver()}, Observe: a.observe,
	})
	if err != nil {
		a.t.Fatal(err)
	}
	host := a.host
	a.t.Cleanup(func() {
		if a.host == host {
			host.Close()
		}
	})
	if a.module, err = a.host.AddModule(wasmtest.Tool(a.t, "internal/wasmtest/guests/parrot")); err != nil {
		a.t.Fatal(err)
	}
}

func (a *aviary) observe(ev runtime.Event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintln(&a.said, ev.Name, ev.Text, ev.Err)
	fmt.Fprintf(&a.said, "%s\n%s\n", ev.Request, ev.Reply)
}

// order is the input of the guest's tools.
type order struct {
	Method     string   `json:"method"`
	URL        string   `json:"url"`
	Other      string   `json:"other,omitempty"`
	Redirects  int      `json:"redirects,omitempty"`
	Decompress bool     `json:"decompress,omitempty"`
	ToArtifact int      `json:"to_artifact,omitempty"`
	TimeoutMS  int      `json:"timeout_ms,omitempty"`
	Plain      bool     `json:"plain,omitempty"`
	Put        []string `json:"put"`
}

// told is all that came out of a run.
type told struct {
	run    string
	err    error
	output string
	said   string
}

func (o told) text() string {
	s := o.output + "\n" + o.said
	if o.err != nil {
		s += "\n" + o.err.Error()
	}
	return s
}

func (a *aviary) spec(tool string, in order) runtime.Spec {
	a.t.Helper()
	in.Other = a.other.URL
	if !strings.Contains(in.URL, "://") && in.URL != "" {
		in.URL = a.server.URL + in.URL
	}
	input, err := json.Marshal(in)
	if err != nil {
		a.t.Fatal(err)
	}
	return runtime.Spec{
		Driver: call.Name, Version: call.Version, Plan: []byte("parrot." + tool), Input: input, Modules: []runtime.Module{a.module},
		Grants: hostfuncs.Grants{
			HTTP:      []string{a.server.URL, a.other.URL},
			Secrets:   []hostfuncs.SecretGrant{{Name: "key", Source: "file:" + a.source, Origins: []string{a.server.URL}}},
			KV:        []hostfuncs.KVGrant{{Store: "store", Write: true}},
			Config:    []hostfuncs.ConfigGrant{{Module: "parrot", Key: "hint", Value: "no secret"}},
			Artifacts: 64 << 20, Workspace: hostfuncs.WorkspaceGrant{Path: filepath.Join(a.dir, "workspace"), Write: true},
		},
	}
}

// run makes a run of one call, and returns what came out of it.
func (a *aviary) run(tool string, in order) told {
	a.t.Helper()
	a.seen++
	o := told{run: fmt.Sprintf("r%d", a.seen)}
	a.mu.Lock()
	a.said.Reset()
	a.mu.Unlock()
	res, err := a.host.Run(a.t.Context(), o.run, a.spec(tool, in), runtime.DriveOptions{})
	o.output, o.err = string(res.Output), err
	a.mu.Lock()
	o.said = a.said.String()
	a.mu.Unlock()
	return o
}

// absent fails the test where the canary got out.
func (a *aviary) absent(what string, o told) {
	a.t.Helper()
	n := needlesOf(canaryCore)
	n["begin"] = []byte(canaryCore[:12]) // as what is cut before it is hidden leaves it
	if form := n.in([]byte(o.text())); form != "" {
		a.t.Errorf("%s: the canary was told (%s): %.600s", what, form, o.text())
	}
	if found := n.below(a.t, a.dir, a.clean); found != nil {
		a.t.Fatalf("%s: the canary is in %v", what, found)
	}
	if a.other.sent(canaryCore) {
		a.t.Fatalf("%s: the canary was sent elsewhere", what)
	}
}

// places are where the guest puts what it hears. The last one of each run may end it.
var places = []string{"output", "log", "stderr", "has", "config", "kv", "artifact", "workspace", "call", "request", "elsewhere"}

var kinds = append([]string{"header", "reason", "error", "location", "gzip", "chunks", "trailer", "cut", "malformed", "babble", "reset", "hang"}, slices.Sorted(keys(bodies))...)

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Whatever a server makes of a secret, and wherever a tool puts that: the value is nowhere.
func TestTheCanaryIsNowhere(t *testing.T) {
	a := newAviary(t)
	for _, kind := range kinds {
		ways := map[string]order{"fetch": {Method: "GET", Redirects: 3, Decompress: true}, "send": {Method: "POST"}}
		if slices.Contains([]string{"gzip", "chunks", "cut", "large"}, kind) {
			ways["to artifact"] = order{Method: "POST", ToArtifact: 1 << 20, Decompress: kind == "gzip"}
		}
		for name, in := range ways {
			in.URL, in.Put = "/"+kind, []string{"output", "log", "stderr"}
			if slices.Contains([]string{"header", "json", "basic", "cut"}, kind) {
				in.Put = places
			}
			if kind == "hang" {
				in.URL, in.TimeoutMS = "/hold", 50
			}
			o := a.run("again", in)
			if o.err != nil {
				t.Errorf("%s, %s: the run ended with %v", kind, name, o.err)
			}
			a.absent(kind+", "+name, o)
		}
	}
	if !a.server.sent(canaryValue) {
		t.Error("the server was never sent the secret")
	}
	for _, name := range []string{"journal.db", "journal.db.blobs"} {
		if info, err := os.Stat(filepath.Join(a.dir, name)); err != nil || goruntime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s may be read by others: %v, %v", name, info.Mode(), err)
		}
	}
	for _, end := range []string{"error", "panic", "approve"} {
		for _, kind := range []string{"json", "cut"} {
			o := a.run("again", order{Method: "POST", URL: "/" + kind, Put: []string{"log", "stderr", end}})
			if o.err == nil {
				t.Errorf("%s, then %s: the run ended well", kind, end)
			}
			a.absent(kind+", then "+end, o)
		}
	}
	a.verbs()
}

// verbs shows every run with the commands that people have.
func (a *aviary) verbs() {
	a.t.Helper()
	if err := a.host.Close(); err != nil {
		a.t.Fatal(err)
	}
	a.host = nil
	commands := [][]string{{"ls"}, {"ls", "--json"}, {"inbox"}, {"inbox", "--json"}, {"explain", "W0401"}}
	for n := 1; n <= a.seen; n += 11 {
		run := fmt.Sprintf("r%d", n)
		commands = append(commands, []string{"show", run}, []string{"log", run, "--json"}, []string{"show", run, "--json"})
	}
	for _, args := range commands {
		out, _ := a.command(args...)
		a.absent("wrun "+strings.Join(args, " "), told{output: out})
	}
}

// command runs the real command on the journal, and returns what it wrote to either stream.
func (a *aviary) command(args ...string) (string, error) {
	cmd := exec.CommandContext(a.t.Context(), "wrun", args...)
	cache := os.Getenv("WRUN_CACHE")
	if !strings.HasPrefix(cache, a.dir) { // unless a test has its own, that of all tests, whose modules are compiled already
		cache = wasmtest.CodeCache(a.t)
	}
	cmd.Env = append(os.Environ(), "WRUN_JOURNAL="+filepath.Join(a.dir, "journal.db"), "WRUN_CACHE="+cache, "XDG_CONFIG_HOME="+a.dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The same with a text that is no secret finds it in each of the places, so that the test above can fail.
func TestTheControlIsEverywhere(t *testing.T) {
	a := newAviary(t)
	n := needlesOf(controlCore)
	for _, kind := range kinds {
		in := order{Method: "GET", URL: "/" + kind, Redirects: 3, Decompress: true, Plain: true, Put: []string{"output"}}
		switch kind {
		case "reason", "trailer", "cut", "malformed", "babble", "reset", "hang":
			continue // of which a tool sees nothing
		}
		if o := a.run("again", in); n.in([]byte(o.output)) == "" {
			t.Errorf("%s: the control is not in %.300q, %v", kind, o.output, o.err)
		}
	}
	for i, place := range []string{"log", "stderr", "error", "panic", "kv", "artifact", "workspace", "call", "request", "approve"} {
		core := fmt.Sprintf("%s%02dand%02d", controlCore, i, i)
		a.server.say(around(core))
		n := needlesOf(core)
		o := a.run("again", order{Method: "GET", URL: "/body", Plain: true, Put: []string{place}})
		switch place {
		case "log", "stderr", "panic":
			if n.in([]byte(o.said)) == "" {
				t.Errorf("%s: people are not told the control: %s", place, o.said)
			}
		case "request":
			if !a.other.sent(core) {
				t.Error("the control is not sent elsewhere")
			}
		}
		if n.below(t, a.dir, nil) == nil {
			t.Errorf("%s: the control is not written anywhere", place)
		}
	}
}

// A dialer that fails, or panics, with the value in its text.
func TestTheCanaryIsNotInTheHostsOwnErrors(t *testing.T) {
	a := newAviary(t)
	for what, dial := range map[string]func(context.Context, string, string) (net.Conn, error){
		"an error": func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("the proxy refused " + canaryValue)
		},
		"a panic": func(context.Context, string, string) (net.Conn, error) { panic(canaryValue) },
	} {
		a.open(dial)
		for _, tool := range []string{"once", "again"} {
			o := a.run(tool, order{Method: "POST", URL: "/body", Put: places})
			a.absent(what+" in "+tool, o)
			if !strings.Contains(o.text(), "[secret:key]") {
				t.Errorf("%s in %s: got %s", what, tool, o.text())
			}
		}
	}
}

// An effect that is in doubt is shown and settled without the value, whoever has it.
func TestTheCanaryIsNotInWhatPeopleSay(t *testing.T) {
	a := newAviary(t)
	o := a.run("once", order{Method: "POST", URL: "/cut", Put: places})
	var doubt *runtime.UncertainError
	if !errors.As(o.err, &doubt) {
		t.Fatalf("got %v", o.err)
	}
	a.absent("uncertain", o)
	a.verbs()
	reply := filepath.Join(t.TempDir(), "reply.json")
	said, err := json.Marshal(map[string]any{"status": 200, "body": map[string]string{"you": "said " + canaryValue}})
	if err := errors.Join(err, os.WriteFile(reply, said, 0o600)); err != nil {
		t.Fatal(err)
	}
	out, err := a.command("resolve", o.run, string(doubt.Step), "--happened", "@"+reply)
	if err == nil || !strings.Contains(out, "error[W0111]") || !strings.Contains(out, "holds the value of secret key") || !strings.Contains(out, "[secret:key]") {
		t.Errorf("a reply with the value was taken: %v, %s", err, out)
	}
	a.absent("resolve", told{output: out})
	out, err = a.command("resolve", o.run, string(doubt.Step), "--happened", `{"status":200}`, "--note", "as the provider said")
	if err != nil {
		t.Fatalf("resolve: %v, %s", err, out)
	}
	out, err = a.command("resume", o.run)
	if err != nil {
		t.Errorf("resume: %v, %s", err, out)
	}
	a.absent("resume", told{output: out})
}
