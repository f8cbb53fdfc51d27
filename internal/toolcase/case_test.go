package toolcase_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

const everything = `
wrun_test: 1
grants: ["http POST https://api.example.com/charges", "allow-kv payments:ro", workspace, "secret api_key@https://api.example.com", "artifacts 5MiB"]
world:
  http: [{request: GET https://api.example.com/rates, reply: {body: {rate: 2}}}]
cases:
- name: charges a card once
  tool: charge
  input: {amount: 500}
  grants: []
  world:
    clock: 2026-01-02T03:04:05Z
    kv: {payments: {"order/7": paid}}
  expect:
    output: {id: ch_1, n: 1.50}
    acted: {charge: 1}
    kv: {payments: {"order/7": paid, gone: null, n: 7}}
    files: {out/report.txt: "a\nb", old.txt: null}
    mail: [{to: a@example.com, subject: s}, {to: [b@example.com, c@example.com], text: "", html: x}]
    logs: [charged]
- {name: fails, tool: charge, expect: {error: {code: failed, message: declined}}}
- {name: nobody knows, tool: charge, expect: {uncertain: true}}
- {name: conditions, tool: charge, expect: {where: [".id == \"ch_1\"", ".n > 1"]}}
- {name: whatever, tool: charge, input: [1], expect: {}}
`

func parse(t *testing.T, text string) *toolcase.File {
	t.Helper()
	f, err := toolcase.Parse([]byte(text), nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return f
}

func TestAFileIsReadAsItIsWritten(t *testing.T) {
	f := parse(t, everything)
	c := f.Cases[0]
	if c.Name != "charges a card once" || c.Tool != "charge" || world.ShowJSON(c.Input) != `{"amount":500}` || c.Line != 7 {
		t.Errorf("the first case is %+v", c)
	}
	if w := f.Of(c); len(w.HTTP) != 1 || !w.HTTP[0].Shared || len(w.KV["payments"]) != 1 {
		t.Errorf("its world is %+v", w)
	}
	g := f.Grants.Grants
	want := []string{"POST https://api.example.com/charges"}
	if !reflect.DeepEqual(g.HTTP, want) || g.KV[0].Write || g.Secrets[0].Source != world.SecretSource("api_key") || !g.Workspace.Write || g.Artifacts != 5<<20 {
		t.Errorf("it grants %+v", g)
	}
	if got := f.GrantsOf(c); got == nil || !got.IsZero() {
		t.Errorf("the case grants %+v", got)
	}
	e := c.Expect
	if !e.HasOutput || e.Acted["charge"] != 1 || string(e.KV["payments"]["n"].Raw()) != "7" || *e.Files["out/report.txt"] != "a\nb" || len(e.Mail) != 2 || *e.Mail[1].Text != "" || e.Logs[0] != "charged" {
		t.Errorf("it expects %+v", e)
	}
	if v, there := e.KV["payments"]["gone"]; !there || v != nil {
		t.Error("what is not to be there is forgotten")
	}
	if e := f.Cases[1].Expect.Error; e.Code != toolabi.Failed || e.Message != "declined" {
		t.Errorf("the second case expects %+v", e)
	}
	if !f.Cases[2].Expect.Uncertain || len(f.Cases[3].Expect.Where) != 2 {
		t.Error("the other cases expect something else")
	}
	text, err := f.Text()
	if err != nil {
		t.Fatal(err)
	}
	again, err := parse(t, string(text)).Text()
	if err != nil || string(again) != string(text) {
		t.Errorf("%v: written as\n%s\nand as\n%s", err, text, again)
	}
}

func TestAMistakeIsNamedWithItsLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"cases: []", `"wrun_test" is missing: the number of the format, 1`},
		{"wrun_test: 2\ncases: []", `"wrun_test" has to be a whole number from 1 to 1, this is the number 2`},
		{"wrun_test: 1", `"cases" is missing`},
		{"wrun_test: 1\ncases: []", "0 cases, want 1 to 1000"},
		{"wrun_test: 1\ncases: [{}]", `line 2, column 9: "name" is missing`},
		{"wrun_test: 1\ncases: [{name: a, tool: b}]", `"expect" is missing`},
		{"wrun_test: 1\ncases: [{name: a, tool: b, expct: {}}]", `unknown field "expct"; did you mean "expect"?`},
		{"wrun_test: 1\ncases:\n- {name: a, tool: b, expect: {}}\n- {name: a, tool: b, expect: {}}", `line 4, column 3: there are two cases of the name "a"; the first is on line 3`},
		{"wrun_test: 1\ncases: [{name: a, tool: b, expect: {output: 1, error: {}}}]", "exclude each other"},
		{"wrun_test: 1\ncases: [{name: a, tool: b, expect: {uncertain: false}}]", `"uncertain" is true, or left out`},
		{"wrun_test: 1\ncases: [{name: a, tool: b, expect: {where: .a ==}}]", "unexpected EOF"},
		{"wrun_test: 1\ncases: [{name: a, tool: b, expect: {acted: {c: -1}}}]", "a whole number from 0"},
		{"wrun_test: 1\ncases: [{name: a, tool: b, world: {htp: []}, expect: {}}]", `unknown field "htp"`},
		{"wrun_test: 1\ngrants: [nothing]\ncases: [{name: a, tool: b, expect: {}}]", `"nothing" is no flag that grants`},
		{"wrun_test: 1\ngrants: [set a.b=c]\ncases: [{name: a, tool: b, expect: {}}]", "under config"},
		{"wrun_test: 1\ngrants: [http https://*]\ncases: [{name: a, tool: b, expect: {}}]", "patterns are not allowed"},
	} {
		if _, err := toolcase.Parse([]byte(c.text), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

// What is read is written, and read as the same.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add("wrun_test: 1\ncases: [{name: a, tool: b, expect: {mail: [], files: {a: ''}}}]")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := toolcase.Parse([]byte(text), nil)
		if err != nil {
			return
		}
		written, err := got.Text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := toolcase.Parse(written, nil)
		if err != nil {
			t.Fatalf("%q is written as\n%s\nand refused: %v", text, written, err)
		}
		if twice, err := again.Text(); err != nil || string(twice) != string(written) {
			t.Fatalf("%q is written as\n%s\nand then as\n%s, %v", text, written, twice, err)
		}
	})
}
