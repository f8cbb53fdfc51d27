package wrun_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/call"
	"github.com/wrun-dev/wrun/drivers/plan"
	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// shape is a run with known effects.
type shape struct {
	name string
	spec runtime.Spec
	// effects are the references of the charges that the ledger must have in the end, each once, refunds how many keyed
	// refunds at least.
	effects []string
	refunds int
	output  string
	fails   toolabi.Code
}

const fiveSteps = `tools: { payments: payments.wasm, text: text.wasm }
steps:
  - id: one
    tool: payments.charge
    with: { ledger: "${ .input }", account: acme, amount_cents: 100, reference: a }
  - id: pure
    tool: text.upper
    with: { text: "${ .one.id }" }
  - id: two
    tool: payments.charge
    with: { ledger: "${ .input }", account: acme, amount_cents: 200, reference: b }
  - id: read
    tool: payments.find
    with: { ledger: "${ .input }", reference: b }
  - id: keyed
    tool: payments.refund
    with: { ledger: "${ .input }", charge: "${ .read.charges[0].id }" }
output: [ "${ .pure.text }", "${ .two.id }", "${ .keyed.charge }" ]
`

// failsAtTheEnd has a tool whose first charge is taken and whose second is refused, because its reference is too long.
const failsAtTheEnd = `tools: { payments: payments.wasm }
steps:
  - id: one
    tool: payments.charge
    with: { ledger: "${ .input }", account: acme, amount_cents: 100, reference: a }
  - id: fails
    tool: payments.charge_pair
    with: { ledger: "${ .input }", account: acme, amount_cents: 200, fee_cents: 1, reference: "LONG" }
`

func shapes(k *kit) []shape {
	long := strings.Repeat("l", 253)
	return []shape{
		{
			name: "one call with two sends",
			spec: runtime.Spec{
				Driver: call.Name, Version: call.Version, Plan: []byte("payments.charge_pair"), Modules: k.modules("payments"),
				Input: []byte(`{"ledger":"LEDGER","account":"acme","amount_cents":100,"fee_cents":1,"reference":"a"}`),
			},
			effects: []string{"a", "a-fee"},
			output: `{"charge":{"id":"ch_1","account":"acme","amount_cents":100,"reference":"a"},` +
				`"fee":{"id":"ch_2","account":"acme","amount_cents":1,"reference":"a-fee"}}`,
		},
		{
			name: "five steps",
			spec: runtime.Spec{
				Driver: plan.Name, Version: plan.Version, Plan: []byte(fiveSteps), Modules: k.modules("payments", "text"),
				Input: []byte(`"LEDGER"`),
			},
			effects: []string{"a", "b"}, refunds: 1, output: `["CH_1","ch_2","ch_2"]`,
		},
		{
			name: "a tool that fails",
			spec: runtime.Spec{
				Driver: plan.Name, Version: plan.Version, Plan: []byte(strings.Replace(failsAtTheEnd, "LONG", long, 1)),
				Modules: k.modules("payments"), Input: []byte(`"LEDGER"`),
			},
			effects: []string{"a", long}, fails: toolabi.Failed,
		},
	}
}

func (m *machine) check(res runtime.Result, err error) {
	m.t.Helper()
	if m.shape.fails != 0 {
		if !errors.Is(err, m.shape.fails) {
			m.t.Errorf("ended with %v, want %v", err, m.shape.fails)
		}
	} else if err != nil || string(res.Output) != m.shape.output {
		m.t.Errorf("ended with %q, %v, want %q", res.Output, err, m.shape.output)
	}
	var charged []string
	keys := map[string]bool{}
	for _, c := range m.ledger.Charges() {
		charged = append(charged, c.Reference)
		keys[c.Key] = true
	}
	if !slices.Equal(charged, m.shape.effects) || len(keys) != len(charged) {
		m.t.Errorf("the ledger has %q with %d keys, want %q with a key each", charged, len(keys), m.shape.effects)
	}
	refunds := m.ledger.Refunds()
	if len(refunds) < m.shape.refunds {
		m.t.Errorf("the ledger has %d refunds, want %d", len(refunds), m.shape.refunds)
	}
	for _, r := range refunds {
		if r.Key == "" || r.Key != refunds[0].Key {
			m.t.Errorf("the refund was asked for under the keys %+v", refunds)
		}
	}
}

