package crashtest_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent/script"
	"github.com/wrun-dev/wrun/internal/crashtest"
	"github.com/wrun-dev/wrun/internal/world"
)

// plans are the plans that children know, by the name of the subject.
var plans = map[string]string{
	"shop": `tools: { shop: shop.wasm }
steps:
  - { id: agreed, approve: "buy?" }
  - { id: first, tool: shop.pay, with: { what: first } }
  - { id: twice, tool: shop.pay_twice, with: { what: twice } }
  - { id: night, sleep: 72h }
  - { id: later, tool: shop.pay_later, with: { what: later } }
  - for_each: "${ [\"a\", \"b\"] }"
    as: item
    steps:
      - { id: item_paid, tool: shop.pay, with: { what: "${ .item }" } }
  - parallel:
      - [ { id: left, tool: shop.pay, with: { what: left } } ]
      - [ { id: right, tool: shop.pay_keyed, with: { what: right } } ]
  - { id: sure, tool: shop.pay_sure, with: { what: sure } }
  - { id: count, tool: shop.count }
output: [ "${ .first.paid }", "${ .right.paid }", "${ .count }", "${ .agreed.by }" ]
`,
	"survivor": `tools: { shop: shop.wasm }
steps: [ { id: first, tool: shop.pay, with: { what: first } } ]
`,
}

const worldText = `wrun_test: 1
world:
  approvals: [{ yes: true, by: mia }]
  http:
  - name: pay
    request: POST https://shop.example/pay
    reply: { body: { paid: cash } }
  - name: keyed
    request: POST https://shop.example/keyed
    dedupe: header Idempotency-Key
    reply: { body: { paid: keyed } }
  - name: sure
    request: POST https://shop.example/sure
    reply: { body: { paid: sure } }
  - name: none yet
    request: GET https://shop.example/sure
    unless: sure
    reply: { body: [] }
  - name: there
    request: GET https://shop.example/sure
    reply: { body: [sure] }
`

const agentText = `name: buyer
model: { use: openai/m-1 }
instructions: You buy.
tools:
  shop: { from: ./shop.wasm, use: [pay, pay_keyed, pay_sure] }
rules:
  - { tool: shop.pay_sure, do: ask }
`

const replies = `replies:
  - { when: .turn > 1, say: done }
  - { when: .turn == 1, call: shop.pay_sure, with: { what: sure } }
  - calls:
      - { tool: shop.pay, with: { what: one } }
      - { tool: shop.pay_keyed, with: { what: two } }
`

func parseWorld(t *testing.T, text string) *world.World {
	t.Helper()
	w, err := crashtest.ParseWorld([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// config visits every place, with -short a part of them. With WRUN_EVERY_MOMENT there are more second deaths.
func config(t *testing.T, subject string, second int) crashtest.Config {
	t.Helper()
	cfg := crashtest.Config{Child: selfChild(t, subject), World: parseWorld(t, worldText), Dir: t.TempDir(), Second: second, Seed: 1, Workers: 2}
	switch {
	case testing.Short():
		cfg.Places, cfg.Second = 24, 4
	case os.Getenv("WRUN_EVERY_MOMENT") != "":
		cfg.Second *= 10
	}
	return cfg
}

func test(t *testing.T, cfg crashtest.Config) *crashtest.Report {
	t.Helper()
	rep, err := crashtest.Test(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d effects, %d places\n%s", rep.Base.Acted, rep.Places, rep.Table())
	if len(rep.Base.Log) == 0 || len(rep.Base.Seen) == 0 {
		t.Error("what nobody disturbed has no traces to hold others against")
	}
	for i, f := range rep.Failed() {
		if i < 5 {
			t.Errorf("trial %d, killed %s: %s\n%+v", f.N, f.Where, f.Findings, f.Log)
		}
	}
	return rep
}

func TestAPlanThatIsKilledAnywhereDoesEverythingOnce(t *testing.T) {
	rep := test(t, config(t, "shop", 10))
	s := rep.Sum()
	if rep.Places < 60 || s.Missed > 0 || rep.Base.Acted != 9 {
		t.Errorf("%d of %d places were visited, %d missed; %d effects without a death", rep.Visited, rep.Places, s.Missed, rep.Base.Acted)
	}
	if s.Acted != s.Kills*rep.Base.Acted || s.Found == 0 || s.Told == 0 || s.Again == 0 && !testing.Short() || s.Doubts != s.Found+s.Told {
		t.Errorf("the sums are %+v", s)
	}
	if testing.Short() {
		return
	}
	names, _ := rep.Rows()
	for _, want := range []string{
		"created before", "created after", "claimed before", "intent before", "intent after", "in flight", "result before", "result after",
		"released before", "released after", "finished before", "finished after", "a second death",
	} {
		if !slices.Contains(names, want) {
			t.Errorf("nobody was killed at %q", want)
		}
	}
	for line := range strings.Lines(rep.Table()) {
		if len(line) > 81 {
			t.Errorf("a line of the table has %d characters: %s", len(line)-1, line)
		}
	}
}

func TestAnAgentThatIsKilledAnywherePaysForAnAnswerOnceOrSaysSo(t *testing.T) {
	cfg := config(t, "agent", 5)
	var err error
	if cfg.Script, err = script.Parse([]byte(replies)); err != nil {
		t.Fatal(err)
	}
	rep := test(t, cfg)
	s := rep.Sum()
	if rep.Base.Asked != 3 || s.Asked != 3*s.Kills+s.Twice || s.Twice == 0 || rep.Base.Acted != 3 {
		t.Errorf("without a death %+v, in all %+v", rep.Base, s)
	}
}

// What is not killed is not taken for it.
func TestAProcessThatLivesOnIsNoticed(t *testing.T) {
	cfg := config(t, "survivor", 0)
	cfg.Only = 1
	rep, err := crashtest.Test(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if f := rep.Failed(); len(f) != 1 || !strings.Contains(f[0].Findings[0], "lived on") {
		t.Errorf("got %+v", rep.Trials)
	}
}

func TestARunThatDoesNotEndByItselfIsNotTested(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"nobody answers", "  approvals: [{ yes: true, by: mia }]\n", "", "waits at agreed"},
		{"no such route", "POST https://shop.example/pay", "POST https://shop.example/elsewhere", "no answer to POST https://shop.example/pay"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(t, "shop", 0)
			cfg.World = parseWorld(t, strings.Replace(worldText, c.from, c.to, 1))
			_, err := crashtest.Test(t.Context(), cfg)
			if !errors.Is(err, crashtest.ErrUndisturbed) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestTheEndOfTheContextEndsTheChildren(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cfg := config(t, "shop", 0)
	cfg.Progress = func(int, int) { cancel(stopped) }
	if _, err := crashtest.Test(ctx, cfg); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
}
