package main

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

func TestToolsReturn(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"upper", `{"text":"é <b>"}`, `{"text":"É <B>"}`},
		{"sum", `{"numbers":[]}`, `{"sum":0}`},
		{"sum", `{"numbers":[9007199254740993,-1,99999999999999999999]}`, `{"sum":100009007199254740991}`},
		{"render", `{"template":"no data"}`, `{"text":"no data"}`},
		{"render", `{"template":"{{.id}} & {{range .names}}<{{.}}>{{end}}","data":{"id":9007199254740993,"names":["a","b"]}}`,
			`{"text":"9007199254740993 & <a><b>"}`},
	} {
		got, err := sdktest.Call(t, nil, c.tool, c.input)
		if err != nil {
			t.Errorf("%s %s: %v", c.tool, c.input, err)
		} else if got != c.want {
			t.Errorf("%s %s returned %s, want %s", c.tool, c.input, got, c.want)
		}
	}
}

func TestToolsFail(t *testing.T) {
	huge := strings.Repeat("9", 10_010)
	for _, c := range []struct {
		tool, input  string
		code         toolabi.Code
		detail, text string
	}{
		{"fail", `{"detail":"broken","message":"on request"}`, toolabi.Failed, "broken", "on request"},
		{"render", `{"template":"{{"}`, toolabi.Failed, "template", "unclosed action"},
		{"render", `{"template":"{{.missing}}","data":{}}`, toolabi.Failed, "data", "missing"},
		{"render", `{"template":"{{index .}}{{index . 1}}"}`, toolabi.Failed, "data", "index"},
		{"render", `{"template":"{{printf \"%4999990d\" 1}}"}`, toolabi.Failed, "too_long", "4 MiB"},
		{"sum", `{"numbers":[1.5]}`, toolabi.BadInput, "", "want integer"},
		{"sum", `{"numbers":[1e3]}`, toolabi.BadInput, "", "1e3"},
		{"sum", `{"numbers":[1,null]}`, toolabi.BadInput, "", "got null"},
		{"sum", `{"numbers":[` + huge + `]}`, toolabi.Failed, "too_large", "number 0"},
		{"sum", `{"numbers":[1],"more":2}`, toolabi.BadInput, "", "more"},
	} {
		_, err := sdktest.Call(t, nil, c.tool, c.input)
		var e *toolabi.Error
		if !errors.As(err, &e) || e.Code != c.code || e.Detail != c.detail || !strings.Contains(e.Message, c.text) {
			t.Errorf("%s %.80s failed with %v, want %s (%s) with %q", c.tool, c.input, err, c.code, c.detail, c.text)
		}
	}
}

func TestSumDoesNotRelyOnTheHostToRefuseNull(t *testing.T) {
	_, err := sum(t.Context(), SumIn{Numbers: []*big.Int{big.NewInt(1), nil}})
	var e *toolabi.Error
	if !errors.As(err, &e) || e.Detail != "not_a_number" {
		t.Errorf("got %v, want it to fail as not_a_number", err)
	}
}

func TestFailSaysWhetherToTryAgain(t *testing.T) {
	for input, want := range map[string]toolabi.Retry{
		`{"detail":"x"}`:              toolabi.RetryNever,
		`{"detail":"x","retry":true}`: toolabi.RetrySafe,
	} {
		_, err := sdktest.Call(t, nil, "fail", input)
		var e *toolabi.Error
		if !errors.As(err, &e) || e.Retry != want {
			t.Errorf("fail %s: got %#v, want retry %d", input, err, want)
		}
	}
}

func TestEveryToolIsPureAndNeedsNothing(t *testing.T) {
	m := sdktest.Manifest(t)
	for _, d := range m.Tools {
		if d.Declared() != toolabi.Pure {
			t.Errorf("%s declares %s, want pure", d.Name, d.Declared())
		}
	}
	if err := m.CheckImports(nil); err != nil {
		t.Error(err)
	}
}
