package trials_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/wasmtest"
)

// atOnce is five times what people should have to wait for.
const atOnce = 5 * time.Second

const threeCharges = `tools: { payments: payments.wasm }
steps:
  - id: one
    tool: payments.charge
    with: { ledger: "${ .input }", account: acme, amount_cents: 100, reference: first }
  - id: two
    tool: payments.charge
    with: { ledger: "${ .input }", account: acme, amount_cents: 200, reference: second }
  - id: three
    tool: payments.charge
    with: { ledger: "${ .input }", account: acme, amount_cents: 300, reference: third }
output: [ "${ .one.id }", "${ .two.id }", "${ .three.id }" ]
`

func startLedger(t *testing.T) *ledger.Server {
	t.Helper()
	l, err := ledger.Start(ledger.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close ledger: %v", err)
		}
	})
	return l
}

// hanging waits until the ledger holds back a reply.
func hanging(t *testing.T, l *ledger.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := l.WaitHanging(ctx, 1); err != nil {
		t.Fatalf("no reply is held back: %v", err)
	}
}

func references(l *ledger.Server) string {
	var refs []string
	for _, c := range l.Charges() {
		refs = append(refs, c.Reference)
	}
	return strings.Join(refs, " ")
}

func (p *place) planArgs(run string, l *ledger.Server) []string {
	p.write("plan.yaml", []byte(threeCharges))
	return []string{"run", p.path("plan.yaml"), "--id", run, "--allow-http", l.URL(), "--input", fmt.Sprintf("%q", l.URL())}
}

// killedInTheSecondCharge leaves a run whose first charge is recorded and whose second is in the ledger only.
func (p *place) killedInTheSecondCharge(run string, l *ledger.Server) {
	p.t.Helper()
	first := p.end(p.start("call", p.path("payments.wasm"), "find", fmt.Sprintf(`{"ledger":%q,"reference":"none"}`, l.URL()), "--allow-http", l.URL()))
	if first.Code != 0 { // it also compiles the module, so that nothing below takes seconds
		p.t.Fatalf("find: exit code %d\n%s", first.Code, first.Stderr)
	}
	proc := p.start(p.planArgs(run, l)...)
	p.hangAtTheSecond(l)
	proc.Kill()
	if exit := p.end(proc); !exit.Killed() {
		p.t.Fatalf("the process has ended by itself, with exit code %d\n%s", exit.Code, exit.Stderr)
	}
}

// hangAtTheSecond holds back the first reply, and lets it go once the second is sure to be held back.
func (p *place) hangAtTheSecond(l *ledger.Server) {
	p.t.Helper()
	hanging(p.t, l)
	l.SetBehaviour(ledger.Behaviour{Hang: 1})
	l.Release()
	hanging(p.t, l)
}

func (p *place) settle(run, step string, l *ledger.Server) {
	p.t.Helper()
	charges := l.Charges()
	reply, err := json.Marshal(map[string]any{"status": 201, "body": charges[len(charges)-1]})
	if err != nil {
		p.t.Fatal(err)
	}
	p.must(0, "resolve", run, step, "--happened", string(reply))
}

