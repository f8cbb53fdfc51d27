package main

import (
	"crypto/sha256"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/drivers/agent"
	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/internal/docpage"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

var updateScreens = flag.Bool("update", false, "write the screens of testdata/screens")

// TestScreens holds what show, inbox and ls say of runs whose every entry has a fixed time, at 80 columns and at 120, against testdata/screens;
// -update writes them. docs/screens.md shows some of them.
func TestScreens(t *testing.T) {
	zone := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = zone })
	t.Setenv("NO_COLOR", "")
	path := filepath.Join(t.TempDir(), "journal.db")
	writeRuns(t, path)
	pages, err := docpage.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]string{
		"show-invoice": "show invoice-7", "show-doubt": "show invoice-8", "show-agent": "show research-1", "show-step": "show invoice-8 --step charge/1",
		"inbox": "inbox", "inbox-one": "inbox invoice-8", "ls": "ls",
	} {
		for _, columns := range []int{80, 120} {
			t.Setenv("COLUMNS", strconv.Itoa(columns))
			got, _, err := shownIn(t, path, strings.Fields(args)...)
			if err != nil {
				t.Fatal(err)
			}
			got = strings.ReplaceAll(got, "--journal "+path+" ", "")
			file := filepath.Join("testdata", "screens", name+"-"+strconv.Itoa(columns)+".txt")
			if *updateScreens {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("wrun %s at %d columns says\n%s\nwant\n%s", args, columns, got, want)
			}
			onPage(t, pages, "wrun "+args, columns, got)
		}
	}
}

// onPage holds the blocks of docs/screens.md that show a command: the first line of each is the command.
func onPage(t *testing.T, pages []docpage.Page, command string, columns int, got string) {
	t.Helper()
	for _, p := range pages {
		if p.File != "docs/screens.md" || columns != 80 {
			continue
		}
		for _, b := range p.Blocks {
			if first, rest, _ := strings.Cut(b.Text, "\n"); first == "$ "+command && rest != got {
				t.Errorf("%s, line %d: %q says\n%s", p.File, b.Line, command, got)
			}
		}
	}
}

// story writes the log of a run, entry by entry, at fixed times.
type story struct {
	t   *testing.T
	j   journal.Journal
	run string
	at  uint64
}

// dawn is when the stories begin.
var dawn = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

const hand = "0123456789abcdef0123456789abcdef" // who drives the runs

// tell appends an entry so long after the dawn.
func (s *story) tell(after time.Duration, e journal.Entry, body any) {
	s.t.Helper()
	e.Time = dawn.Add(after).UnixNano()
	if e.Owner == "" && e.Kind != journal.Created && e.Kind != journal.Record && e.By == "" {
		e.Owner = hand
	}
	switch b := body.(type) {
	case nil:
	case string:
		e.Body = []byte(b)
	default:
		encoded, err := toolabi.Encode(b)
		if err != nil {
			s.t.Fatal(err)
		}
		e.Body = encoded
	}
	if e.Kind == journal.Intent {
		e.Request = journal.Digest(sha256.Sum256(e.Body))
	}
	if err := s.j.Append(s.t.Context(), s.run, s.at, e); err != nil {
		s.t.Fatalf("%s, entry %d: %v", s.run, s.at, err)
	}
	s.at++
}

// begin creates a run and claims it.
func (s *story) begin(after time.Duration, spec runtime.Spec) {
	s.t.Helper()
	s.tell(after, journal.Entry{Kind: journal.Created, Name: spec.Driver}, spec)
	s.tell(after, journal.Entry{Kind: journal.Claimed}, nil)
}

// intents and results of the kinds that the stories have.
func (s *story) call(after time.Duration, step, tool, input string) {
	s.t.Helper()
	s.tell(after, journal.Entry{
		Kind: journal.Intent, Step: journal.Step(step), Name: tool, Class: uint8(toolabi.Call), OnCut: journal.Redo, Module: journal.Digest(theModule.Digest),
	}, input)
}

func (s *story) send(after time.Duration, step, url, body string) {
	s.t.Helper()
	s.tell(after, journal.Entry{
		Kind: journal.Intent, Step: journal.Step(step), Name: toolabi.FuncHTTPSend, Class: uint8(toolabi.Once), OnCut: journal.Doubt,
		Key: "wrun-00112233445566778899aabbccddeeff", SendBy: dawn.Add(after + 30*time.Second).UnixNano(), Note: "POST " + strings.TrimPrefix(url, "https://"),
	}, toolabi.HTTPRequest{Method: "POST", URL: url, Body: []byte(body)})
}

func (s *story) ok(after time.Duration, step, name string, fuel uint64, body any) {
	s.t.Helper()
	e := journal.Entry{Kind: journal.Result, Step: journal.Step(step), Name: name, Outcome: journal.OK, Fuel: fuel}
	if name == toolabi.FuncHTTPSend {
		e.Effect = journal.EffectApplied
	}
	s.tell(after, e, body)
}

