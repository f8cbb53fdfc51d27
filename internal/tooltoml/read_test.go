package tooltoml_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/tooltoml"
	"github.com/wrun-dev/wrun/toolabi"
)

const whole = `
# what a payment module might say
name = "payments"
version = "1.2.3"
description = "charges cards"
limits = { timeout = "1m", memory_bytes = 1048576, output_bytes = 65536, fuel = 1_000_000 }

[[tools]]
name = "charge"
description = "charges a card"
input = { type = "object", properties = { amount = { type = "integer", minimum = 1 } }, required = ["amount"] }
output = '''{
  "type": "object", "maximum": 1e400
}'''
lookup = "find"
settle = "90s"
compensate = "refund"
destructive = true
approval = true
timeout = "1m30s"
retry = { attempts = 3, backoff = "250ms", max_backoff = "10s" }

[[tools]]
name = "refund"
idempotency = "keyed"
key_ttl = "24h"

  [tools.retry]
  attempts = 2

[[tools]]
name = "find"
idempotency = "read"
input = true

[[capabilities]]
name = "http_send"
reason = "to charge"
targets = ["https://api.example.com"]
`

func TestReadTakesWhatAManifestHas(t *testing.T) {
	m, err := tooltoml.Read([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := &toolabi.Manifest{
		Name: "payments", Version: "1.2.3", Description: "charges cards",
		Limits: toolabi.Limits{TimeoutMS: 60_000, MemoryBytes: 1 << 20, OutputBytes: 1 << 16, Fuel: 1_000_000},
		Tools: []toolabi.Tool{
			{
				Name: "charge", Description: "charges a card", Lookup: "find", SettleMS: 90_000, Compensate: "refund", Destructive: true, Approval: true,
				Input:  toolabi.RawJSON(`{"properties":{"amount":{"minimum":1,"type":"integer"}},"required":["amount"],"type":"object"}`),
				Output: toolabi.RawJSON(`{"type":"object","maximum":1e400}`), TimeoutMS: 90_000,
				Retry: toolabi.RetryPolicy{Attempts: 3, BackoffMS: 250, MaxBackoffMS: 10_000},
			},
			{Name: "refund", Idempotency: toolabi.Keyed, KeyTTLMS: 86_400_000, Retry: toolabi.RetryPolicy{Attempts: 2}},
			{Name: "find", Idempotency: toolabi.ReadOnly, Input: toolabi.RawJSON("true")},
		},
		Capabilities: []toolabi.Capability{{Name: "http_send", Reason: "to charge", Targets: []string{"https://api.example.com"}}},
	}
	if !reflect.DeepEqual(m, want) {
		got, _ := json.MarshalIndent(m, "", " ")
		t.Errorf("got %s", got)
	}
}

func TestReadTakesAProgram(t *testing.T) {
	m, err := tooltoml.Read([]byte(`
name = "esbuild"
version = "0.27.2"
tools = [{ name = "minify", idempotency = "idempotent" }]
command = { args = ["--minify", "--loader=ts"], text = true }
[[command.dirs]]
name = "src"
path = "/src"
reason = "to read sources"
[[command.dirs]]
name = "out"
path = "/out"
write = true
reason = "to write"
`))
	if err == nil || !strings.Contains(err.Error(), "line 6") {
		t.Errorf("an inline table was extended: %+v, %v", m, err)
	}
	m, err = tooltoml.Read([]byte(`
name = "esbuild"
version = "0.27.2"
tools = [{ name = "minify", idempotency = "idempotent" }]
[command]
args = ["--minify", "--loader=ts"]
text = true
[[command.dirs]]
name = "src"
path = "/src"
reason = "to read sources"
[[command.dirs]]
name = "out"
path = "/out"
write = true
reason = "to write"
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &toolabi.Command{Args: []string{"--minify", "--loader=ts"}, Text: true, Dirs: []toolabi.Dir{
		{Name: "src", Path: "/src", Reason: "to read sources"}, {Name: "out", Path: "/out", Write: true, Reason: "to write"},
	}}
	if !reflect.DeepEqual(m.Command, want) {
		t.Errorf("got %+v", m.Command)
	}
}

// TestReadRefuses changes lines of a manifest that is in order. Each mistake has to name its line and its field.
func TestReadRefuses(t *testing.T) {
	with := func(old, replacement string) string {
		if !strings.Contains(whole, old) {
			t.Fatalf("there is no %q", old)
		}
		return strings.Replace(whole, old, replacement, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", " \n", "line 1: it is empty"},
		{"too long", strings.Repeat("#", 1<<18), "it has 262144 bytes"},
		{"not UTF-8", "a = 1\nb = \"\xff\"", "line 2: this is not UTF-8"},
		{"not TOML", "name = \n", "line 1: "},
		{"JSON", "{}", "line 1: "},
		{"a field twice", with(`version = "1.2.3"`, "version = \"1.2.3\"\nname = \"other\""), "line 5: "},
		{"a table twice", whole + "[limits]\n", "line 40: limits"},
		{"unknown", with("version =", "verison ="), `line 4: verison: there is no such field; did you mean "version"?`},
		{"unknown in a tool", with(`lookup = "find"`, `lokup = "find"`), `line 15: tools[0].lokup: there is no such field; did you mean "lookup"?`},
		{"unknown in an inline table", with("memory_bytes =", "memory_byte ="), `line 6: limits.memory_byte: there is no such field; did you mean "memory_bytes"?`},
		{"nothing near", whole + "\n[xyzzy]\n", `line 41: xyzzy: there is no such field; there are ["capabilities"`},
		{"of another case", with("lookup =", "Lookup ="), `tools[0].Lookup: there is no such field; did you mean "lookup"?`},
		{"milliseconds", with(`timeout = "1m30s"`, `timeout_ms = 30`), `tools[0].timeout_ms: there is no such field; did you mean "timeout"?`},
		{"a number for a duration", with(`"90s"`, "90"), `line 16: tools[0].settle: want a duration such as "30s", "1h30m" or "250ms", not the number 90`},
		{"a day", with(`"24h"`, `"1d"`), `tools[1].key_ttl: want a duration`},
		{"a negative duration", with(`"90s"`, `"-90s"`), `tools[0].settle: want whole milliseconds`},
		{"microseconds", with(`"90s"`, `"1us"`), `tools[0].settle: want whole milliseconds`},
		{"a number for a name", with(`name = "payments"`, "name = 7"), "line 3: name: want a string, not the number 7"},
		{"a date", with(`name = "payments"`, "name = 2020-01-01"), "line 3: name: want a string, not a date or a time"},
		{"a string for a truth", with("destructive = true", `destructive = "true"`), `line 18: tools[0].destructive: want true or false, not "true"`},
		{"a negative number", with("fuel = 1_000_000", "fuel = -1"), "line 6: limits.fuel: want a whole number that is not negative, not the number -1"},
		{"a fraction", with("fuel = 1_000_000", "fuel = 1e6"), "limits.fuel: want a whole number"},
		{"a field that would colour the terminal", whole + "\n[\"\\u001b[31m\"]\n", "line 41: \uFFFD[31m: there is no such field"},
		{"too many attempts", with("attempts = 3", "attempts = 4294967296"), "tools[0].retry: 4294967296 attempts"},
		{"a table for a list", whole + "\n[command]\nargs = { a = 1 }", "command.args: want a list, not a table"},
		{"a list for a table", whole + "\ncommand = []", ""},
		{"a schema that is a number", with("input = true", "input = 1"), "line 34: tools[2].input: want a JSON Schema"},
		{"a schema that is no JSON", with("input = true", `input = "{"`), "line 34: tools[2].input: want a JSON Schema"},
		{"a schema with a key twice", with("input = true", `input = '{"a":1,"a":2}'`), `tools[2].input: want a JSON Schema, as JSON in a string or as a table: the key "a" is there twice`},
		{"a schema with a date", with("input = true", "input = { const = 1979-05-27 }"), "line 34: tools[2].input.const: JSON has no dates"},
		{"a schema with an infinity", with("input = true", "input = { const = [inf] }"), "line 34: tools[2].input.const[0]: JSON has no +Inf"},
		{"an invalid name", with(`name = "payments"`, `name = "Payments"`), `line 3: name "Payments": want`},
		{"an invalid tool", with(`settle = "90s"`, ""), `line 8: tool "charge": lookup needs settle`},
		{"keyed without a time", with(`key_ttl = "24h"`, ""), `line 23: tool "refund": keyed needs a key_ttl`},
		{"no version", with(`version = "1.2.3"`, ""), `version "": want`},
		{"an unknown capability", with(`name = "http_send"`, `name = "http_sent"`), `line 36: capability "http_sent" is not a host function`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := tooltoml.Read([]byte(c.text))
			if err == nil {
				t.Fatalf("read as %+v", m)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got\n%v\nwant %s", err, c.want)
			}
			for _, leak := range []string{"struct ", "tooltoml.", "interface", "%!"} {
				if strings.Contains(err.Error(), leak) {
					t.Errorf("%q in %v", leak, err)
				}
			}
		})
	}
}

func TestReadReportsEverythingAtOnce(t *testing.T) {
	_, err := tooltoml.Read([]byte("nam = 1\nversion = 2\n" + strings.Repeat("", 3) + "[limits]\nfuel = true\n"))
	for _, want := range []string{"line 1: nam", "line 2: version", "line 4: limits.fuel"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s too", err, want)
		}
	}
}

func TestDeepNestingIsAnError(t *testing.T) {
	for _, text := range []string{
		"a = " + strings.Repeat("[", 100_000), "a = " + strings.Repeat("[", 60_000) + strings.Repeat("]", 60_000),
		"a = " + strings.Repeat("{a=", 40_000), strings.Repeat("a.", 60_000) + "a = 1", "[" + strings.Repeat("a.", 60_000) + "a]",
		"[[tools]]\ninput = " + strings.Repeat("[", 60_000) + strings.Repeat("]", 60_000), strings.Repeat("[[tools]]\n", 10_000),
		"[[tools]]\ninput.a = " + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000),
	} {
		if _, err := tooltoml.Read([]byte(text)); err == nil {
			t.Errorf("%.20s was read", text)
		}
	}
}

// What is read is valid, and says of every mistake what it is.
func FuzzRead(f *testing.F) {
	f.Add([]byte(whole))
	for _, s := range []string{"a = 1", "[[a]]\n[a.b]\n", "a.b = {c=[{d=1}]}", "'' = \"\"", "a = 1979-05-27T07:32:00Z", "a=\"\"\"\n\"\"\"", "[a]\n[[a]]", "a = nan", "a = 0xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := tooltoml.Read(text)
		if err == nil {
			if err := m.Validate(); err != nil {
				t.Fatal(err)
			}
			if _, err := toolabi.Encode(m); err != nil {
				t.Fatal(err)
			}
			return
		}
		if err.Error() == "" || strings.Contains(err.Error(), "cannot be read: runtime error") {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

func TestACapabilityNamesTheSecretsOfItsRequests(t *testing.T) {
	m, err := tooltoml.Read([]byte("name = 'a'\nversion = '1.0.0'\ntools = [{ name = 'b' }]\ncapabilities = [{ name = 'http_send', reason = 'r', secrets = ['key'] }]\n"))
	if err != nil || len(m.Capabilities) != 1 || len(m.Capabilities[0].Secrets) != 1 || m.Capabilities[0].Secrets[0] != "key" {
		t.Errorf("got %+v, %v", m, err)
	}
}
