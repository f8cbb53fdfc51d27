package toolabi_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/toolabi"
)

// payments returns a manifest that is in order.
func payments() *toolabi.Manifest {
	return &toolabi.Manifest{
		Name: "payments", Version: "1.2.3",
		Tools: []toolabi.Tool{
			{Name: "charge", Input: toolabi.RawJSON(`{"type":"object"}`), Lookup: "find", SettleMS: 1000, Compensate: "refund"},
			{Name: "refund", Idempotency: toolabi.Keyed, KeyTTLMS: 1000},
			{Name: "find", Idempotency: toolabi.ReadOnly},
		},
		Capabilities: []toolabi.Capability{{Name: toolabi.FuncHTTPSend, Reason: "to charge"}},
	}
}

// targets lets the manifest ask for a function with these targets.
func targets(function string, targets ...string) func(*toolabi.Manifest) {
	return func(m *toolabi.Manifest) {
		m.Capabilities[0] = toolabi.Capability{Name: function, Reason: "to test", Targets: targets}
	}
}

func TestManifestValidates(t *testing.T) {
	many := func(n int) (tools []toolabi.Tool) {
		for i := range n {
			tools = append(tools, toolabi.Tool{Name: "t" + strings.Repeat("x", i%60) + string(rune('a'+i/60))})
		}
		return tools
	}
	for name, change := range map[string]func(*toolabi.Manifest){
		"as it is":             func(*toolabi.Manifest) {},
		"shortest name":        func(m *toolabi.Manifest) { m.Name = "7" },
		"longest name":         func(m *toolabi.Manifest) { m.Name = strings.Repeat("a", 64) },
		"pre-release":          func(m *toolabi.Manifest) { m.Version = "0.0.1-rc.1+build.5" },
		"256 tools":            func(m *toolabi.Manifest) { m.Tools = many(256) },
		"longest tool name":    func(m *toolabi.Manifest) { m.Tools = []toolabi.Tool{{Name: "a" + strings.Repeat("_", 63)}} },
		"longest time":         func(m *toolabi.Manifest) { m.Tools[1].KeyTTLMS = toolabi.MaxManifestMS },
		"nothing is asked for": func(m *toolabi.Manifest) { m.Capabilities = nil },
		"tools as targets":     targets(toolabi.FuncToolCall, "payments.charge", "text.*"),
		"stores as targets":    targets(toolabi.FuncKVPut, "counters", "a-1"),
		"compensated by a tool that may not be repeated": func(m *toolabi.Manifest) { m.Tools[1] = toolabi.Tool{Name: "refund"} },
	} {
		m := payments()
		change(m)
		if err := m.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestManifestIsRefused(t *testing.T) {
	first := func(change func(*toolabi.Tool)) func(*toolabi.Manifest) {
		return func(m *toolabi.Manifest) { change(&m.Tools[0]) }
	}
	name := func(s string) func(*toolabi.Manifest) { return func(m *toolabi.Manifest) { m.Name = s } }
	toolName := func(s string) func(*toolabi.Manifest) { return first(func(d *toolabi.Tool) { d.Name = s }) }
	version := func(s string) func(*toolabi.Manifest) { return func(m *toolabi.Manifest) { m.Version = s } }
	promise := func(i toolabi.Idempotency) func(*toolabi.Manifest) {
		return first(func(d *toolabi.Tool) { d.Idempotency = i })
	}
	for _, c := range []struct {
		why    string
		change func(*toolabi.Manifest)
	}{
		{`name ""`, name("")}, {`name ".."`, name("..")}, {`name "a/b"`, name("a/b")}, {`name "CON"`, name("CON")},
		{`name "pаyments"`, name("pаyments")}, {`name "a."`, name("a.")}, {`name "a "`, name("a ")}, {`name "a\x00"`, name("a\x00")},
		{`name "a\n"`, name("a\n")}, {`name "-a"`, name("-a")}, {`name "a-"`, name("a-")}, {"name \"aaa", name(strings.Repeat("a", 300))},
		{`version ""`, version("")}, {`version "1"`, version("1")}, {`version "v1.0.0"`, version("v1.0.0")},
		{`version "1.0.0\n"`, version("1.0.0\n")}, {`version "01.0.0"`, version("01.0.0")},
		{`version "999`, version(strings.Repeat("9", 1_000_000))},
		{"0 tools", func(m *toolabi.Manifest) { m.Tools = nil }},
		{"257 tools", func(m *toolabi.Manifest) { m.Tools = make([]toolabi.Tool, 257) }},
		{`tool "find" is described twice`, toolName("find")}, {`tool "Charge"`, toolName("Charge")}, {`tool ""`, toolName("")},
		{`tool "1a"`, toolName("1a")}, {`tool "a-b"`, toolName("a-b")}, {`tool "aaa`, toolName(strings.Repeat("a", 65))},
		{`idempotency "Idempotent"`, promise("Idempotent")}, {`idempotency "true"`, promise("true")},
		{`idempotency "pure "`, promise("pure ")},
		{"keyed needs a key_ttl", promise(toolabi.Keyed)},
		{"key_ttl is for keyed", first(func(d *toolabi.Tool) { d.KeyTTLMS = 1 })},
		{"input schema is not JSON", first(func(d *toolabi.Tool) { d.Input = toolabi.RawJSON("{,}") })},
		{"input schema is not JSON", first(func(d *toolabi.Tool) { d.Input = toolabi.RawJSON("\ufeff{}") })},
		{"input schema is not JSON", first(func(d *toolabi.Tool) { d.Input = toolabi.RawJSON(strings.Repeat("[", 100_000)) })},
		{"input schema is not JSON", first(func(d *toolabi.Tool) {
			d.Input = toolabi.RawJSON(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000))
		})},
		{"output schema is not JSON", first(func(d *toolabi.Tool) { d.Output = toolabi.RawJSON("{} {}") })},
		{`lookup "nothing" is no tool`, first(func(d *toolabi.Tool) { d.Lookup = "nothing" })},
		{"must declare idempotency read", first(func(d *toolabi.Tool) { d.Lookup = "refund" })},
		{"lookup needs settle", first(func(d *toolabi.Tool) { d.SettleMS = 0 })},
		{`compensate "nothing"`, first(func(d *toolabi.Tool) { d.Compensate = "nothing" })},
		{"a time of", first(func(d *toolabi.Tool) { d.SettleMS = 1<<64 - 1 })},
		{"a time of", first(func(d *toolabi.Tool) { d.TimeoutMS = toolabi.MaxManifestMS + 1 })},
		{"a time of", first(func(d *toolabi.Tool) { d.Retry.MaxBackoffMS = 1 << 63 })},
		{"timeout of", func(m *toolabi.Manifest) { m.Limits.TimeoutMS = 1 << 63 }},
		{"asked for twice", func(m *toolabi.Manifest) { m.Capabilities = append(m.Capabilities, m.Capabilities[0]) }},
		{`capability "fly" is not a host function`, func(m *toolabi.Manifest) { m.Capabilities[0].Name = "fly" }},
		{`capability "HTTP_send" is not`, func(m *toolabi.Manifest) { m.Capabilities[0].Name = "HTTP_send" }},
		{"needs no asking", func(m *toolabi.Manifest) { m.Capabilities[0].Name = toolabi.FuncLog }},
		{`target "payments" is no tool`, targets(toolabi.FuncToolCall, "payments.charge", "payments")},
		{`target "../x" is no name of a store`, targets(toolabi.FuncKVGet, "counters", "../x")},
		{`target "" is no name of a store`, targets(toolabi.FuncKVList, "")},
		{`target "*" is no tool`, targets(toolabi.FuncToolCall, "*")},
		{`target "*.charge" is no tool`, targets(toolabi.FuncToolCall, "*.charge")},
		{`target "a.b.*" is no tool`, targets(toolabi.FuncToolCall, "a.b.*")},
		{`target "a.b\n" is no tool`, targets(toolabi.FuncToolCall, "a.b\n")},
		{"cannot compensate itself", first(func(d *toolabi.Tool) { d.Compensate = "charge" })},
		{"gives no reason", func(m *toolabi.Manifest) { m.Capabilities[0].Reason = " \n" }},
	} {
		m := payments()
		c.change(m)
		err := m.Validate()
		if err == nil {
			t.Errorf("want a manifest refused for %s", c.why)
		} else if !strings.Contains(err.Error(), c.why) {
			t.Errorf("refused as %.300q, want %s", err, c.why)
		}
	}
}

func TestManifestReportsEverythingAtOnce(t *testing.T) {
	m := payments()
	m.Name, m.Version, m.Tools[1].KeyTTLMS = "A", "x", 0
	err := m.Validate()
	for _, want := range []string{`name "A"`, `version "x"`, "key_ttl"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %s too", err, want)
		}
	}
}

