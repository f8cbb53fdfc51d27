package strictyaml_test

import (
	"encoding/json"
	"testing"

	"github.com/wrun-dev/wrun/internal/strictyaml"
)

func TestANodeIsTheValueThatItMeansInJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{a: [1, 1.50, x, \"1\", null, true, yes]}": `{"a":[1,1.50,"x","1",null,true,"yes"]}`,
		"{}": `{}`, "[]": `[]`, "''": `""`, "2026-01-02": `"2026-01-02"`,
	} {
		n, found := strictyaml.Load([]byte(text), letter)
		r := strictyaml.Found(found)
		got, err := json.Marshal(r.Value(n))
		if err != nil || string(got) != want || r.Count() > 0 {
			t.Errorf("%s: got %s, %v, %v, want %s", text, got, err, r.Mistakes(), want)
		}
	}
	n, _ := strictyaml.Load([]byte("{a: 0777}"), letter)
	var r strictyaml.Reader
	if r.Value(n); written(r.Mistakes()) != "line 1, column 5: 0777 is no number of JSON; write it in decimal digits, or quote it to make it a string" {
		t.Errorf("got %v", r.Mistakes())
	}
}

func TestWhatIsOfAnotherTypeIsAMistake(t *testing.T) {
	n, _ := strictyaml.Load([]byte("{a: 1}"), letter)
	var r strictyaml.Reader
	r.Bool(n, "b")
	r.Text(n, "t")
	r.List(n, "l")
	for range r.Pairs(n.Content[1], "p") {
		t.Error("a number has pairs")
	}
	want := `line 1, column 1: "b" has to be true or false, this is a mapping
line 1, column 1: "t" has to be a string, this is a mapping
line 1, column 1: "l" has to be a list, this is a mapping
line 1, column 5: "p" has to be a mapping, this is the number 1`
	if got := written(r.Mistakes()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
