package wrun_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/internal/fakemodel"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/runtime"
)

var agentShapes = []agentShape{
	{
		name: "durability", modules: []string{"payments"}, tools: []string{"payments.pay"},
		replies: `
replies:
  - {when: .turn > 0, say: "${ .results[0].output.paid_cents } cents"}
  - {call: payments.pay, with: {ledger: "${ .task }", account: ada, amount_cents: 4200, reference: a}}`,
		effects: []string{"a"}, answers: 2, output: `"4200 cents"`,
	},
	{
		name: "approval", modules: []string{"payments"}, tools: []string{"payments.charge"},
		rules: "rules: [{tool: payments.charge, do: ask, reason: a person looks first}]\n",
		replies: `
replies:
  - {when: .turn > 0, say: "${ .results[0].output.id }"}
  - {call: payments.charge, with: {ledger: "${ .task }", account: ada, amount_cents: 4200, reference: a}}`,
		effects: []string{"a"}, answers: 2, output: `"ch_1"`,
	},
	{
		name: "parallel tools", modules: []string{"payments", "text"}, tools: []string{"payments.charge", "text.upper"},
		rules: `rules: [{tool: payments.charge, when: "${ .input.reference == \"b\" }", do: ask}]` + "\n",
		replies: `
replies:
  - {when: .turn > 0, say: "${ .results | map(.output.reference // .output.text // \"failed\") }"}
  - calls:
      - {tool: payments.charge, with: {ledger: "${ .task }", account: ada, amount_cents: 100, reference: a}}
      - {tool: payments.charge, with: {ledger: "${ .task }", account: ada, amount_cents: 200, reference: b}}
      - {tool: payments.charge, with: {ledger: "${ .task }", account: ada, amount_cents: 300, reference: "${ \"long\" * 100 }"}}
      - {tool: text.upper, with: {text: pure}}
      - {tool: payments.charge, with: {ledger: "${ .task }", account: ada, amount_cents: 400, reference: c}}`,
		effects: []string{"a", "b", "c"}, answers: 2, output: `"[\"a\",\"b\",\"failed\",\"PURE\",\"c\"]"`,
	},
}

// providers are ways in which the model's provider behaves, each by the number of the crash point, and the agents that ask it.
var providers = []struct {
	name      string
	behaviour func(n int) fakemodel.Behaviour
	shapes    []agentShape
}{
	{"calm", func(int) fakemodel.Behaviour { return fakemodel.Behaviour{} }, agentShapes},
	{"loses an answer", func(n int) fakemodel.Behaviour { // the first that is billed
		if n%2 == 0 {
			return fakemodel.Behaviour{Cut: 1}
		}
		return fakemodel.Behaviour{DropAfter: 1}
	}, []agentShape{agentShapes[0], agentShapes[2]}},
	{"knows the keys", func(n int) fakemodel.Behaviour {
		return fakemodel.Behaviour{HonourKeys: true, DropAfter: n % 2}
	}, agentShapes[:1]},
}

// Every crash point of agents, with real modules, a real file, a real ledger and a provider that is asked over HTTP: instead of
// each append of each process, of those too that answer a question or settle a doubt, and after it was made and before anyone
// was told. Package drivers/agent has the same with everything in memory.
func TestNoCrashPointOfAgentsRepeatsAnEffectOrHidesAPayment(t *testing.T) {
	k := newKit(t)
	for i, p := range providers {
		every := 1
		if i > 0 && os.Getenv("WRUN_EVERY_MOMENT") == "" { // the first visits all; of the others a third is enough for each day
			every = 3
		}
		for _, s := range p.shapes {
			t.Run(p.name+"/"+s.name, func(t *testing.T) { crashAgentEverywhere(t, k, s, p.behaviour, every) })
		}
	}
}

func crashAgentEverywhere(t *testing.T, k *kit, s agentShape, behaviour func(n int) fakemodel.Behaviour, every int) {
	calm := newOffice(t, k, s, agent.OpenAI, behaviour(1))
	calm.settle()
	if calm.appends < 8 {
		t.Fatalf("%s makes %d appends", s.name, calm.appends)
	}
	for n := 1; n <= calm.appends+1; n += every { // how many calls share one differs from one time to the next
		for _, after := range []bool{false, true} {
			protocol := agent.OpenAI
			if (n%2 == 0) == after {
				protocol = agent.Anthropic
			}
			t.Run(fmt.Sprintf("%d of %d/after %v", n, calm.appends, after), func(t *testing.T) {
				t.Parallel()
				o := newOffice(t, k, s, protocol, behaviour(n))
				o.left, o.after = n, after
				o.settle()
			})
		}
	}
}