func TestParseManifestReadsWhatWasEncoded(t *testing.T) {
	want := payments()
	b := encode(t, want)
	got, err := toolabi.ParseManifest(b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestParseManifestRefuses(t *testing.T) {
	good := encode(t, payments())
	large := payments()
	large.Description = strings.Repeat("x", toolabi.MaxManifest)
	unnamed := payments()
	unnamed.Name = "CON"
	for _, c := range []struct {
		why string
		b   []byte
	}{
		{"EOF", nil},
		{"EOF", []byte("{}")}, // JSON is no manifest
		{"at most 65536", encode(t, large)},
		{"extraneous data", append(slices.Clone(good), 0)},
		{"EOF", good[:len(good)-1]},
		{`name "CON"`, encode(t, unnamed)},
		{"duplicate map key", []byte{0xa2, 5, 0xa0, 5, 0xa0}},
		{"unknown field", []byte{0xa1, 23, 1}},
		{"deterministic", []byte{0xa0}},
	} {
		_, err := toolabi.ParseManifest(c.b)
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.20x: got %v, want it refused with %q", c.b, err, c.why)
		}
	}
}

func TestToolThatDeclaresNothingMustNotBeRepeated(t *testing.T) {
	charge, ok := payments().Tool("charge")
	if !ok || charge.Declared() != toolabi.NonIdempotent {
		t.Errorf("charge declares %q, want %q", charge.Declared(), toolabi.NonIdempotent)
	}
	if _, ok := payments().Tool("Charge"); ok {
		t.Error("found a tool by a name of another case")
	}
}

func encode(tb testing.TB, v any) []byte {
	tb.Helper()
	b, err := toolabi.Encode(v)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}
