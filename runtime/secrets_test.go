package runtime_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

const canary = "canary-value-1234567890"

var keyGrants = hostfuncs.Grants{Secrets: []hostfuncs.SecretGrant{{Name: "key", Source: "env:KEY"}}}

// knowing is a vault that has read the canary.
func knowing(t *testing.T) *hostfuncs.Vault {
	t.Helper()
	v := unread()
	if !v.Has(t.Context(), hostfuncs.Call{Grants: keyGrants}, "key") {
		t.Fatal("the secret is not there")
	}
	return v
}

func unread() *hostfuncs.Vault {
	return hostfuncs.NewVault(func(context.Context, string) ([]byte, error) { return []byte(canary), nil })
}

// clean fails the test when the log holds the value.
func (m *machine) clean() {
	m.t.Helper()
	for e, err := range m.mem.Read(m.t.Context(), "r", 0) {
		if err != nil {
			m.t.Fatal(err)
		}
		body, err := journal.Body(m.t.Context(), m.mem, e)
		if err != nil {
			m.t.Fatal(err)
		}
		for what, s := range map[string]string{"body": string(body), "note": e.Note, "by": e.By, "key": e.Key} {
			if strings.Contains(s, canary) || strings.Contains(s, base64.StdEncoding.EncodeToString([]byte(canary))) {
				m.t.Errorf("the %s of %s %s holds the value: %q", what, e.Kind, e.Step, s)
			}
		}
	}
}

// saying remembers what whoever observes is told.
type saying struct {
	mu   sync.Mutex
	said []string
}

func (s *saying) observe(ev runtime.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, ev.Text, string(ev.Request), string(ev.Reply))
	if ev.Err != nil {
		s.said = append(s.said, ev.Err.Error())
	}
}

func (s *saying) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.said, "\n")
}

// logOf finds log.
func logOf(funcs []hostfuncs.Func) hostfuncs.Func {
	return funcs[slices.IndexFunc(funcs, func(f hostfuncs.Func) bool { return f.Name == toolabi.FuncLog })]
}

func TestNoValueOfASecretIsWrittenOrSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		tool  tool
		drive runtime.Driver
		send  func(context.Context, hostfuncs.Call, []byte) ([]byte, error)
		// want is in what the tool, the driver or people are told; sent says that an effect takes place.
		want string
		sent bool
		// funcs take the place of those of their names.
		funcs []hostfuncs.Func
	}{
		"a request": {
			tool: func(g *guest, _ string) string { return g.must(toolabi.FuncHTTPSend, "token "+canary) },
			want: "denied (secret): the request of http_send holds the value of secret key, which is written nowhere",
		},
		"a request in base64": {
			tool: func(g *guest, _ string) string {
				return g.must(toolabi.FuncHTTPSend, base64.StdEncoding.EncodeToString([]byte("u:"+canary)))
			},
			want: "the request of http_send holds",
		},
		"a request to a function that there is not": {
			tool: func(g *guest, _ string) string { return g.must("kv_burn", canary) }, want: "the request of kv_burn holds",
		},
		"a read": {
			tool: func(g *guest, _ string) string { return g.must(toolabi.FuncClock, canary) }, want: "the request of clock holds",
		},
		"a question": {
			tool: func(g *guest, _ string) string {
				req, _ := toolabi.Encode(toolabi.ApproveRequest{Text: "may I use " + canary})
				return g.must(toolabi.FuncApprove, string(req))
			},
			want: "the request of approve holds",
		},
		"an input for another tool": {
			tool: func(g *guest, _ string) string {
				req, _ := toolabi.Encode(toolabi.ToolCallRequest{Tool: "m.pure", Input: []byte(`"` + canary + `"`)})
				return g.must(toolabi.FuncToolCall, string(req))
			},
			want: "the input of m.pure holds",
		},
		"a bad input for another tool": {
			tool: func(g *guest, _ string) string {
				req, _ := toolabi.Encode(toolabi.ToolCallRequest{Tool: canary + ".x", Input: []byte(canary)})
				return g.must(toolabi.FuncToolCall, string(req))
			},
			want: "the request of tool_call holds",
		},
		"a reply": {
			tool: func(g *guest, _ string) string { return `"` + g.must(toolabi.FuncHTTPSend, "a") + `"` },
			send: func(context.Context, hostfuncs.Call, []byte) ([]byte, error) { return []byte(canary), nil },
			want: "internal (secret): the reply of http_send holds the value of secret key", sent: true,
		},
		"the message of an error": {
			tool: func(g *guest, _ string) string { return g.must(toolabi.FuncHTTPSend, "a") },
			send: func(context.Context, hostfuncs.Call, []byte) ([]byte, error) {
				return nil, toolabi.NewError(toolabi.Denied, "no, "+canary)
			},
			want: "denied: no, [secret:key]",
		},
		"a panic": {
			tool: func(g *guest, _ string) string { return g.must(toolabi.FuncHTTPSend, "a") },
			send: func(context.Context, hostfuncs.Call, []byte) ([]byte, error) { panic(canary) },
			want: "panicked: [secret:key]",
		},
		"a log line": {
			tool: func(g *guest, _ string) string { g.must(toolabi.FuncLog, "it is "+canary); return `1` }, want: "it is [secret:key]",
		},
		"a log line that is to pass for several": {
			tool: func(g *guest, _ string) string {
				req, _ := toolabi.Encode(toolabi.LogRequest{Message: "a\r\n\x1b[2KERROR " + canary[:9] + "\x1b[0m" + canary[9:] + strings.Repeat("x", toolabi.MaxText)})
				g.must(toolabi.FuncLog, string(req))
				return `1`
			},
			funcs: []hostfuncs.Func{logOf(hostfuncs.Standard(hostfuncs.Config{}))},
			want:  "a  ERROR [secret:key]xxx",
		},
		"the error of a tool": {
			tool: func(*guest, string) string { panic(toolabi.NewError(toolabi.Failed, "declined "+canary)) }, want: "declined [secret:key]",
		},
		"an output": {
			tool: func(*guest, string) string { return `"` + canary + `"` },
			want: "denied (secret): the output of m.x holds the value of secret key, which is written nowhere; it is not recorded",
		},
		"an output after an effect": {
			tool: func(g *guest, _ string) string { g.must(toolabi.FuncHTTPSend, "a"); return `"` + canary + `"` },
			want: "the output of m.x holds", sent: true,
		},
		"an input from the driver": {
			tool: one("a"),
			drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
				return r.Call(ctx, "s1", "m.x", []byte(`"`+canary+`"`))
			},
			want: "the input of m.x holds",
		},
		"the driver's output": {
			drive: func(context.Context, *runtime.Run) ([]byte, error) { return []byte(canary), nil }, want: "the run's output holds",
		},
		"the driver's error": {
			drive: func(context.Context, *runtime.Run) ([]byte, error) { return nil, errors.New("no " + canary) }, want: "no [secret:key]",
		},
		"the driver's panic": {
			drive: func(context.Context, *runtime.Run) ([]byte, error) { panic("no " + canary) }, want: "no [secret:key]",
		},
		"the driver's own step": {
			drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
				return r.Do(ctx, "ask", runtime.Act{Name: "model", Request: []byte(canary), Class: toolabi.Read, Do: func(context.Context, runtime.Attempt) ([]byte, error) { return nil, nil }})
			},
			want: "the request of model holds",
		},
		"the reply of the driver's own step": {
			drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
				return r.Do(ctx, "ask", runtime.Act{Name: "model", Class: toolabi.Once, Do: func(context.Context, runtime.Attempt) ([]byte, error) { return []byte(canary), nil }})
			},
			want: "the reply of model holds",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.tool == nil {
				tt.tool = one("a")
			}
			m := newMachine(t, map[string]tool{"x": tt.tool, "pure": func(*guest, string) string { return `1` }})
			people := new(saying)
			sent := false
			p := m.process(m.mem.Handle(), func(c *runtime.Config) {
				c.Secrets, c.Observe = knowing(t), people.observe
				for _, f := range tt.funcs {
					c.Funcs = append(slices.DeleteFunc(c.Funcs, func(old hostfuncs.Func) bool { return old.Name == f.Name }), f)
				}
				if tt.send != nil {
					c.Funcs[0].Call = func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
						if tt.sent {
							if err := c.BeforeSend(); err != nil {
								return nil, err
							}
							sent = true
						}
						return tt.send(ctx, c, req)
					}
				}
			})
			if tt.drive == nil {
				tt.drive = steps("x")
			}
			res, err := m.drive(p, tt.drive)
			told := people.all() + "\n" + string(res.Output)
			if err != nil {
				told += "\n" + err.Error()
			}
			if !strings.Contains(told, tt.want) || strings.Contains(told, canary) {
				t.Errorf("got %s, want %q", told, tt.want)
			}
			if sent = sent || m.world.total() > 0; sent != tt.sent {
				t.Errorf("something was sent: %v, want %v", sent, tt.sent)
			}
			m.clean()
		})
	}
}

// Without a vault the same is found, so that the test above can fail.
func TestAProcessWithoutAVaultHidesNothing(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": func(g *guest, _ string) string { g.must(toolabi.FuncClock, canary); return `1` }})
	if _, err := m.drive(m.start(nil), steps("x")); err != nil {
		t.Fatal(err)
	}
	found := false
	for e, err := range m.mem.Read(t.Context(), "r", 0) {
		found = found || err == nil && strings.Contains(string(e.Body), "read 1")
	}
	if !found {
		t.Error("the request was refused")
	}
}

