package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// counting makes every function answer with nothing, and counts the uses of each.
func counting(used map[string]int) func(*runtime.Config) {
	return func(c *runtime.Config) {
		c.Funcs = hostfuncs.Standard(hostfuncs.Config{})
		for i, f := range c.Funcs {
			count := func() { used[f.Name]++ }
			c.Funcs[i] = hostfuncs.Func{Name: f.Name, Class: f.Class, Check: func(hostfuncs.Call, []byte) error { count(); return nil }}
			switch f.Class {
			case toolabi.Call:
			case toolabi.Wait:
				c.Funcs[i].Await = func(hostfuncs.Call, []byte) (hostfuncs.Pending, error) { count(); return hostfuncs.Pending{}, nil }
			default:
				c.Funcs[i].Call = func(context.Context, hostfuncs.Call, []byte) ([]byte, error) { count(); return nil, nil }
			}
		}
	}
}

// A module may have tools that change the world and others that only read. What the ones may use is denied to the others at the
// call, whatever is granted: nothing is announced, nothing is done, nothing is written but the denial.
func TestWhatAnotherToolOfTheModuleMayUseIsDeniedAtTheCall(t *testing.T) {
	for declared, may := range map[string][]toolabi.Class{
		"read": {toolabi.Free, toolabi.Read, toolabi.Call}, "pure": {toolabi.Free, toolabi.Call}, // a call is judged by what it calls
	} {
		for _, f := range toolabi.Functions {
			if slices.Contains(may, f.Class) {
				continue
			}
			t.Run(declared+" "+f.Name, func(t *testing.T) {
				said := ""
				m := newMachine(t, map[string]tool{
					declared: func(g *guest, _ string) string {
						_, err := g.ask(f.Name, "a")
						said = fmt.Sprint(err)
						return fmt.Sprint(errors.Is(err, toolabi.Denied))
					},
					"change": func(g *guest, _ string) string { return `1` },
				})
				m.grants = hostfuncs.Grants{KV: []hostfuncs.KVGrant{{Store: "m", Write: true}}, Artifacts: 1 << 20}
				used := map[string]int{}
				res, err := m.drive(m.process(m.mem.Handle(), counting(used)), steps(declared))
				if err != nil || string(res.Output) != `[true]` {
					t.Fatalf("%s, %v", res.Output, err)
				}
				if want := "and the tool declares itself " + declared; !strings.Contains(said, want) {
					t.Errorf("it is told %q, want %q", said, want)
				}
				want := []string{"created", "claimed", "intent s1", "result s1/1", "result s1", "finished"}
				if got := m.log(); !slices.Equal(got, want) {
					t.Errorf("log %v, want %v", got, want)
				}
				if len(used) > 0 {
					t.Errorf("functions were used: %v", used)
				}
				m.nothingWritten()
			})
		}
	}
}

// nothingWritten says so when an entry of the run changes a tool's state or names a blob beside the modules.
func (m *machine) nothingWritten() {
	m.t.Helper()
	for e, err := range m.mem.Read(m.t.Context(), "r", 0) {
		if err != nil {
			m.t.Fatal(err)
		}
		if len(e.Writes) > 0 || e.Kind != journal.Created && len(e.Refs) > 0 {
			m.t.Errorf("%s %s writes %v and keeps %v", e.Kind, e.Step, e.Writes, e.Refs)
		}
	}
}

// A plan may call a module as it likes. Whose store and whose settings they are does not follow from that.
func TestAModuleIsItsManifestsNameToHostFunctions(t *testing.T) {
	m := newMachine(t, map[string]tool{"read": func(g *guest, _ string) string { g.must(toolabi.FuncClock, ""); return `1` }})
	seen := ""
	p := m.process(m.mem.Handle(), func(c *runtime.Config) {
		c.Funcs[1].Call = func(_ context.Context, c hostfuncs.Call, _ []byte) ([]byte, error) {
			seen = c.Module
			return nil, nil
		}
	})
	spec, modules := m.spec(`{}`)
	spec.Modules[0].Name = "alias"
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err != nil {
		t.Fatal(err)
	}
	_, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "s", "alias.read", []byte(`{}`))
	}}})
	if err != nil || seen != "m" {
		t.Errorf("it is %q, %v, want m", seen, err)
	}
}

// What was remembered for a module, what a run begins with and what a resume adds say the same of what can be only one thing.
func TestGrantsOfAModuleAndOfItsRunDoNotContradictEachOther(t *testing.T) {
	secret := func(source string) hostfuncs.Grants {
		return hostfuncs.Grants{Secrets: []hostfuncs.SecretGrant{{Name: "key", Source: source}}}
	}
	in := func(dir string) hostfuncs.Grants {
		return hostfuncs.Grants{Workspace: hostfuncs.WorkspaceGrant{Path: dir, Write: true}}
	}
	a, b := t.TempDir(), t.TempDir()
	for _, c := range []struct {
		name        string
		module, run hostfuncs.Grants
		more        hostfuncs.Grants
		begins      bool // without contradiction
		goesOn      bool
	}{
		{"the same", secret("env:A"), secret("env:A"), secret("env:A"), true, true},
		{"another source", secret("env:A"), secret("env:B"), hostfuncs.Grants{}, false, false},
		{"another source on a resume", secret("env:A"), hostfuncs.Grants{}, secret("env:B"), true, false},
		{"another workspace", in(a), in(b), hostfuncs.Grants{}, false, false},
		{"a workspace that moves", in(a), hostfuncs.Grants{}, in(b), true, true},
		{"what is not valid", hostfuncs.Grants{}, hostfuncs.Grants{}, hostfuncs.Grants{HTTP: []string{"https://A.example"}}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMachine(t, map[string]tool{"pure": func(*guest, string) string { return `1` }})
			spec, modules := m.spec(`{}`)
			spec.Grants, spec.Modules[0].Grants = c.run, c.module
			p := m.start(nil)
			_, err := p.Start(t.Context(), "r", spec, modules, false)
			var conflict *hostfuncs.GrantConflictError
			if (err == nil) != c.begins || err != nil && !errors.As(err, &conflict) {
				t.Fatalf("it begins with %v", err)
			}
			if !c.begins {
				return
			}
			length := len(m.log())
			_, err = p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: steps("pure")}, Grants: c.more})
			if (err == nil) != c.goesOn || err != nil && len(m.log()) != length {
				t.Errorf("it goes on with %v, and the log has %d entries, had %d", err, len(m.log()), length)
			}
		})
	}
}