var theModule = runtime.Module{
	Name: "payments", Digest: toolabi.DigestOf([]byte("payments")), Manifest: toolabi.Manifest{Name: "payments", Version: "1.2.0"},
}

// writeRuns writes the runs of the screens: one with everything that a step can have, one that was killed in an effect, and an agent.
func writeRuns(t *testing.T, path string) {
	t.Helper()
	j, err := boltdb.Create(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	writeInvoice(&story{t: t, j: j, run: "invoice-7"})
	writeDoubt(&story{t: t, j: j, run: "invoice-8"})
	writeAgent(&story{t: t, j: j, run: "research-1"})
	writeQuestion(&story{t: t, j: j, run: "invoice-9"}, "charge?", 100*365*24*time.Hour)
	writeQuestion(&story{t: t, j: j, run: "invoice-10"}, "charge?", time.Hour)
	stop := func(run, why, note string) {
		s := &story{t: t, j: j, run: run}
		s.begin(0, planSpec())
		s.tell(time.Second, journal.Entry{Kind: journal.Released, Name: why, Note: note}, nil)
	}
	stop("research-2", journal.StopLimit, "run research-2 reached its limit of cost: 2.51 of 2.50")
	stop("research-3", journal.StopDiverged, "run research-3 diverged from its log at call/2: the log holds http_fetch, the tool asked for kv_get")
	writeCrashes(t, path, &story{t: t, j: j, run: "import-4"})
}

// writeQuestion writes a run that waits for a yes, which counts for so long.
func writeQuestion(s *story, question string, counts time.Duration) {
	s.begin(0, planSpec())
	s.tell(time.Second, journal.Entry{
		Kind: journal.Intent, Step: journal.Step(question), Name: toolabi.FuncApprove, Class: uint8(toolabi.Wait), OnCut: journal.Await,
		Module: journal.Digest(theModule.Digest), Note: "line 6 of the policy says ask", Expires: dawn.Add(counts).UnixNano(),
	}, runtime.Shown{
		Tool: "payments.charge", Module: theModule.Digest, Input: []byte(`{"account":"acme","amount_cents":91000,"reference":"inv-9"}`), Grants: planSpec().Grants,
	})
	s.tell(time.Second, journal.Entry{Kind: journal.Released, Name: journal.StopWaiting, Note: "run " + s.run + " waits at " + question + " for somebody to agree"}, nil)
}

// writeCrashes writes a run whose process died four times at the same call.
func writeCrashes(t *testing.T, path string, s *story) {
	t.Helper()
	died, err := boltdb.Open(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	owner, err := died.Owner()
	if err != nil {
		t.Fatal(err)
	}
	s.j = died
	s.tell(0, journal.Entry{Kind: journal.Created, Name: "plan"}, planSpec())
	for n := range time.Duration(4) {
		s.tell(n*time.Minute, journal.Entry{Kind: journal.Claimed, Owner: owner}, nil)
		if n == 0 {
			s.tell(time.Second, journal.Entry{
				Kind: journal.Intent, Step: "load", Name: "payments.find", Class: uint8(toolabi.Call), OnCut: journal.Redo,
				Module: journal.Digest(theModule.Digest), Owner: owner,
			}, `{"account":"acme"}`)
		}
	}
	if err := died.Close(); err != nil {
		t.Fatal(err)
	}
}

func planSpec() runtime.Spec {
	return runtime.Spec{
		Driver: "plan", Version: "1", Plan: []byte("steps: []"), Modules: []runtime.Module{theModule},
		Grants: hostfuncs.Grants{HTTP: []string{"https://pay.example"}},
	}
}

// writeInvoice writes a run that failed once, waited three hours for a yes, and did two things at once.
func writeInvoice(s *story) {
	const ms, input = time.Millisecond, `{"account":"acme","amount_cents":50000,"reference":"inv-7"}`
	s.begin(0, planSpec())
	s.call(20*ms, "rates", "payments.find", `{"account":"acme"}`)
	s.tell(420*ms, journal.Entry{
		Kind: journal.Result, Step: "rates", Name: "payments.find", Outcome: journal.Fail, Retry: true, Due: dawn.Add(620 * ms).UnixNano(), Fuel: 81_022,
	}, toolabi.NewError(toolabi.Unavailable, "https://pay.example: connection refused"))
	s.call(630*ms, "rates~2", "payments.find", `{"account":"acme"}`)
	s.ok(900*ms, "rates~2", "payments.find", 240_371, `{"charges":[]}`)
	s.tell(910*ms, journal.Entry{
		Kind: journal.Intent, Step: "charge?", Name: toolabi.FuncApprove, Class: uint8(toolabi.Wait), OnCut: journal.Await, Module: journal.Digest(theModule.Digest),
		Note: "line 6 of the policy says ask", Expires: dawn.Add(24 * time.Hour).UnixNano(),
	}, runtime.Shown{Tool: "payments.charge", Module: theModule.Digest, Input: []byte(input)})
	s.tell(911*ms, journal.Entry{Kind: journal.Released, Name: journal.StopWaiting, Note: "run invoice-7 waits at charge? for somebody to agree"}, nil)
	const later = 3*time.Hour + 12*time.Minute
	s.tell(later, journal.Entry{Kind: journal.Result, Step: "charge?", Name: toolabi.FuncApprove, Outcome: journal.OK, By: "ann", Note: "checked against the order"},
		runtime.Agreed{By: "ann", Note: "checked against the order"})
	s.tell(later+time.Minute, journal.Entry{Kind: journal.Claimed}, nil)
	question := journal.Digest(sha256.Sum256(encoded(s.t, runtime.Shown{Tool: "payments.charge", Module: theModule.Digest, Input: []byte(input)})))
	at := later + time.Minute
	s.tell(at+10*ms, journal.Entry{
		Kind: journal.Intent, Step: "charge", Name: "payments.charge", Class: uint8(toolabi.Call), OnCut: journal.Redo,
		Module: journal.Digest(theModule.Digest), Approval: question,
	}, input)
	s.send(at+30*ms, "charge/1", "https://pay.example/charges", `{"account":"acme","amount_cents":50000,"reference":"inv-7"}`)
	s.ok(at+480*ms, "charge/1", toolabi.FuncHTTPSend, 0, toolabi.HTTPReply{Status: 201, Body: []byte(`{"id":"ch_1"}`)})
	s.ok(at+500*ms, "charge", "payments.charge", 1_204_551, `{"id":"ch_1"}`)
	s.call(at+510*ms, "note[0]", "payments.find", `{"account":"acme"}`)
	s.call(at+511*ms, "note[1]", "payments.find", `{"account":"ibis"}`)
	s.ok(at+700*ms, "note[1]", "payments.find", 240_371, `{"charges":[]}`)
	s.ok(at+950*ms, "note[0]", "payments.find", 240_371, `{"charges":[]}`)
	s.tell(at+960*ms, journal.Entry{Kind: journal.Finished, Outcome: journal.OK}, `{"id":"ch_1"}`)
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := toolabi.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// writeDoubt writes a run whose process learned no answer.
func writeDoubt(s *story) {
	const ms, input = time.Millisecond, `{"account":"acme","amount_cents":7500,"reference":"inv-8"}`
	s.begin(0, planSpec())
	s.call(15*ms, "charge", "payments.charge", input)
	s.send(40*ms, "charge/1", "https://pay.example/charges", input)
	s.tell(30*time.Second, journal.Entry{Kind: journal.Record, Name: journal.RecordEvidence, Step: "charge/1", Effect: journal.EffectUnknown},
		runtime.Evidence{Err: toolabi.NewError(toolabi.Unavailable, "https://pay.example: the connection broke before a complete reply"), Sent: 251})
	s.tell(30*time.Second, journal.Entry{Kind: journal.Released, Name: journal.StopUncertain, Note: "outcome unknown: charge/1 of run invoice-8 may or may not have happened"}, nil)
}

// writeAgent writes a run of an agent that asks a model twice.
func writeAgent(s *story) {
	a := agent.Agent{Model: agent.Model{Protocol: "scripted", Prices: &agent.Prices{Input: 3_000_000, Output: 15_000_000}}}
	pinned, err := a.Pin()
	if err != nil {
		s.t.Fatal(err)
	}
	spec := planSpec()
	spec.Driver, spec.Plan, spec.Input = agent.Name, pinned, []byte(`"what does acme owe?"`)
	s.begin(0, spec)
	ask := func(after time.Duration, step string) {
		s.tell(after, journal.Entry{
			Kind: journal.Intent, Step: journal.Step(step), Name: agent.StepName, Class: uint8(toolabi.Effect), OnCut: journal.Redo,
			Key: "wrun-" + strings.Repeat("a", 32), SendBy: dawn.Add(after + time.Minute).UnixNano(),
		}, `{}`)
	}
	ask(10*time.Millisecond, "model[0]")
	s.ok(4*time.Second, "model[0]", agent.StepName, 0, model.Answer{Usage: model.Usage{Input: 1200, Output: 80}})
	s.call(4010*time.Millisecond, "call[0][0]", "payments.find", `{"account":"acme"}`)
	s.ok(4300*time.Millisecond, "call[0][0]", "payments.find", 240_371, `{"charges":[]}`)
	ask(4310*time.Millisecond, "model[1]")
	s.ok(9*time.Second, "model[1]", agent.StepName, 0, model.Answer{Usage: model.Usage{Input: 1500, Output: 30}})
	s.tell(9010*time.Millisecond, journal.Entry{Kind: journal.Finished, Outcome: journal.OK}, `"Nothing."`)
}