// What was written before a value was known is served as it is: a replay gives the same answers.
func TestAReplayServesWhatWasWrittenBeforeAValueWasKnown(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": func(g *guest, _ string) string {
		g.must(toolabi.FuncClock, canary)
		return `"` + g.must(toolabi.FuncHTTPSend, "a") + `"`
	}})
	m.world.drop = 1
	var uncertain *runtime.UncertainError
	if _, err := m.drive(m.start(nil), steps("x")); !errors.As(err, &uncertain) {
		t.Fatalf("got %v", err)
	}
	p := m.process(m.mem.Handle(), func(c *runtime.Config) { c.Secrets = knowing(t) })
	if err := p.Resolve(t.Context(), "r", uncertain.Step, runtime.Resolution{Happened: true, Reply: []byte("done"), By: "ann"}); err != nil {
		t.Fatal(err)
	}
	res, err := m.drive(p, steps("x"))
	if err != nil || string(res.Output) != `["done"]` || m.world.total() != 1 {
		t.Errorf("got %s, %v after %d effects", res.Output, err, m.world.total())
	}
}

// A replay says nothing of a value either, also in a process that has not read it, as "wrun replay" has not.
func TestAReplayOfARunWithSecretsSaysNoValue(t *testing.T) {
	m := newMachine(t, map[string]tool{
		"hears": func(g *guest, _ string) string {
			return `"` + g.must(toolabi.FuncHTTPSend, "who am I? {{secret:key}}") + `"`
		},
		"tells": func(g *guest, _ string) string {
			_, err := g.ask(toolabi.FuncHTTPSend, "token "+canary)
			return fmt.Sprintf("%q", err.Message)
		},
		"shows": func(*guest, string) string { return `"` + canary + `"` },
	})
	vault := knowing(t)
	p := m.process(m.mem.Handle(), func(c *runtime.Config) {
		c.Secrets = vault
		c.Funcs[0].Call = func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
			return vault.Hide([]byte("you are " + canary)), c.BeforeSend()
		}
	})
	driver := func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		for _, name := range []string{"hears", "tells", "shows"} {
			if _, err := r.Call(ctx, journal.Step(name), "m."+name, []byte(`{}`)); err != nil && !errors.Is(err, toolabi.Denied) {
				return nil, err
			}
		}
		return []byte(`1`), nil
	}
	if _, err := m.drive(p, driver); err != nil {
		t.Fatal(err)
	}
	m.clean()
	for _, vault := range []*hostfuncs.Vault{knowing(t), unread()} {
		e, err := runtime.New(runtime.Config{Journal: m.mem.Handle(), Invoker: p.invoker, Funcs: m.funcs(), Secrets: vault})
		if err != nil {
			t.Fatal(err)
		}
		var verdicts []string
		for res, err := range e.Replay(t.Context(), "r", runtime.ReplayOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			verdicts = append(verdicts, string(res.Verdict))
			if said := allOf(res); strings.Contains(said, canary) {
				t.Errorf("the replay of %s holds the value: %s", res.Step, said)
			}
		}
		if want := []string{"same", "same", "same so far"}; !slices.Equal(verdicts, want) {
			t.Errorf("replayed %q, want %q", verdicts, want)
		}
	}
	next := maps.Clone(m.tools)
	next["tells"] = func(g *guest, _ string) string { return g.must(toolabi.FuncHTTPSend, "the token "+canary) }
	next["shows"] = func(*guest, string) string { return `"it is ` + canary + `"` }
	all, err := m.replayInstead(next, nil, runtime.ReplayOptions{})
	if err != nil || len(all) != 3 || all[1].Verdict != runtime.ReplayRequest || all[2].Verdict != runtime.ReplayOpen {
		t.Errorf("another version: %+v, %v", all, err)
	}
	for _, res := range all {
		if said := allOf(res); strings.Contains(said, canary) {
			t.Errorf("the replay of %s with another version holds the value: %s", res.Step, said)
		}
	}
}

// allOf is every text of what came of a call.
func allOf(res runtime.Replayed) string {
	said := []string{res.Tool, res.Why, fmt.Sprint(res.Err)}
	for _, r := range []*runtime.ReplayedRequest{res.Was, res.Now} {
		if r != nil {
			said = append(said, r.Name, string(r.Request))
		}
	}
	for _, r := range []*runtime.ReplayedResult{res.Result, res.Came} {
		if r != nil {
			said = append(said, string(r.Output), fmt.Sprint(r.Err))
		}
	}
	for _, c := range res.HostCalls {
		said = append(said, c.Name, c.Note, fmt.Sprint(c.Err))
	}
	return strings.Join(said, "\n")
}