func TestOfTwoProcessesOneDrivesAndTheOtherSaysWho(t *testing.T) {
	p, l := newPlace(t), startLedger(t)
	l.SetBehaviour(ledger.Behaviour{Drop: 1})
	p.must(4, "call", p.path("payments.wasm"), "charge", "--id", "other", "--allow-http", l.URL(),
		fmt.Sprintf(`{"ledger":%q,"account":"acme","amount_cents":5,"reference":"other"}`, l.URL()))
	l.SetBehaviour(ledger.Behaviour{Hang: 1})
	p.killedInTheSecondCharge("shared", l)
	charges := l.Charges()
	reply := fmt.Sprintf(`{"status":201,"body":{"id":%q,"account":"acme","amount_cents":200,"reference":"second"}}`, charges[len(charges)-1].ID)
	p.must(0, "resolve", "shared", "two/1", "--happened", reply)

	l.SetBehaviour(ledger.Behaviour{Hang: 1})
	a, b := p.start("resume", "shared"), p.start("resume", "shared")
	driver, refused := b, a
	select {
	case <-a.Dead():
	case <-b.Dead():
		driver, refused = a, b
	}
	exit := p.end(refused)
	if who := fmt.Sprintf("process %d,", driver.PID()); exit.Code != 11 || !strings.Contains(exit.Stderr, who) {
		t.Errorf("the second process ended with %d, want 11 and that %q drives the run:\n%s", exit.Code, who, exit.Stderr)
	}
	hanging(t, l)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"ls"}, "shared"},
		{[]string{"show", "shared"}, "running"},
		{[]string{"log", "shared"}, "three/1"},
		{[]string{"resolve", "other", "call/1", "--happened", `{"id":"ch_1","account":"acme","amount_cents":5,"reference":"other"}`}, ""},
		{[]string{"resume", "other"}, `"ch_1"`},
	} {
		exit := p.endWithin(p.start(c.args...), atOnce)
		if exit.Code != 0 || !strings.Contains(exit.Stdout, c.want) {
			t.Errorf("%s meanwhile: exit code %d, want 0 and %q\n%s%s", c.args, exit.Code, c.want, exit.Stdout, exit.Stderr)
		}
	}
	if exit := p.endWithin(p.start("resolve", "shared", "three/1", "--did-not-happen", "--now"), atOnce); exit.Code != 11 {
		t.Errorf("resolve of the run that is driven: exit code %d, want 11\n%s", exit.Code, exit.Stderr)
	}
	l.Release()
	if exit := p.end(driver); exit.Code != 0 || exit.Stdout != `["ch_2","ch_3","ch_4"]`+"\n" {
		t.Errorf("the driver ended with %d\n%s%s", exit.Code, exit.Stdout, exit.Stderr)
	}
	if got := references(l); got != "other first second third" {
		t.Errorf("the ledger has %q", got)
	}
}

func TestARunGoesOnWithTheModuleItBeganWith(t *testing.T) {
	for _, c := range []struct {
		name string
		to   func(*place)
		// again is what the same "wrun run" says after the change, once the run is done; "" where there is no plan left.
		again string
	}{
		{"deleted", func(p *place) {
			for _, name := range []string{"payments.wasm", "plan.yaml"} {
				if err := os.Remove(p.path(name)); err != nil {
					t.Fatal(err)
				}
			}
		}, ""},
		{"rebuilt", func(p *place) {
			wasm := wasmtest.Tool(t, "tools/payments")
			p.write("payments.wasm", append(wasm[:len(wasm):len(wasm)], 0, 4, 3, 'n', 'e', 'w')) // a custom section more
		}, "W0103"},
		{"replaced by another tool", func(p *place) { p.write("payments.wasm", wasmtest.Tool(t, "tools/text")) }, "W0105"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, l := newPlace(t), startLedger(t)
			l.SetBehaviour(ledger.Behaviour{Hang: 1})
			p.killedInTheSecondCharge("r", l)
			digest := moduleOf(t, p, "r")
			c.to(p)
			p.must(4, "resume", "r")
			p.settle("r", "two/1", l)
			exit := p.must(0, "resume", "r")
			if want := `["ch_1","ch_2","ch_3"]` + "\n"; exit.Stdout != want {
				t.Errorf("the run returned %q, want %q", exit.Stdout, want)
			}
			if got := references(l); got != "first second third" {
				t.Errorf("the ledger has %q", got)
			}
			if got := moduleOf(t, p, "r"); got != digest {
				t.Errorf("the run used the modules %s, and began with %s", got, digest)
			}
			if c.again == "" {
				return
			}
			if exit := p.must(2, p.planArgs("r", l)...); !strings.Contains(exit.Stderr, c.again) {
				t.Errorf("the same command with another module says %s, want %s", exit.Stderr, c.again)
			}
		})
	}
}

// moduleOf returns the digests of all modules that a run's log says it has entered.
func moduleOf(t *testing.T, p *place, run string) string {
	t.Helper()
	var digests []string
	for line := range strings.Lines(p.must(0, "log", run, "--json").Stdout) {
		var e struct{ Kind, Module string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == "intent" && e.Module != "" && !strings.Contains(strings.Join(digests, " "), e.Module) {
			digests = append(digests, e.Module)
		}
	}
	return strings.Join(digests, " ")
}
