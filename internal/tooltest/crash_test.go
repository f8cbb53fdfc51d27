package tooltest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/docpage"
	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/internal/tooltest"
)

// lies are the lies of guest liars, by its tools: which they are, and words that say it.
var lies = map[string]struct {
	kind, promise, says string
}{
	"book_random":   {tooltest.LieVaries, "idempotent", `has the body {"cents":500,"token":`},
	"book_clock":    {tooltest.LieVaries, "idempotent", `"date":"2026-01-02T`},
	"book_adds":     {tooltest.LieRepeats, "idempotent", "POST https://shop.example.com/orders acted 2 times in place of 1, under the same key, which the provider does not know again"},
	"peek":          {tooltest.LieActs, "read", "GET https://shop.example.com/orders/7/ship acted"},
	"pay_forgets":   {tooltest.LieRepeats, "keyed", "POST https://shop.example.com/payments acted 2 times in place of 1, under another key"},
	"pay_insists":   {tooltest.LieRepeats, "keyed", "POST https://shop.example.com/payments acted 2 times in place of 1, under another key"},
	"pay_otherwise": {tooltest.LieContradicts, "keyed", "came a second time under the key 7 with another body"},
	"ship_yes":      {tooltest.LieHappened, "lookup", "look-up liars.says_yes says that call/1 happened, and it did not"},
	"ship_no":       {tooltest.LieDidNotHappen, "lookup", "look-up liars.says_no says that call/1 did not happen, and it had"},
	"ship_wrong":    {tooltest.LieReply, "lookup", `output {"id":"found","order":"7"} in place of output {"id":"sh_1","order":"7"}`},
	"ship_soon":     {tooltest.LieSettle, "settle", "longer than the settle time of 1s"},
	"name_it":       {tooltest.LieName, "names", `"7-`},
	"stamp":         {tooltest.LieImpure, "pure", "7 of 2026-01-02T"},
	"draw":          {tooltest.LieImpure, "pure", `"7-`},
	"take_back":     {tooltest.LieUndo, "compensate", `"ship" acted 1 times and was taken back 0 times`},
}

// Every lie is found, and it alone; and no honest tool that does the same task is taken for a liar.
func TestEveryLiarIsFoundAndNoHonestTool(t *testing.T) {
	f := casesIn(t, "testdata/promises.yaml")
	if len(f.Cases) != len(lies) {
		t.Errorf("%d cases, and %d lies are known", len(f.Cases), len(lies))
	}
	liars, honest := benchOf(t, "internal/wasmtest/guests/liars"), benchOf(t, "internal/wasmtest/guests/honest")
	for _, c := range f.Cases {
		t.Run(c.Tool, func(t *testing.T) {
			t.Parallel()
			lie, report := lies[c.Tool], crash(t, liars, f, c)
			if len(report.Lies) != 1 {
				t.Errorf("%d lies are found", len(report.Lies))
			}
			for _, l := range report.Lies {
				if l.Kind != lie.kind || l.Promise != lie.promise || !strings.Contains(l.What, lie.says) {
					t.Errorf("found %s, a breach of %s: %s\nwant %s, of %s: %s", l.Kind, l.Promise, l.What, lie.kind, lie.promise, lie.says)
				}
				if l.Moment == "" || len(l.Baseline) == 0 || len(l.After) == 0 {
					t.Errorf("it does not say where: %+v", l)
				}
				if c.Tool == "ship_yes" {
					if got, want := strings.Join(l.Text(), "\n")+"\n", shownLie(t); got != want {
						t.Errorf("it is told as\n%s\nand docs/crash-points.md shows\n%s", got, want)
					}
				}
			}
			report = crash(t, honest, f, c)
			for _, l := range report.Lies {
				t.Errorf("the honest tool is taken for a liar: %s: %s\n%s", l.Kind, l.What, strings.Join(tooltest.Beside(l.Left, l.Right, l.Baseline, l.After), "\n"))
			}
			if report.Repeated+report.Lost > 0 || report.Moments == 0 || len(report.Notes) > 0 {
				t.Errorf("the honest tool: %+v", report)
			}
		})
	}
}

// shownLie is the one that docs/crash-points.md shows.
func shownLie(t *testing.T) string {
	t.Helper()
	pages, err := docpage.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		for _, b := range p.Blocks {
			if p.Name() == "crash-points" && b.Lang == "text" {
				return b.Text
			}
		}
	}
	t.Fatal("the page shows none")
	return ""
}

func crash(t *testing.T, b *tooltest.Bench, f *toolcase.File, c *toolcase.Case) *tooltest.CrashReport {
	t.Helper()
	r, err := b.Crash(context.Background(), f, c, tooltest.CrashOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d of %d moments, %d effects, %d repeated, %d lost, %d uncertain, %d settled by look-up and %d by the test; %q",
		r.Moments, r.Of, r.Effects, r.Repeated, r.Lost, r.Uncertain, r.ByLookup, r.ByHarness, r.Notes)
	for _, l := range r.Lies {
		t.Logf("%s (%s), %d moments, %s, step %q: %s\n%s", l.Kind, l.Promise, l.Moments, l.Moment, l.Step, l.What, strings.Join(tooltest.Beside(l.Left, l.Right, l.Baseline, l.After), "\n"))
	}
	return r
}

// What honest tools do that could be taken for a lie: they depend on how often they are asked, make the same request twice, leave
// random numbers and the time in every place, pass over what does not matter, and have faults in their case already.
func TestNoHonestToolIsTakenForALiar(t *testing.T) {
	f := casesIn(t, "testdata/honest.yaml")
	honest := benchOf(t, "internal/wasmtest/guests/honest")
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			res, err := honest.Run(t.Context(), f, c)
			if err != nil || !res.Passed() {
				t.Fatalf("%v %q", err, res.Failures)
			}
			r := crash(t, honest, f, c)
			if len(r.Lies) > 0 || r.Repeated+r.Lost > 0 || r.Moments == 0 || len(r.Notes) > 0 {
				t.Errorf("%d lies, %+v", len(r.Lies), r)
			}
		})
	}
}

func TestASampleIsTheSameForItsSeed(t *testing.T) {
	f := casesIn(t, "testdata/honest.yaml")
	honest := benchOf(t, "internal/wasmtest/guests/honest")
	var first *tooltest.CrashReport
	for range 2 {
		r, err := honest.Crash(t.Context(), f, f.Cases[1], tooltest.CrashOptions{Points: 3, Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		if r.Moments != 3 || r.Of < 10 || r.Seed != 7 || !strings.HasPrefix(r.Summary(), "3 of ") || !strings.Contains(r.Summary(), "; seed 7") {
			t.Errorf("%s, %+v", r.Summary(), r)
		}
		if first != nil && r.Summary() != first.Summary() {
			t.Errorf("%s and then %s", first.Summary(), r.Summary())
		}
		first = r
	}
}