func TestAPersonsReplyWithAValueIsRefused(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	m.world.drop = 1
	var uncertain *runtime.UncertainError
	p := m.process(m.mem.Handle(), func(c *runtime.Config) { c.Secrets = unread() })
	spec, modules := m.spec(`{}`)
	spec.Grants = keyGrants
	if _, err := p.Start(t.Context(), "r", spec, modules, false); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("x")}}); !errors.As(err, &uncertain) {
		t.Fatalf("got %v", err)
	}
	err := p.Resolve(t.Context(), "r", uncertain.Step, runtime.Resolution{Happened: true, Reply: []byte("done " + canary), By: "ann"})
	var secret *runtime.SecretError
	if !errors.As(err, &secret) || secret.Name != "key" || !strings.Contains(err.Error(), "[secret:key]") || strings.Contains(err.Error(), canary) {
		t.Errorf("got %v", err)
	}
	if err := p.Resolve(t.Context(), "r", uncertain.Step, runtime.Resolution{Now: true, By: "ann " + canary, Note: "because of " + canary}); err != nil {
		t.Error(err)
	}
	m.clean()
}

func TestARunIsNotMadeOfAValue(t *testing.T) {
	m := newMachine(t, map[string]tool{"x": one("a")})
	p := m.process(m.mem.Handle(), func(c *runtime.Config) { c.Secrets = knowing(t) })
	for what, change := range map[string]func(*runtime.Spec){
		"its plan":  func(s *runtime.Spec) { s.Plan = []byte(canary) },
		"its input": func(s *runtime.Spec) { s.Input = []byte(`"` + canary + `"`) },
		"one of its grants": func(s *runtime.Spec) {
			s.Grants.Config = []hostfuncs.ConfigGrant{{Module: "m", Key: "k", Value: canary}}
		},
	} {
		spec, modules := m.spec(`{}`)
		change(&spec)
		_, err := p.Start(t.Context(), "r", spec, modules, false)
		var secret *runtime.SecretError
		if !errors.As(err, &secret) || secret.What != what {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if _, err := m.drive(p, steps("x")); err != nil {
		t.Fatal(err)
	}
	_, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Grants: hostfuncs.Grants{Config: []hostfuncs.ConfigGrant{{Module: "m", Key: "k", Value: canary}}}})
	if err != nil { // it is finished, and nothing is added
		t.Errorf("got %v", err)
	}
	m.clean()
}

// A text is cut to a length in many places. What is cut within a value has a part of it at its end, which nothing finds.
func TestNoTextIsCutWithinAValue(t *testing.T) {
	for name, tt := range map[string]struct {
		tool  tool
		drive func(before string) runtime.Driver
		most  int
	}{
		"the note of a driver's panic": {
			drive: func(before string) runtime.Driver {
				return func(context.Context, *runtime.Run) ([]byte, error) { panic(before + canary) }
			}, most: 512,
		},
		"the error of a driver": {
			drive: func(before string) runtime.Driver {
				return func(context.Context, *runtime.Run) ([]byte, error) { return nil, errors.New(before + canary) }
			}, most: toolabi.MaxText,
		},
		"what is around an error": {
			drive: func(before string) runtime.Driver {
				return func(context.Context, *runtime.Run) ([]byte, error) {
					return nil, fmt.Errorf("%s%s: %w", before, canary, toolabi.NewError(toolabi.Failed, "no"))
				}
			}, most: toolabi.MaxText,
		},
		"the panic of a host function": {
			drive: func(before string) runtime.Driver {
				return func(ctx context.Context, r *runtime.Run) ([]byte, error) {
					return r.Call(ctx, "s1", "m.x", []byte(`"`+before+`"`))
				}
			}, most: toolabi.MaxText,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, short := range []int{30, 40, 50, 60, 70, 80} { // what stands before it has a length of its own
				m := newMachine(t, map[string]tool{"x": func(g *guest, input string) string { return g.must(toolabi.FuncHTTPSend, input) }})
				p := m.process(m.mem.Handle(), func(c *runtime.Config) {
					c.Secrets = knowing(t)
					c.Funcs[0].Call = func(_ context.Context, _ hostfuncs.Call, req []byte) ([]byte, error) { panic(string(req) + canary) }
				})
				_, err := m.drive(p, tt.drive(strings.Repeat("x", tt.most-short)))
				if err == nil || strings.Contains(err.Error(), canary[:6]) {
					t.Errorf("got %v", err)
				}
				for e, err := range m.mem.Read(t.Context(), "r", 0) {
					if err != nil {
						t.Fatal(err)
					}
					if strings.Contains(e.Note, canary[:6]) || strings.Contains(string(e.Body), canary[:6]) {
						t.Errorf("a part of the value is in %+v", e)
					}
				}
			}
		})
	}
}
