package schema_test

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/sdk/internal/schema"
	"github.com/wrun-dev/wrun/toolabi"
)

type (
	tagged struct {
		Account string   `json:"account" doc:"whose <account>" minLength:"1" maxLength:"64" pattern:"^[a-z]+$"`
		Cents   int64    `json:"cents" minimum:"1" maximum:"9007199254740993"`
		Rate    *float64 `json:"rate" minimum:"-0.5"`
		Kind    string   `json:"kind,omitempty" enum:"card,bank"`
		Level   int      `json:"level,omitzero" enum:"1,2"`
	}
	//lint:ignore U1000 a field that is not exported is left out of the schema
	plain    struct{ A, b, C string }
	skipping struct {
		Kept string
		Left string `json:"-"`
		//lint:ignore SA5008 encoding/json reads this as the name "-"
		Dash string `json:"-,"`
	}
	inner struct {
		X int `json:"x"`
		Y int `json:"y"`
	}
	embedding struct {
		inner
		Y string `json:"y"`
	}
	embeddingPointer struct {
		*Public
		Z int `json:"z"`
	}
	Public struct {
		P int `json:"p"`
	}
	named struct {
		Public `json:"public"`
	}
	collection struct {
		List []string           `json:"list"`
		Skip []string           `json:"skip,omitempty"`
		Map  map[string]*Public `json:"map"`
		Kind *string            `json:"kind" enum:"a,b"`
	}
	quoted struct {
		N int64  `json:"n,string"`
		P *int64 `json:"p,string"`
	}
	recursive       struct{ Next *recursive }
	recursiveList   struct{ Children []recursiveList }
	recursiveOuter  struct{ Middle recursiveMiddle }
	recursiveMiddle struct{ Back map[string]recursiveOuter }
	embedsItself    struct{ *EmbedsItself }
	EmbedsItself    struct{ *EmbedsItself }
	one             struct{ Same int }
	two             struct{ Same int }
	ambiguous       struct {
		one
		two
	}
	hiddenPointer struct{ *inner }
	chosen        string
)

const noMore = `"additionalProperties":false}`

func TestSchemas(t *testing.T) {
	for _, c := range []struct {
		name    string
		t       reflect.Type
		in, out string // out "" is the same as in
	}{
		{"bool", reflect.TypeFor[bool](), `{"type":"boolean"}`, ""},
		{"string", reflect.TypeFor[chosen](), `{"type":"string"}`, ""},
		{"int64", reflect.TypeFor[int64](), `{"type":"integer"}`, ""},
		{"int8", reflect.TypeFor[int8](), `{"type":"integer","minimum":-128,"maximum":127}`, ""},
		{"int32", reflect.TypeFor[int32](), `{"type":"integer","minimum":-2147483648,"maximum":2147483647}`, ""},
		{"uint32", reflect.TypeFor[uint32](), `{"type":"integer","minimum":0,"maximum":4294967295}`, ""},
		{"uint64", reflect.TypeFor[uint64](), `{"type":"integer","minimum":0}`, ""},
		{"float", reflect.TypeFor[float32](), `{"type":"number"}`, ""},
		{"any", reflect.TypeFor[any](), `{}`, ""},
		{"raw JSON", reflect.TypeFor[json.RawMessage](), `{}`, ""},
		{"raw JSON of the contract", reflect.TypeFor[toolabi.RawJSON](), `{}`, ""},
		{"a list of raw JSON", reflect.TypeFor[[1]toolabi.RawJSON](), `{"type":"array","items":{},"minItems":1,"maxItems":1}`, ""},
		{"number", reflect.TypeFor[json.Number](), `{"type":"number"}`, ""},
		{"big integer", reflect.TypeFor[*big.Int](), `{"type":"integer"}`, `{"type":["integer","null"]}`},
		{"time", reflect.TypeFor[time.Time](), `{"type":"string","format":"date-time"}`, ""},
		{"text", reflect.TypeFor[netip.Addr](), `{"type":"string"}`, ""},
		{"bytes", reflect.TypeFor[[]byte](), `{"type":"string","contentEncoding":"base64"}`, `{"type":["string","null"],"contentEncoding":"base64"}`},
		{"list", reflect.TypeFor[[]int](), `{"type":"array","items":{"type":"integer"}}`, `{"type":["array","null"],"items":{"type":"integer"}}`},
		{"array", reflect.TypeFor[[2]bool](), `{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2}`, ""},
		{"map", reflect.TypeFor[map[chosen]any](), `{"type":"object","additionalProperties":{}}`, `{"type":["object","null"],"additionalProperties":{}}`},
		{"pointer to pointer", reflect.TypeFor[**int](), `{"type":"integer"}`, `{"type":["integer","null"]}`},
		{"empty struct", reflect.TypeFor[struct{}](), `{"type":"object",` + noMore, ""},
		{"fields without tags", reflect.TypeFor[plain](), `{"type":"object","properties":{"A":{"type":"string"},"C":{"type":"string"}},"required":["A","C"],` + noMore, ""},
		{"fields left out", reflect.TypeFor[skipping](), `{"type":"object","properties":{"Kept":{"type":"string"},"-":{"type":"string"}},"required":["Kept","-"],` + noMore, ""},
		{"tags", reflect.TypeFor[tagged](),
			`{"type":"object","properties":{` +
				`"account":{"type":"string","description":"whose <account>","minLength":1,"maxLength":64,"pattern":"^[a-z]+$"},` +
				`"cents":{"type":"integer","minimum":1,"maximum":9007199254740993},` +
				`"rate":{"type":"number","minimum":-0.5},"kind":{"type":"string","enum":["card","bank"]},"level":{"type":"integer","enum":[1,2]}},` +
				`"required":["account","cents"],` + noMore,
			`{"type":"object","properties":{` +
				`"account":{"type":"string","description":"whose <account>","minLength":1,"maxLength":64,"pattern":"^[a-z]+$"},` +
				`"cents":{"type":"integer","minimum":1,"maximum":9007199254740993},` +
				`"rate":{"type":["number","null"],"minimum":-0.5},"kind":{"type":"string","enum":["card","bank"]},"level":{"type":"integer","enum":[1,2]}},` +
				`"required":["account","cents","rate"],` + noMore},
		{"embedded struct, shallower field wins", reflect.TypeFor[embedding](),
			`{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"string"}},"required":["x","y"],` + noMore, ""},
		{"embedded pointer may be missing", reflect.TypeFor[embeddingPointer](),
			`{"type":"object","properties":{"p":{"type":"integer"},"z":{"type":"integer"}},"required":["z"],` + noMore, ""},
		{"embedded struct with a name is a member", reflect.TypeFor[named](),
			`{"type":"object","properties":{"public":{"type":"object","properties":{"p":{"type":"integer"}},"required":["p"],` + noMore + `},"required":["public"],` + noMore, ""},
		{"what nil can be", reflect.TypeFor[collection](),
			`{"type":"object","properties":{"list":{"type":"array","items":{"type":"string"}},"skip":{"type":"array","items":{"type":"string"}},` +
				`"map":{"type":"object","additionalProperties":{"type":"object","properties":{"p":{"type":"integer"}},"required":["p"],` + noMore + `},` +
				`"kind":{"type":"string","enum":["a","b"]}},"required":["list","map"],` + noMore,
			`{"type":"object","properties":{"list":{"type":["array","null"],"items":{"type":"string"}},"skip":{"type":"array","items":{"type":"string"}},` +
				`"map":{"type":["object","null"],"additionalProperties":{"type":["object","null"],"properties":{"p":{"type":"integer"}},"required":["p"],` + noMore + `},` +
				`"kind":{"type":["string","null"],"enum":["a","b",null]}},"required":["list","map","kind"],` + noMore},
		{"numbers in quotes", reflect.TypeFor[quoted](),
			`{"type":"object","properties":{"n":{"type":"string"},"p":{"type":"string"}},"required":["n"],` + noMore,
			`{"type":"object","properties":{"n":{"type":"string"},"p":{"type":["string","null"]}},"required":["n","p"],` + noMore},
	} {
		if c.out == "" {
			c.out = c.in
		}
		check(t, c.name+" in", c.in, schema.Input, c.t)
		check(t, c.name+" out", c.out, schema.Output, c.t)
	}
}

