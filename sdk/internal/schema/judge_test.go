package schema_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/sdk/internal/schema"
)

func TestJudgeAcceptsWhatTheSchemaDoes(t *testing.T) {
	for _, c := range []struct {
		t      reflect.Type
		output bool
		raw    string
	}{
		{reflect.TypeFor[tagged](), false, `{"account":"a","cents":9007199254740993}`},
		{reflect.TypeFor[tagged](), false, `{"account":"a","cents":1.0,"rate":-0.5,"kind":"bank","level":2}`},
		{reflect.TypeFor[tagged](), true, `{"account":"a","cents":1,"rate":null}`},
		{reflect.TypeFor[collection](), true, `{"list":null,"map":{"x":{"p":1},"y":null},"kind":"a"}`},
		{reflect.TypeFor[[2]bool](), false, `[true,false]`},
		{reflect.TypeFor[any](), false, `{"x":[null]}`},
		{reflect.TypeFor[map[string]int](), false, `{"any name":1}`},
	} {
		if err := schema.Judge(c.t, c.output, []byte(c.raw)); err != nil {
			t.Errorf("%s %s: %v", c.t, c.raw, err)
		}
	}
}

func TestJudgeRefusesWhatTheSchemaDoes(t *testing.T) {
	for _, c := range []struct {
		t        reflect.Type
		raw, why string
	}{
		{reflect.TypeFor[tagged](), `{"account":"a"}`, "cents is missing"},
		{reflect.TypeFor[tagged](), `{"account":"a","cents":0}`, `at "/cents": 0 is out of bounds`},
		{reflect.TypeFor[tagged](), `{"account":"a","cents":9007199254740994}`, "out of bounds"},
		{reflect.TypeFor[tagged](), `{"account":"","cents":1}`, "too short"},
		{reflect.TypeFor[tagged](), `{"account":"` + strings.Repeat("a", 65) + `","cents":1}`, "too long"},
		{reflect.TypeFor[tagged](), `{"account":"A","cents":1}`, "does not match"},
		{reflect.TypeFor[tagged](), `{"account":"a","cents":1,"kind":"cash"}`, "none of"},
		{reflect.TypeFor[tagged](), `{"account":"a","cents":1,"level":3}`, "none of"},
		{reflect.TypeFor[tagged](), `{"account":"a","cents":1,"rate":null}`, "want number, got null"},
		{reflect.TypeFor[tagged](), `{"account":"a","cents":1.5}`, "want integer, got number"},
		{reflect.TypeFor[tagged](), `{"account":"a","Cents":1,"cents":1}`, "Cents is not allowed"},
		{reflect.TypeFor[collection](), `{"list":[1],"map":{}}`, `at "/list/0"`},
		{reflect.TypeFor[map[string]int](), `{"x":"1"}`, `at "/x"`},
		{reflect.TypeFor[[2]bool](), `[true]`, "too few"},
		{reflect.TypeFor[int8](), `128`, "out of bounds"},
		{reflect.TypeFor[int](), `1e99999999999`, "want integer"},
		{reflect.TypeFor[int](), `1 2`, "more follows"},
		{reflect.TypeFor[int](), ``, "not JSON"},
		{reflect.TypeFor[chan int](), `1`, "has no form in JSON"},
	} {
		if err := schema.Judge(c.t, false, []byte(c.raw)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s %.80s: got %v, want %q", c.t, c.raw, err, c.why)
		}
	}
}

// FuzzJudge holds it to this: what is accepted as an input of a struct, Go can decode the members of, or at least
// nothing panics.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{`{"account":"a","cents":1}`, `[]`, `{"list":[],"map":{"x":{"p":1e999}}}`, `1e-400000000`, `"\ud800"`} {
		f.Add([]byte(seed))
	}
	types := []reflect.Type{reflect.TypeFor[tagged](), reflect.TypeFor[collection](), reflect.TypeFor[quoted](), reflect.TypeFor[[2]float64]()}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, of := range types {
			in, out := schema.Judge(of, false, raw), schema.Judge(of, true, raw)
			if in == nil && of == types[3] && out != nil {
				t.Errorf("%s takes %q and would not write it: %v", of, raw, out)
			}
		}
	})
}
