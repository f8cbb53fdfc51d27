package toolabi_test

import (
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

func TestImportsAreHeldAgainstTheManifest(t *testing.T) {
	const fetch, send, call = toolabi.FuncHTTPFetch, toolabi.FuncHTTPSend, toolabi.FuncToolCall
	for _, c := range []struct {
		name    string
		tools   []toolabi.Idempotency
		asked   []string
		imports []string
		refused string // "" accepts
	}{
		{"nothing at all", []toolabi.Idempotency{"pure"}, nil, nil, ""},
		{"log and progress need no asking", []toolabi.Idempotency{"pure"}, nil, []string{"log", "progress"}, ""},
		{"clock in a read tool", []toolabi.Idempotency{"read"}, nil, []string{"clock", "random"}, ""},
		{"fetch in a read tool", []toolabi.Idempotency{"read"}, []string{fetch}, []string{fetch}, ""},
		{"nothing declared allows all", []toolabi.Idempotency{""}, []string{fetch, send}, []string{send, fetch}, ""},
		{"call in a read tool", []toolabi.Idempotency{"read"}, []string{call}, []string{call}, ""},
		{"waiting needs no asking", []toolabi.Idempotency{"idempotent"}, nil, []string{"approve", "sleep"}, ""},
		{"another tool may use it", []toolabi.Idempotency{"pure", "keyed"}, []string{send}, []string{send}, ""},

		{"clock in a pure tool", []toolabi.Idempotency{"pure"}, nil, []string{"clock"}, "none of its tools may use"},
		{"send in read tools", []toolabi.Idempotency{"pure", "read"}, []string{send}, []string{send}, "http_send (once), which none"},
		{"waiting in read tools", []toolabi.Idempotency{"pure", "read"}, nil, []string{"approve", "sleep"}, "sleep (wait), which none"},
		{"call in a pure tool", []toolabi.Idempotency{"pure"}, []string{call}, []string{call}, "tool_call (call), which none"},
		{"call and not asked for", []toolabi.Idempotency{""}, nil, []string{call}, "manifest does not ask for it"},
		{"imported and not asked for", []toolabi.Idempotency{""}, nil, []string{send}, "manifest does not ask for it"},
		{"asked for and not imported", []toolabi.Idempotency{""}, []string{fetch}, nil, "module does not import it"},
		{"an import of no function", []toolabi.Idempotency{""}, nil, []string{"kv_put2"}, "does not offer"},
		{"an import of another case", []toolabi.Idempotency{""}, nil, []string{"Log"}, "does not offer"},
	} {
		m := toolabi.Manifest{Name: "m", Version: "1.0.0"}
		for _, i := range c.tools {
			m.Tools = append(m.Tools, toolabi.Tool{Name: "t", Idempotency: i})
		}
		for _, name := range c.asked {
			m.Capabilities = append(m.Capabilities, toolabi.Capability{Name: name, Reason: "r"})
		}
		err := m.CheckImports(c.imports)
		if c.refused == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: got %v, want it refused with %q", c.name, err, c.refused)
		}
	}
}

func TestPromisesAllowAndWeakenClasses(t *testing.T) {
	for _, c := range []struct {
		promise toolabi.Idempotency
		class   toolabi.Class
		allowed bool
		as      toolabi.Class
	}{
		{toolabi.Pure, toolabi.Free, true, toolabi.Free},
		{toolabi.Pure, toolabi.Read, false, toolabi.Read},
		{toolabi.ReadOnly, toolabi.Read, true, toolabi.Read},
		{toolabi.ReadOnly, toolabi.Local, false, toolabi.Local},
		{toolabi.ReadOnly, toolabi.Once, false, toolabi.Once},
		{toolabi.ReadOnly, toolabi.Wait, false, toolabi.Wait},
		{toolabi.ReadOnly, toolabi.Call, true, toolabi.Call},
		{toolabi.Pure, toolabi.Call, false, toolabi.Call},
		{toolabi.Idempotent, toolabi.Once, true, toolabi.Effect},
		{toolabi.Keyed, toolabi.Once, true, toolabi.Effect},
		{toolabi.Keyed, toolabi.Wait, true, toolabi.Wait},
		{toolabi.Idempotent, toolabi.Call, true, toolabi.Call},
		{toolabi.NonIdempotent, toolabi.Once, true, toolabi.Once},
		{toolabi.NonIdempotent, toolabi.Effect, true, toolabi.Effect},
	} {
		if got := c.promise.Allows(c.class); got != c.allowed {
			t.Errorf("%s allows %s: %v, want %v", c.promise, c.class, got, c.allowed)
		}
		if got := c.promise.Weaken(c.class); got != c.as {
			t.Errorf("%s makes %s of %s, want %s", c.promise, got, c.class, c.as)
		}
	}
}

func TestFunctionsAreFoundByTheirExactName(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range toolabi.Functions {
		got, ok := toolabi.FunctionByName(f.Name)
		if !ok || got != f || seen[f.Name] {
			t.Errorf("%s: found %+v (%v), twice: %v", f.Name, got, ok, seen[f.Name])
		}
		seen[f.Name] = true
	}
	if _, ok := toolabi.FunctionByName("LOG"); ok {
		t.Error("found a function by a name of another case")
	}
}
