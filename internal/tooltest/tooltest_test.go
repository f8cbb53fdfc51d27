package tooltest_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/tooltest"
	"github.com/wrun-dev/wrun/internal/wasmtest"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime/sandbox"
)

// benchOf builds a guest and makes a bench of it.
func benchOf(t *testing.T, dir string) *tooltest.Bench {
	t.Helper()
	m, err := sandbox.Inspect(wasmtest.Tool(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	b, err := tooltest.New(t.Context(), m, tooltest.Config{Cache: wasmtest.CodeCache(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func casesIn(t *testing.T, path string) *toolcase.File {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := toolcase.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// shop is a bench with the guest that uses everything.
func shop(t *testing.T) *tooltest.Bench { return benchOf(t, "internal/wasmtest/guests/shop") }

func cases(t *testing.T, text string) *toolcase.File {
	t.Helper()
	f, err := toolcase.Parse([]byte("wrun_test: 1\n"+text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// run plays every case of a text.
func run(t *testing.T, b *tooltest.Bench, text string) (all []tooltest.Result) {
	t.Helper()
	f := cases(t, text)
	for _, c := range f.Cases {
		r, err := b.Run(t.Context(), f, c)
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		all = append(all, r)
	}
	return all
}

const passing = `
world: {secrets: {api_key: not-a-real-key}}
cases:
- name: charges once
  tool: buy
  input: {order: "7", amount: 500}
  world:
    kv: {shop: {}}
    http:
    - name: charge
      request: POST https://api.example.com/charges
      headers: {Authorization: "Bearer {{secret:api_key}}"}
      body: {order: "7", amount: 500}
      reply: {status: 201, body: {id: ch_1}}
  expect: {output: {text: ch_1}, acted: {charge: 1}, kv: {shop: {order/7: ch_1, order/8: null}}, logs: [charging 500]}
- name: does not charge what is paid
  tool: buy
  input: {order: "7", amount: 500}
  world: {kv: {shop: {order/7: ch_0}}}
  expect: {output: {text: ch_0}}
- name: is declined
  tool: buy
  input: {order: "7", amount: 500}
  world: {kv: {shop: {}}, http: [{name: charge, request: POST https://api.example.com/charges, reply: {status: 402}}]}
  expect: {error: {code: failed, message: declined with 402}, kv: {shop: {order/7: null}}}
- name: loses the reply
  tool: buy
  input: {order: "7", amount: 500}
  world: {kv: {shop: {}}, http: [{name: charge, request: POST https://api.example.com/charges, fault: lost_reply}]}
  expect: {uncertain: true, acted: {charge: 1}}
- name: hangs
  tool: buy
  input: {order: "7", amount: 500}
  world: {kv: {shop: {}}, http: [{name: charge, request: POST https://api.example.com/charges, fault: hangs}]}
  expect: {uncertain: true, acted: {charge: 1}}
- name: is refused
  tool: buy
  input: {order: "7", amount: 500}
  world: {kv: {shop: {}}, http: [{name: charge, request: POST https://api.example.com/charges, fault: refused}]}
  expect: {error: {code: unavailable}, acted: {charge: 0}}
- name: reads a price
  tool: price
  input: {text: prices/7}
  world: {http: [{request: GET https://api.example.com/prices/7, reply: {body: "12"}}]}
  expect: {where: .text == "12"}
- name: converts
  tool: convert
  input: {n: 3}
  world: {config: {currency: EUR}, tools: {rates.get: [{output: {rate: 2}}]}}
  expect: {output: {text: 6 EUR}}
- name: cannot convert
  tool: convert
  input: {n: 3}
  world: {config: {currency: null}, tools: {rates.get: [{error: {code: unavailable, message: down}}]}}
  expect: {error: {message: down}}
- name: lets time pass
  tool: remind
  world: {clock: 2026-01-02T03:04:05Z}
  expect: {output: {text: 03:04 05:04}}
- name: asks
  tool: ask
  input: {text: "May I?"}
  world: {approvals: [{yes: true, by: mia, note: fine}]}
  expect: {output: {text: "mia: fine"}}
- name: is told no
  tool: ask
  input: {text: "May I?"}
  world: {approvals: [no]}
  expect: {error: {code: denied}}
- name: writes a report
  tool: report
  input: {text: a}
  world: {files: {old.txt: b}}
  expect: {output: {}, files: {out/report.txt: a, old.txt: b, none.txt: null}}
- name: writes a mail
  tool: tell
  input: {text: hello}
  world: {mail: [accept]}
  expect: {output: {}, mail: [{to: ann@example.com, subject: News, text: hello}]}
- name: a mail is refused
  tool: tell
  input: {text: hello}
  world: {mail: [refuse]}
  expect: {error: {code: failed}, mail: []}
- name: a mail is lost
  tool: tell
  input: {text: hello}
  world: {mail: [lost]}
  expect: {uncertain: true}
- {name: doubles, tool: double, input: {n: 2}, expect: {output: {n: 4}}}
- {name: is not given what it wants, tool: double, input: {n: x}, expect: {error: {code: bad_input}}}
- name: is not granted
  tool: price
  input: {text: prices/7}
  grants: []
  expect: {error: {code: denied}}
`

func TestCases(t *testing.T) {
	b := shop(t)
	for name, test := range map[string]func(*testing.T, *tooltest.Bench){
		"that pass, and what they cover": passAndCover, "that fail say what was expected and what came": failWith, "that draw what they may": drawn, "that are recorded pass": recorded,
	} {
		t.Run(name, func(t *testing.T) { test(t, b) })
	}
}

func passAndCover(t *testing.T, b *tooltest.Bench) {
	results := run(t, b, passing)
	for _, r := range results {
		if !r.Passed() {
			t.Errorf("%s: %s", r.Case, strings.Join(r.Failures, "\n"))
		}
	}
	results = append(results, run(t, b, `
cases:
- name: asks elsewhere
  tool: price
  input: {text: other}
  grants: ["http https://api.example.com"]
  expect: {error: {code: denied}}
`)...)
	want := tooltest.Coverage{
		Unused:     []string{"http_fetch: to reach https://unused.example.com"},
		Undeclared: []string{"http_fetch: to reach GET https://api.example.com/other"},
		Untested:   []string{"impure", "name", "untested"},
	}
	if got := tooltest.Cover(b.Manifest(), results); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	got := tooltest.Cover(b.Manifest(), nil)
	if len(got.Unused) != len(b.Manifest().Capabilities) || len(got.Untested) != len(b.Manifest().Tools) {
		t.Errorf("without cases: %+v", got)
	}
}

func failWith(t *testing.T, b *tooltest.Bench) {
	for _, c := range []struct{ text, want string }{
		{`{name: a, tool: nothing, expect: {}}`, "the module has no tool nothing"},
		{`{name: a, tool: double, input: {n: 2}, expect: {output: {n: 5}}}`, "output, which differs at .n\nexpected  {\"n\":5}\ngot       {\"n\":4}"},
		{`{name: a, tool: double, input: {n: 2}, expect: {where: .n > 4}}`, "output\nexpected  that .n > 4\ngot       {\"n\":4}"},
		{`{name: a, tool: double, input: {n: 2}, expect: {where: .n}}`, "which is neither true nor false"},
		{`{name: a, tool: double, input: {n: 2}, expect: {error: {code: failed, message: x}}}`, "end of the call\nexpected  error failed: …x…\ngot       output {\"n\":4}"},
		{`{name: a, tool: double, input: {n: 2}, expect: {uncertain: true}}`, "expected  an effect of unknown outcome"},
		{`{name: a, tool: double, input: {n: 2}, expect: {logs: [x]}}`, "log\nexpected  a line with …x…\ngot       nothing"},
		{`{name: a, tool: double, input: {n: x}, expect: {}}`, "expected  an output\ngot       error bad_input"},
		{`{name: a, tool: double, input: {n: 2}, world: {http: [{name: x, request: GET https://a.example/}]}, expect: {}}`, `route "x" was never used`},
		{`{name: a, tool: price, input: {text: prices/7}, world: {http: [{name: x, request: GET https://api.example.com/prices/8, optional: true}]}, expect: {}}`,
			"unexpected request: GET https://api.example.com/prices/7\nthe closest route is \"x\": it answers another path"},
		{`{name: a, tool: price, input: {text: prices/7}, world: {http: [{name: x, request: GET https://api.example.com/prices/7}]}, expect: {acted: {x: 1, y: 1}}}`, "acted: x\nexpected  once\ngot       0 times"},
		{`{name: a, tool: price, input: {text: prices/7}, world: {http: [{name: x, request: GET https://api.example.com/prices/7}]}, expect: {acted: {y: 1}}}`, `there is no route of the name "y"`},
		{`{name: a, tool: buy, input: {order: "7", amount: 1}, world: {http: [{request: POST https://api.example.com/charges, reply: {status: 201, body: {id: a}}}], secrets: {api_key: not-a-real-key}}, expect: {}}`,
			"kv_get: store shop, which the world of this case does not have"},
		{`{name: a, tool: buy, input: {order: "7", amount: 1}, world: {kv: {shop: {}}}, expect: {error: {}}}`, "http_send: secret api_key, which the world of this case does not have"},
		{`{name: a, tool: convert, input: {n: 1}, world: {tools: {rates.get: [{output: {rate: 2}}]}}, expect: {}}`, "config_get: setting currency, which"},
		{`{name: a, tool: convert, input: {n: 1}, world: {config: {currency: EUR}}, expect: {error: {}}}`, "tool_call: tool rates.get, which"},
		{`{name: a, tool: ask, input: {text: "May I?"}, expect: {}}`, `a person is asked "May I?", and the world of this case has no approvals`},
		{`{name: a, tool: tell, input: {text: x}, expect: {error: {}}}`, "a mail to ann@example.com: the world has no mail server"},
		{`{name: a, tool: tell, input: {text: x}, world: {mail: [accept]}, expect: {mail: []}}`, "expected  0 messages\ngot       1 messages"},
		{`{name: a, tool: tell, input: {text: x}, world: {mail: [accept]}, expect: {mail: [{text: y}]}}`, "mail 1: text\nexpected  \"y\"\ngot       \"x\\n\""},
		{`{name: a, tool: report, input: {text: x}, expect: {files: {out/report.txt: y, b: c}}}`, "file out/report.txt\nexpected  \"y\"\ngot       \"x\""},
		{`{name: a, tool: report, input: {text: x}, expect: {files: {out/report.txt: null}}}`, "expected  nothing\ngot       \"x\""},
		{`{name: a, tool: buy, input: {order: "7", amount: 1}, world: {kv: {shop: {order/7: x}}}, expect: {kv: {shop: {order/7: y}}}}`, "kv: shop order/7\nexpected  y\ngot       x"},
		{`{name: a, tool: impure, expect: {}}`, "the tool declares itself pure, and its outcome is another one"},
		{`{name: a, tool: name, input: {text: global}, expect: {}}`, "made of randomness that the module drew while it started"},
	} {
		r := run(t, b, "cases:\n- "+c.text)[0]
		if got := strings.Join(r.Failures, "\n"); !strings.Contains(got, c.want) {
			t.Errorf("%s\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

// Only what was drawn while the module started is reported, and neither what a call draws nor what is the same every time.
func drawn(t *testing.T, b *tooltest.Bench) {
	for _, way := range []string{"die", "call", "host", "always the same"} {
		if r := run(t, b, "cases:\n- {name: a, tool: name, input: {text: "+way+"}, expect: {}}")[0]; !r.Passed() {
			t.Errorf("%s: %q", way, r.Failures)
		}
	}
}

// What is recorded of a call is a case that passes, and has no value of a secret in it.
func recorded(t *testing.T, b *tooltest.Bench) {
	for _, text := range []string{
		`{name: a, tool: buy, input: {order: "7", amount: 500}, world: {kv: {shop: {order/6: x}}, secrets: {api_key: ` + canary + `}, http: [{name: charge, request: POST https://api.example.com/charges, reply: {status: 201, headers: {X-A: "1"}, body: {id: ch_1, echo: ` + canary + `}}}]}, expect: {}}`,
		`{name: a, tool: buy, input: {order: "6", amount: 500}, world: {kv: {shop: {order/6: x}}}, expect: {}}`,
		`{name: a, tool: buy, input: {order: "7", amount: 1}, world: {kv: {shop: {}}, secrets: {api_key: ` + canary + `}, http: [{request: POST https://api.example.com/charges, reply: {status: 402}}]}, expect: {error: {}}}`,
		`{name: a, tool: buy, input: {order: "7", amount: 1}, world: {kv: {shop: {}}, secrets: {api_key: ` + canary + `}, http: [{request: POST https://api.example.com/charges, fault: lost_reply}]}, expect: {uncertain: true}}`,
		`{name: a, tool: buy, input: {order: "7", amount: 1}, world: {kv: {shop: {}}, secrets: {api_key: ` + canary + `}, http: [{request: POST https://api.example.com/charges, fault: refused}]}, expect: {error: {}}}`,
		`{name: a, tool: convert, input: {n: 3}, world: {config: {currency: null}, tools: {rates.get: [{output: {rate: 2}}]}}, expect: {}}`,
		`{name: a, tool: remind, expect: {}}`,
		`{name: a, tool: ask, input: {text: "May I?"}, world: {approvals: [{yes: true, by: mia, note: fine}]}, expect: {}}`,
		`{name: a, tool: report, input: {text: x}, expect: {}}`,
		`{name: a, tool: tell, input: {text: "x\ny"}, world: {mail: [accept]}, expect: {}}`,
		`{name: a, tool: tell, input: {text: x}, world: {mail: [lost]}, expect: {uncertain: true}}`,
	} {
		f := cases(t, "cases:\n- "+text)
		s, err := b.Stage(f, f.Cases[0], tooltest.Setting{})
		if err != nil {
			t.Fatal(err)
		}
		store := journaltest.NewMem()
		if err := s.Prepare(t.Context(), store.Handle()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Drive(t.Context(), store.Handle()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var log []journal.Entry
		for e, err := range store.Read(t.Context(), tooltest.RunID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Body, err = journal.Body(t.Context(), store, e); err != nil {
				t.Fatal(err)
			}
			log = append(log, e)
		}
		made, _, err := b.Record(t.Context(), log, "call", "recorded")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		written, err := made.Text()
		if err != nil || strings.Contains(string(written), canary) {
			t.Fatalf("%s\nis written as\n%s, %v", text, written, err)
		}
		_, body, _ := strings.Cut(string(written), "\n")
		if r := run(t, b, body)[0]; !r.Passed() {
			t.Errorf("%s\nis written as\n%s\nwhich fails: %s", text, written, strings.Join(r.Failures, "\n"))
		}
	}
}

// canary is the value of a secret that must not show.
const canary = "c4n4ry-v4lu3-0f-4-s3cr3t"