func check(t *testing.T, name, want string, build func(reflect.Type) (toolabi.RawJSON, error), of reflect.Type) {
	t.Helper()
	got, err := build(of)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	} else if string(got) != want {
		t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
	}
}

func TestTypesWithoutASchemaAreRefused(t *testing.T) {
	for _, c := range []struct {
		t   reflect.Type
		why string
	}{
		{reflect.TypeFor[chan int](), "has no form in JSON"},
		{reflect.TypeFor[struct{ F func() }](), "has no form in JSON"},
		{reflect.TypeFor[complex128](), "has no form in JSON"},
		{reflect.TypeFor[interface{ Close() }](), "has no form in JSON"},
		{reflect.TypeFor[map[int]string](), "keys of a map must be strings"},
		{reflect.TypeFor[map[netip.Addr]string](), "keys of a map must be strings"},
		{reflect.TypeFor[recursive](), "contains itself"},
		{reflect.TypeFor[recursiveList](), "contains itself"},
		{reflect.TypeFor[recursiveOuter](), "contains itself"},
		{reflect.TypeFor[embedsItself](), "embedded more than 8 deep"},
		{reflect.TypeFor[ambiguous](), `two fields that are both "Same"`},
		{reflect.TypeFor[hiddenPointer](), "cannot be decoded"},
		{reflect.TypeFor[struct {
			A int `minLength:"1"`
		}](), "tag minLength is for a JSON string"},
		{reflect.TypeFor[struct {
			A any `minimum:"1"`
		}](), "tag minimum is for"},
		{reflect.TypeFor[struct {
			A int `minimum:"1.5"`
		}](), "not an integer"},
		{reflect.TypeFor[struct {
			A float64 `maximum:"NaN"`
		}](), "not a number"},
		{reflect.TypeFor[struct {
			A int `enum:"1,+2"`
		}](), "not a number"},
		{reflect.TypeFor[struct {
			A string `maxLength:"-1"`
		}](), "not a length"},
		{reflect.TypeFor[struct {
			A string `pattern:"("`
		}](), "missing closing"},
	} {
		if _, err := schema.Input(c.t); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: got %v, want %q", c.t, err, c.why)
		}
	}
}

// What Go writes of a value must be what the output's schema says, down to which members there are.
func TestMembersAreThoseThatGoWrites(t *testing.T) {
	for _, v := range []any{tagged{}, embedding{}, embeddingPointer{}, embeddingPointer{Public: &Public{}}, named{}, collection{}, quoted{}, skipping{}} {
		raw, err := schema.Output(reflect.TypeOf(v))
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Properties map[string]struct{ Type any }
			Required   []string
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		written := members(t, v)
		for name, value := range written {
			p, ok := s.Properties[name]
			if !ok {
				t.Errorf("%T writes %q, which its schema does not have", v, name)
			}
			if types, _ := p.Type.([]any); value == nil && len(types) != 2 {
				t.Errorf("%T writes null for %q, whose type is %v", v, name, p.Type)
			}
		}
		for _, name := range s.Required {
			if _, ok := written[name]; !ok {
				t.Errorf("%T does not write %q, which its schema requires", v, name)
			}
		}
	}
}

func members(t *testing.T, v any) map[string]any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
