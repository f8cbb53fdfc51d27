package toolabi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// formatter returns the manifest of a program that is in order.
func formatter() *toolabi.Manifest {
	return &toolabi.Manifest{
		Name: "formatter", Version: "1.0.0", Tools: []toolabi.Tool{{Name: "format", Idempotency: toolabi.Idempotent}},
		Command: &toolabi.Command{Args: []string{"--minify", ""}, Text: true, Dirs: []toolabi.Dir{
			{Name: "src", Path: "/src", Reason: "to read sources"},
			{Name: "out", Path: "/src/out", Write: true, Reason: "to write the result"},
		}},
	}
}

func dirs(n int) (all []toolabi.Dir) {
	for i := range n {
		all = append(all, toolabi.Dir{Name: fmt.Sprintf("d%d", i), Path: fmt.Sprintf("/d%d", i), Reason: "to test"})
	}
	return all
}

func TestCommandValidates(t *testing.T) {
	for name, change := range map[string]func(*toolabi.Manifest){
		"as it is":               func(*toolabi.Manifest) {},
		"nothing but the mode":   func(m *toolabi.Manifest) { m.Command = &toolabi.Command{} },
		"pure, if it only reads": func(m *toolabi.Manifest) { m.Tools[0].Idempotency, m.Command.Dirs[1].Write = toolabi.Pure, false },
		"the root":               func(m *toolabi.Manifest) { m.Command.Dirs[0].Path = "/" },
		"as many as may be":      func(m *toolabi.Manifest) { m.Command.Args, m.Command.Dirs = make([]string, 64), dirs(16) },
		"longest argument":       func(m *toolabi.Manifest) { m.Command.Args[0] = strings.Repeat("x", 4096) },
		"longest path":           func(m *toolabi.Manifest) { m.Command.Dirs[0].Path = "/" + strings.Repeat("x", 255) },
	} {
		m := formatter()
		change(m)
		if err := m.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := toolabi.ParseManifest(encode(t, m)); err != nil || got.Command == nil {
			t.Errorf("%s: read back as %+v, %v", name, got, err)
		}
	}
}

func TestCommandIsRefused(t *testing.T) {
	first := func(change func(*toolabi.Dir)) func(*toolabi.Manifest) {
		return func(m *toolabi.Manifest) { change(&m.Command.Dirs[0]) }
	}
	name := func(s string) func(*toolabi.Manifest) { return first(func(d *toolabi.Dir) { d.Name = s }) }
	path := func(s string) func(*toolabi.Manifest) { return first(func(d *toolabi.Dir) { d.Path = s }) }
	arg := func(s string) func(*toolabi.Manifest) { return func(m *toolabi.Manifest) { m.Command.Args[1] = s } }
	for _, c := range []struct {
		why    string
		change func(*toolabi.Manifest)
	}{
		{"2 tools: a program is exactly one", func(m *toolabi.Manifest) { m.Tools = append(m.Tools, toolabi.Tool{Name: "other"}) }},
		{"a program is given no idempotency key", func(m *toolabi.Manifest) { m.Tools[0].Idempotency, m.Tools[0].KeyTTLMS = toolabi.Keyed, 1000 }},
		{`declares pure and wants to write to directory "out"`, func(m *toolabi.Manifest) { m.Tools[0].Idempotency = toolabi.Pure }},
		{`declares read and wants to write to directory "out"`, func(m *toolabi.Manifest) { m.Tools[0].Idempotency = toolabi.ReadOnly }},
		{"no host functions", func(m *toolabi.Manifest) {
			m.Capabilities = []toolabi.Capability{{Name: toolabi.FuncHTTPSend, Reason: "to try"}}
		}},
		{"65 arguments", func(m *toolabi.Manifest) { m.Command.Args = make([]string, 65) }},
		{"argument 2", arg(strings.Repeat("x", 4097))}, {"argument 2", arg("a\x00b")},
		{"17 directories", func(m *toolabi.Manifest) { m.Command.Dirs = dirs(17) }},
		{`directory ""`, name("")}, {`directory "Src"`, name("Src")}, {`directory "a b"`, name("a b")}, {`directory "-a"`, name("-a")},
		{`directory "aaa`, name(strings.Repeat("a", 65))}, {`directory "../x"`, name("../x")}, {`directory "a\n"`, name("a\n")},
		{`path ""`, path("")}, {`path "src"`, path("src")}, {`path "./src"`, path("./src")}, {`path "/src/"`, path("/src/")},
		{`path "/a/../b"`, path("/a/../b")}, {`path "//a"`, path("//a")}, {`path "/a\x00"`, path("/a\x00")}, {`path "/xxx`, path("/" + strings.Repeat("x", 256))},
		{"is there twice", name("out")}, {"is there twice", path("/src/out")},
		{"gives no reason", first(func(d *toolabi.Dir) { d.Reason = " \t" })},
	} {
		m := formatter()
		c.change(m)
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("got %.300v, want it refused with %s", err, c.why)
		}
	}
}

func TestAProgramThatCanWriteIsOpaque(t *testing.T) {
	read, write := toolabi.Mount{Name: "src", Path: "/home/a"}, toolabi.Mount{Name: "out", Path: "/home/b", Write: true}
	m := formatter()
	if m.Opaque(nil) || m.Opaque([]toolabi.Mount{read}) || !m.Opaque([]toolabi.Mount{read, write}) {
		t.Error("a program is opaque exactly when it may write somewhere")
	}
	if payments().Opaque([]toolabi.Mount{write}) {
		t.Error("a module of ABI 1 has no directories, and cannot be opaque")
	}
	if !slices.Equal(m.Command.Args, formatter().Command.Args) {
		t.Error("asking changed the manifest")
	}
}