// settle brings the run to its end, and holds the world and the provider's bills against its log: when a process has died, and
// in the end.
func (o *office) settle() {
	o.t.Helper()
	before := map[journal.Step]string{}
	res, err := o.finish(func() { _, before = o.audit() })
	if err != nil || string(res.Output) != o.want.output {
		o.t.Fatalf("it ended with %s, %v, want %s", res.Output, err, o.want.output)
	}
	answers, now := o.audit()
	for step, body := range before {
		if now[step] != body {
			o.t.Errorf("the recorded result of %s was %q and is %q", step, body, now[step])
		}
	}
	if charged, keys := o.charged(); !slices.Equal(charged, o.want.effects) || keys != len(charged) {
		o.t.Errorf("the ledger has %q with %d keys, want %q with a key each", charged, keys, o.want.effects)
	}
	if len(answers) != o.want.answers {
		o.t.Errorf("%d answers are recorded, want %d", len(answers), o.want.answers)
	}
	for key, n := range o.bills() {
		if answers[key] != 1 {
			o.t.Errorf("%s was billed %d times, and %d answers are recorded", key, n, answers[key])
		}
	}
	billed := len(o.model.Bills())
	if _, err := o.life(func(one *process) (err error) {
		res, err = o.drive(one)
		return err
	}); err != nil || !res.Replayed || res.Counts != (runtime.Counts{}) || len(o.model.Bills()) != billed {
		o.t.Errorf("the finished run was driven again: %+v, %v, %d bills after %d", res, err, len(o.model.Bills()), billed)
	}
}

// audit holds the provider's bills against what the log says, and what that calls doubtful against what is in it. It returns how
// many answers are recorded under each key, and what is recorded of every step.
func (o *office) audit() (answers map[string]int, results map[journal.Step]string) {
	o.t.Helper()
	log, books := o.log()
	answers, unanswered := fromEntries(log)
	doubts := map[string]int{}
	for _, u := range books.Twice {
		doubts[u.Key]++
	}
	bills, sum := o.bills(), 0
	for _, n := range answers {
		sum += n
	}
	if books.Paid.Answers != sum {
		o.t.Errorf("the books have %d answers, the log has %d", books.Paid.Answers, sum)
	}
	for key, n := range bills {
		if n > answers[key]+doubts[key] {
			o.t.Errorf("%s was billed %d times, %d answers are recorded, and the books doubt %d", key, n, answers[key], doubts[key])
		}
		if n > 1 && o.model.Behaviour().HonourKeys {
			o.t.Errorf("%s was billed %d times by a provider that knows it", key, n)
		}
	}
	for key := range answers {
		if bills[key] == 0 {
			o.t.Errorf("the answer under %s was never billed", key)
		}
	}
	for key, n := range doubts {
		if n > unanswered[key] {
			o.t.Errorf("the books doubt %s %d times, and %d requests were left without an answer", key, n, unanswered[key])
		}
	}
	return answers, recorded(log)
}

// bills counts what the provider has worked on, by keys.
func (o *office) bills() map[string]int {
	n := map[string]int{}
	for _, b := range o.model.Bills() {
		n[b.Key]++
	}
	return n
}

// fromEntries counts, by keys and from the log alone, the answers that are recorded, and the requests without one: those that
// were open when a process took the run over, those that are open now, and the attempts that failed after they may have been
// worked on.
func fromEntries(log []journal.Entry) (answers, unanswered map[string]int) {
	answers, unanswered = map[string]int{}, map[string]int{}
	open, keys := map[journal.Step]bool{}, map[journal.Step]string{}
	left := func() {
		for step := range open {
			unanswered[keys[step]]++
		}
	}
	for _, e := range log {
		switch {
		case e.Kind == journal.Claimed:
			left()
		case e.Name != agent.StepName:
		case e.Kind == journal.Intent:
			open[e.Step], keys[e.Step] = true, e.Key
		case e.Kind == journal.Result:
			delete(open, e.Step)
			if e.Outcome == journal.OK {
				answers[keys[e.Step]]++
			} else if e.Effect != journal.EffectNone {
				unanswered[keys[e.Step]]++
			}
		}
	}
	left()
	return answers, unanswered
}