// Every crash point, with real modules, a real file and a real server: instead of each append, and after it was made and
// before anyone was told. Package runtime has the same with tools in plain Go. In one variant all that may ride along
// does, in the other nothing waits.
func TestNoCrashPointOfRealModulesRepeatsOrLosesAnything(t *testing.T) {
	k := newKit(t)
	rides := map[string]time.Duration{"riding along": time.Hour}
	if !testing.Short() {
		rides["at once"] = time.Nanosecond
	}
	for name, ride := range rides {
		for _, s := range shapes(k) {
			t.Run(name+"/"+s.name, func(t *testing.T) { crashEverywhere(t, k, s, ride) })
		}
	}
}

func crashEverywhere(t *testing.T, k *kit, s shape, ride time.Duration) {
	m := newMachine(t, k, s, ride)
	var counter *journaltest.Crasher
	p := m.start(func(j journaltest.Store) journaltest.Store {
		counter = journaltest.CrashBefore(j, 0)
		return counter
	})
	m.check(m.drive(p))
	if err := p.store.Close(); err != nil {
		t.Fatal(err)
	}
	if counter.Appends() < 4 {
		t.Fatalf("%s makes %d appends", s.name, counter.Appends())
	}
	for n := 1; n <= counter.Appends(); n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d of %d/after %v", n, counter.Appends(), after), func(t *testing.T) {
				t.Parallel()
				newMachine(t, k, s, ride).crashAt(n, after)
			})
		}
	}
}

func (m *machine) crashAt(n int, after bool) {
	m.t.Helper()
	var crasher *journaltest.Crasher
	p := m.start(func(j journaltest.Store) journaltest.Store {
		crasher = journaltest.CrashBefore(j, n)
		if after {
			crasher = journaltest.CrashAfter(j, n)
		}
		return crasher
	})
	res, err := m.drive(p)
	if !crasher.Crashed() && m.ride < time.Second {
		m.t.Logf("only %d appends this time, because of a timer", crasher.Appends())
		m.check(res, err)
	} else if !errors.Is(err, journal.ErrUnusable) {
		m.t.Fatalf("the crash shows as %v", err)
	}
	if err := p.store.Close(); err != nil {
		m.t.Fatal(err)
	}
	before := m.results()
	res, uncertain, err := m.finish()
	m.check(res, err)
	if uncertain > 1 {
		m.t.Errorf("%d steps were uncertain after one crash", uncertain)
	}
	now := m.results()
	for step, body := range before {
		if now[step] != body {
			m.t.Errorf("the recorded result of %s was %q and is %q", step, body, now[step])
		}
	}
	p = m.start(nil)
	again, err := m.drive(p)
	m.check(again, err)
	if !again.Replayed || again.Counts != (runtime.Counts{}) {
		m.t.Errorf("the finished run was driven again: %+v, %v", again, err)
	}
	if err := p.store.Close(); err != nil {
		m.t.Fatal(err)
	}
}

// An outcome that is unknown although nobody died: the module is unwound and never learns of it.
func TestADroppedReplyIsUncertainAndNotShownToTheModule(t *testing.T) {
	k := newKit(t)
	for _, s := range shapes(k) {
		t.Run(s.name, func(t *testing.T) {
			m := newMachine(t, k, s, 0)
			m.ledger.SetBehaviour(ledger.Behaviour{Drop: 1})
			p := m.start(nil)
			_, err := m.drive(p)
			var u *runtime.UncertainError
			if !errors.As(err, &u) || u.Evidence == nil || u.Evidence.Sent == 0 {
				t.Fatalf("ended with %v, want uncertain with the bytes sent", err)
			}
			if err := p.store.Close(); err != nil {
				t.Fatal(err)
			}
			res, uncertain, err := m.finish()
			m.check(res, err)
			if uncertain != 1 {
				t.Errorf("%d steps were uncertain after one dropped reply", uncertain)
			}
		})
	}
}
