package trials_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/ledger"
	"github.com/wrun-dev/wrun/internal/soak/trials"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

const (
	backedUpRuns    = 8
	backedUpCharges = 12
)

// manyCharges is a plan of charges that must not be repeated, each with a reference of its own.
func manyCharges() []byte {
	var b strings.Builder
	b.WriteString("tools: { payments: payments.wasm }\nsteps:\n")
	for i := range backedUpCharges {
		fmt.Fprintf(&b, "  - id: c%02d\n    tool: payments.charge\n", i)
		fmt.Fprintf(&b, "    with: { ledger: \"${ .input.ledger }\", account: acme, amount_cents: %d, reference: \"${ .input.run }-%02d\" }\n", 100+i, i)
	}
	return []byte(b.String())
}

// A backup is taken while eight runs are driven by as many processes, and put back elsewhere when all of them have ended: the world has
// gone on. Every run is gone on with there, and the ledger, which knows nothing of keys, must have every charge once.
func TestABackupDuringEightRunsRepeatsNothing(t *testing.T) {
	p, l := newPlace(t), startLedger(t)
	first := p.end(p.start("call", p.path("payments.wasm"), "find", fmt.Sprintf(`{"ledger":%q,"reference":"none"}`, l.URL()), "--allow-http", l.URL()))
	if first.Code != 0 { // it also compiles the module
		t.Fatalf("find: exit code %d\n%s", first.Code, first.Stderr)
	}
	l.SetBehaviour(ledger.Behaviour{DelayMS: 10})
	p.write("plan.yaml", manyCharges())
	var drivers []*trials.Process
	for i := range backedUpRuns {
		run := fmt.Sprint("run-", i)
		drivers = append(drivers, p.start("run", p.path("plan.yaml"), "--id", run, "--allow-http", l.URL(), "--input", fmt.Sprintf(`{"ledger":%q,"run":%q}`, l.URL(), run)))
	}
	for len(l.Charges()) < backedUpRuns*backedUpCharges/3 {
		p.must(0, "ls")
	}
	p.must(0, "backup", p.path("all.backup"))
	atBackup := len(l.Charges())
	p.must(0, "compact")
	p.must(0, "backup", p.path("later.backup"))
	for _, d := range drivers {
		if exit := p.end(d); exit.Code != 0 {
			t.Fatalf("a run ended with %d\n%s", exit.Code, exit.Stderr)
		}
	}
	once(t, l)

	for _, file := range []string{"all.backup", "later.backup"} {
		there := *p
		there.Journal = filepath.Join(t.TempDir(), "journal.db")
		there.must(0, "restore", p.path(file))
		verified(t, there.Journal)
		unfinished, known := 0, 0
		for i := range backedUpRuns {
			run := fmt.Sprint("run-", i)
			exit := there.end(there.start("resume", run))
			for exit.Code == 4 && strings.Contains(exit.Stderr, "W0401") { // somebody looks what became of it, and says so
				step := inDoubtOf(&there, run)
				there.must(0, "resolve", run, step, "--happened", replyOf(t, l, run, step))
				exit = there.end(there.start("resume", run))
			}
			known += results(&there, run)
			switch {
			case exit.Code == 0: // it had ended by then
			case exit.Code == 4 && strings.Contains(exit.Stderr, "W0410"):
				unfinished++
				there.must(0, "cancel", run) // since the provider has more than the log knows
				there.must(13, "resume", run)
			case exit.Code == 10: // it had not begun
			default:
				t.Errorf("%s of %s: exit code %d\n%s", run, file, exit.Code, exit.Stderr)
			}
		}
		once(t, l)
		verified(t, there.Journal)
		t.Logf("%s: %d runs were not finished; %d of %d charges were recorded (%d were made when the first was done)", file, unfinished, known, backedUpRuns*backedUpCharges, atBackup)
		if file == "all.backup" && (unfinished == 0 || known == 0) {
			t.Errorf("%d runs were not finished and %d charges recorded: the backup was not taken in between", unfinished, known)
		}
	}
}

// once holds that the ledger has every charge of every run once.
func once(t *testing.T, l *ledger.Server) {
	t.Helper()
	times := map[string]int{}
	for _, c := range l.Charges() {
		times[c.Reference]++
	}
	for i := range backedUpRuns {
		for n := range backedUpCharges {
			if ref := fmt.Sprintf("run-%d-%02d", i, n); times[ref] != 1 {
				t.Errorf("the ledger has %s %d times", ref, times[ref])
			}
		}
	}
}

func verified(t *testing.T, path string) {
	t.Helper()
	j, err := boltdb.Open(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for fault := range journal.Verify(t.Context(), j) {
		t.Errorf("the journal: %v", fault)
	}
}

func inDoubtOf(p *place, run string) string {
	p.t.Helper()
	var shown struct {
		InDoubt []string `json:"in_doubt"`
	}
	if err := json.Unmarshal([]byte(p.must(0, "--json", "show", run).Stdout), &shown); err != nil || len(shown.InDoubt) != 1 {
		p.t.Fatalf("in doubt of %s are %v, %v", run, shown.InDoubt, err)
	}
	return shown.InDoubt[0]
}

// replyOf is what the ledger answered to the charge of a step.
func replyOf(t *testing.T, l *ledger.Server, run, step string) string {
	t.Helper()
	ref := run + "-" + strings.TrimPrefix(step[:3], "c")
	for _, c := range l.Charges() {
		if c.Reference == ref {
			reply, err := json.Marshal(map[string]any{"status": 201, "body": c})
			if err != nil {
				t.Fatal(err)
			}
			return string(reply)
		}
	}
	t.Fatalf("the ledger has no %s", ref)
	return ""
}

// results counts the results of effects in a log.
func results(p *place, run string) (n int) {
	p.t.Helper()
	for line := range strings.Lines(p.end(p.start("--json", "log", run)).Stdout) {
		var e struct{ Kind, Step string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			p.t.Fatal(err)
		}
		if e.Kind == "result" && strings.Contains(e.Step, "/") {
			n++
		}
	}
	return n
}
