package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
	"github.com/wrun-dev/wrun/toolabi"
)

// workshop is a machine with one program, which may be granted a directory, and what becomes of the directory.
type workshop struct {
	*machine
	promise toolabi.Idempotency
	retry   toolabi.RetryPolicy
	write   bool // the directory is granted to be written to
	dir     string
	invoke  func(ctx context.Context, inv toolabi.Invocation) (toolabi.Outcome, error)

	mu      sync.Mutex
	entered int
	wrote   int
	seen    []toolabi.Invocation
}

func newWorkshop(t *testing.T, promise toolabi.Idempotency, write bool) *workshop {
	w := &workshop{machine: newMachine(t, nil), promise: promise, write: write, dir: t.TempDir()}
	return w
}

// Invoke enters the program: it writes into its directory when it may, and is done.
func (w *workshop) Invoke(ctx context.Context, inv toolabi.Invocation, _ toolabi.HostFunc) (toolabi.Outcome, error) {
	w.mu.Lock()
	w.entered++
	w.seen = append(w.seen, inv)
	w.mu.Unlock()
	if w.invoke != nil {
		return w.invoke(ctx, inv)
	}
	w.writes(inv)
	return toolabi.Outcome{Output: []byte(`"done"`), Fuel: 7}, nil
}

func (w *workshop) writes(inv toolabi.Invocation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range inv.Mounts {
		if m.Write {
			w.wrote++
		}
	}
}

func (w *workshop) spec() (runtime.Spec, map[toolabi.Digest][]byte) {
	wasm := []byte("program p")
	tool := toolabi.Tool{Name: "run", Idempotency: w.promise, Retry: w.retry, TimeoutMS: 2000}
	tool.Output = toolabi.RawJSON(`{"type":"string"}`)
	manifest := toolabi.Manifest{
		Name: "p", Version: "1.0.0", Tools: []toolabi.Tool{tool},
		Command: &toolabi.Command{Dirs: []toolabi.Dir{{Name: "out", Path: "/out", Write: w.promise != toolabi.ReadOnly, Reason: "to keep the report"}}},
	}
	d := toolabi.DigestOf(wasm)
	return runtime.Spec{
		Driver: "test", Input: []byte(`{}`), Modules: []runtime.Module{{Name: "p", Digest: d, Manifest: manifest}},
		Grants: hostfuncs.Grants{Dirs: []hostfuncs.DirGrant{{Name: "out", Path: w.dir, Write: w.write}}},
	}, map[toolabi.Digest][]byte{d: wasm}
}

func (w *workshop) begin(store journaltest.Store) *process {
	return w.process(store, func(c *runtime.Config) { c.Invoker = w })
}

func (w *workshop) drive(ctx context.Context, p *process) (runtime.Result, error) {
	spec, modules := w.spec()
	if _, err := p.Start(context.WithoutCancel(ctx), "r", spec, modules, true); err != nil {
		return runtime.Result{}, err
	}
	return p.Drive(ctx, "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
		return r.Call(ctx, "s", "p.run", []byte(`{}`))
	}}})
}

// how names how a drive ended.
func how(err error) string {
	var u *runtime.UncertainError
	var f *runtime.FailedError
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &u):
		return "uncertain"
	case errors.As(err, &f):
		return "failed"
	case errors.Is(err, journal.ErrUnusable):
		return "killed"
	case errors.Is(err, runtime.ErrInterrupted):
		return "interrupted"
	}
	return err.Error()
}

// steps returns the entries about the call, > marks those of a later attempt.
func (w *workshop) steps() string {
	var words []string
	for e, err := range w.mem.Read(w.t.Context(), "r", 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if e.Step == "" {
			continue
		}
		word := e.Kind.String()
		if e.Kind == journal.Record {
			word = e.Name
		}
		if e.Kind == journal.Result && e.Outcome != journal.OK {
			word = e.Outcome.String()
		}
		words = append(words, strings.Repeat(">", e.Step.Attempt()-1)+word)
	}
	return strings.Join(words, " ")
}

// The rows of the table of docs/journal.md.
const (
	rowEnded      = "an intent and an output or a failure"
	rowNotEntered = "nothing of it"
	rowInDoubt    = "its intent, and it must not be repeated"
	rowBrokenOff  = "the same, with evidence that it was broken off"
	rowNotRun     = "the same, with evidence that it was not entered"
	rowMayRun     = "its intent, and it may be repeated"
	rowReads      = "its intent, and it was given nothing to write to"
	rowPutBack    = "a void of it"
)

// programRows are the first cells of the table that says what becomes of programs.
func programRows(t *testing.T) (rows []string) {
	t.Helper()
	b, err := os.ReadFile("../docs/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n| the log holds of a program's call | which means | resume |\n")
	if !ok {
		t.Fatal("docs/journal.md has no such table")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	for _, line := range strings.Split(table, "\n")[1:] {
		rows = append(rows, strings.TrimSpace(strings.Split(line, "|")[1]))
	}
	return rows
}

// The recovery table of a call that enters a program, promise by moment by what comes before it and what is said.
func TestWhatBecomesOfAProgramThatIsCutOff(t *testing.T) {
	const (
		once  = toolabi.NonIdempotent
		again = toolabi.Idempotent
		reads = toolabi.ReadOnly
	)
	type want struct {
		cut, resume, end string // how the drives end; end after something was said
		wrote, entered   int
		log              string
	}
	cells := []struct {
		row     string // in the table of docs/journal.md
		promise toolabi.Idempotency
		write   bool
		moment  string
		said    string // "", or what somebody says about what is in doubt
		want    want
	}{
		// What must not be repeated.
		{rowNotEntered, once, true, "announcing", "", want{"killed", "done", "", 1, 1, "intent result"}},
		{rowInDoubt, once, true, "announced", "nothing", want{"killed", "uncertain", "uncertain", 0, 0, "intent"}},
		{rowPutBack, once, true, "announced", "did not happen", want{"killed", "uncertain", "done", 1, 1, "intent void >intent >result"}},
		{rowInDoubt, once, true, "entered", "nothing", want{"killed", "uncertain", "uncertain", 0, 1, "intent"}},
		{rowPutBack, once, true, "entered", "did not happen", want{"killed", "uncertain", "done", 1, 2, "intent void >intent >result"}},
		{rowInDoubt, once, true, "written", "nothing", want{"killed", "uncertain", "uncertain", 1, 1, "intent"}},
		{rowInDoubt, once, true, "written", "happened", want{"killed", "uncertain", "done", 1, 1, "intent result"}},
		{rowEnded, once, true, "recorded", "", want{"killed", "done", "", 1, 1, "intent result"}},
		{rowEnded, once, true, "exits", "", want{"failed", "failed", "", 1, 1, "intent failed"}},
		{rowEnded, once, true, "out of time", "", want{"failed", "failed", "", 1, 1, "intent failed"}},
		{rowEnded, once, true, "out of fuel", "", want{"failed", "failed", "", 1, 1, "intent failed"}},
		{rowBrokenOff, once, true, "interrupted", "nothing", want{"uncertain", "uncertain", "uncertain", 1, 1, "intent evidence"}},
		{rowBrokenOff, once, true, "interrupted", "happened", want{"uncertain", "uncertain", "done", 1, 1, "intent evidence result"}},
		{rowBrokenOff, once, true, "host fails", "did not happen", want{"uncertain", "uncertain", "done", 2, 2, "intent evidence void >intent >result"}},
		{rowNotEntered, once, true, "not prepared", "", want{"prepare", "done", "", 1, 1, "intent result"}},
		{rowNotRun, once, true, "not prepared again", "", want{"prepare", "done", "", 1, 1, "intent evidence void >intent >result"}},

		// What may be repeated.
		{rowNotEntered, again, true, "announcing", "", want{"killed", "done", "", 1, 1, "intent result"}},
		{rowMayRun, again, true, "announced", "", want{"killed", "done", "", 1, 1, "intent result"}},
		{rowMayRun, again, true, "entered", "", want{"killed", "done", "", 1, 2, "intent result"}},
		{rowMayRun, again, true, "written", "", want{"killed", "done", "", 2, 2, "intent result"}},
		{rowEnded, again, true, "recorded", "", want{"killed", "done", "", 1, 1, "intent result"}},
		{rowEnded, again, true, "exits", "", want{"failed", "failed", "", 1, 1, "intent failed"}},
		{rowEnded, again, true, "out of time", "", want{"failed", "failed", "", 1, 1, "intent failed"}},
		{rowEnded, once, true, "refused", "", want{"failed", "failed", "", 0, 1, "intent failed"}},
		{rowMayRun, again, true, "interrupted", "", want{"interrupted", "done", "", 2, 2, "intent result"}},
		{rowMayRun, again, true, "host fails", "", want{"host", "done", "", 2, 2, "intent result"}},
		{rowNotEntered, again, true, "not prepared", "", want{"prepare", "done", "", 1, 1, "intent result"}},
		{rowMayRun, again, true, "not prepared again", "", want{"prepare", "done", "", 1, 1, "intent result"}},

		// What cannot write is a call like any other, whatever it declares.
		{rowNotEntered, once, false, "announcing", "", want{"killed", "done", "", 0, 2, "intent result"}},
		{rowReads, once, false, "entered", "", want{"killed", "done", "", 0, 2, "intent result"}},
		{rowEnded, once, false, "recorded", "", want{"killed", "done", "", 0, 1, "intent result"}},
		{rowReads, once, false, "interrupted", "", want{"interrupted", "done", "", 0, 2, "intent result"}},
		{rowEnded, once, false, "exits", "", want{"failed", "failed", "", 0, 1, "intent failed"}},
		{rowReads, once, false, "host fails", "", want{"host", "done", "", 0, 2, "intent result"}},
		{rowReads, reads, true, "entered", "", want{"killed", "done", "", 0, 2, "intent result"}},
		{rowEnded, reads, true, "out of fuel", "", want{"failed", "failed", "", 0, 1, "intent failed"}},
	}
	documented, shown := programRows(t), map[string]bool{}
	defer func() {
		for _, row := range documented {
			if !shown[row] {
				t.Errorf("nothing shows %q", row)
			}
		}
	}()
	for _, c := range cells {
		if shown[c.row] = true; !slices.Contains(documented, c.row) {
			t.Errorf("docs/journal.md has no row %q", c.row)
		}
		for _, attempt := range []string{"first", "after a void"} {
			name := fmt.Sprintf("%s, writes %v/%s/%s/says %s", c.promise, c.write, c.moment, attempt, c.said)
			if attempt == "after a void" && !(c.promise == once && c.write) {
				continue // only what was in doubt is said not to have happened
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorkshop(t, c.promise, c.write)
					if attempt == "after a void" {
						w.voided()
						c.want.entered++
						c.want.log = "intent void >" + strings.ReplaceAll(c.want.log, " ", " >")
					}
					if got := how(w.cutAt(c.moment)); !strings.Contains(got, c.want.cut) {
						t.Errorf("cut off with %s, want %s", got, c.want.cut)
					}
					p := w.begin(w.mem.Handle())
					defer p.store.Close()
					res, err := w.drive(t.Context(), p)
					if got := how(err); got != c.want.resume {
						t.Fatalf("resumed with %s (%v), want %s", got, err, c.want.resume)
					}
					if c.said != "" {
						w.say(p, c.said)
						res, err = w.drive(t.Context(), p)
						if got := how(err); got != c.want.end {
							t.Errorf("ended with %s (%v), want %s", got, err, c.want.end)
						}
					}
					if out := string(res.Output); err == nil && out != `"done"` && !(c.said == "happened" && out == `"told"`) {
						t.Errorf("output %s", out)
					}
					if w.wrote != c.want.wrote || w.entered != c.want.entered {
						t.Errorf("wrote %d times in %d entries, want %d in %d", w.wrote, w.entered, c.want.wrote, c.want.entered)
					}
					if got := w.steps(); got != c.want.log {
						t.Errorf("log %q, want %q", got, c.want.log)
					}
				})
			})
		}
	}
}

// voided makes a first attempt that was cut off before the program wrote anything, and of which somebody says so.
func (w *workshop) voided() {
	w.t.Helper()
	if got := how(w.cutAt("entered")); got != "killed" {
		w.t.Fatalf("the first attempt ended with %s", got)
	}
	p := w.begin(w.mem.Handle())
	defer p.store.Close()
	w.say(p, "did not happen")
}

func (w *workshop) say(p *process, what string) {
	w.t.Helper()
	res := runtime.Resolution{Happened: what == "happened", Reply: []byte(`"told"`), By: "test"}
	if what == "nothing" {
		return
	}
	if err := p.Resolve(w.t.Context(), "r", "s", res); err != nil {
		w.t.Fatal(err)
	}
}

// cutAt drives the run until the moment.
func (w *workshop) cutAt(moment string) error {
	first := 1 // appends before the intent: created with the claim, or the claim
	var store journaltest.Store = w.mem.Handle()
	handle := store.(*journaltest.Mem)
	ctx, cancel := context.WithCancelCause(w.t.Context())
	defer cancel(nil)
	defer func() { w.invoke = nil }()
	change := func(*runtime.Config) {}
	switch moment {
	case "announcing":
		store = journaltest.CrashBefore(store, first+1)
	case "announced":
		store = journaltest.CrashAfter(store, first+1)
	case "recorded":
		store = journaltest.CrashAfter(store, first+2)
		if !w.write { // then what there is rides along until the end
			store = journaltest.CrashAfter(handle, first+1)
		}
	case "entered":
		w.invoke = func(context.Context, toolabi.Invocation) (toolabi.Outcome, error) {
			handle.Kill()
			return toolabi.Outcome{Output: []byte(`"done"`)}, nil
		}
	case "written":
		w.invoke = func(_ context.Context, inv toolabi.Invocation) (toolabi.Outcome, error) {
			w.writes(inv)
			handle.Kill()
			return toolabi.Outcome{Output: []byte(`"done"`)}, nil
		}
	case "exits", "out of fuel":
		w.invoke = func(_ context.Context, inv toolabi.Invocation) (toolabi.Outcome, error) {
			w.writes(inv)
			failure := toolabi.NewError(toolabi.Exited, "it exited with status 1")
			if moment == "out of fuel" {
				failure = toolabi.NewError(toolabi.LimitFuel, "out of fuel")
			}
			return toolabi.Outcome{Err: failure, Fuel: 9}, nil
		}
	case "out of time", "interrupted":
		w.invoke = func(ctx context.Context, inv toolabi.Invocation) (toolabi.Outcome, error) {
			w.writes(inv)
			if moment == "interrupted" {
				cancel(errors.New("somebody pressed a key"))
			}
			<-ctx.Done()
			return toolabi.Outcome{}, context.Cause(ctx)
		}
	case "refused":
		w.invoke = func(context.Context, toolabi.Invocation) (toolabi.Outcome, error) {
			return toolabi.Outcome{Err: toolabi.NewError(toolabi.NotFound, "there is nothing to enter"), Unentered: true}, nil
		}
	case "host fails":
		w.invoke = func(_ context.Context, inv toolabi.Invocation) (toolabi.Outcome, error) {
			w.writes(inv)
			return toolabi.Outcome{}, errors.New("the host ran out of threads")
		}
	case "not prepared":
		change = func(c *runtime.Config) { c.Invoker = &unprepared{workshop: w} }
	case "not prepared again":
		change = func(c *runtime.Config) { c.Invoker = &unprepared{workshop: w, ready: 1} }
	}
	p := w.process(store, func(c *runtime.Config) { c.Invoker = w; change(c) })
	defer p.store.Close()
	_, err := w.drive(ctx, p)
	return err
}

// unprepared is an invoker that cannot get ready any more.
type unprepared struct {
	*workshop
	ready int // so often it can
}

func (u *unprepared) Prepare(context.Context, toolabi.Digest) error {
	if u.ready--; u.ready >= 0 {
		return nil
	}
	return errors.New("prepare: the cache is full")
}

func TestTheIntentOfAProgramThatWritesIsOnTheDiskFirst(t *testing.T) {
	for _, promise := range []toolabi.Idempotency{toolabi.NonIdempotent, toolabi.Idempotent} {
		w := newWorkshop(t, promise, true)
		w.invoke = func(context.Context, toolabi.Invocation) (toolabi.Outcome, error) {
			if got := w.log(); got[len(got)-1] != "intent s" {
				t.Errorf("%s: entered over a log that ends with %s", promise, got[len(got)-1])
			}
			return toolabi.Outcome{Output: []byte(`"done"`)}, nil
		}
		p := w.begin(w.mem.Handle())
		if _, err := w.drive(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if got := w.mem.Commits(); got != 4 { // created, intent, result, finished: what came of it does not wait
			t.Errorf("%s: %d commits, want 4", promise, got)
		}
	}
}

func TestAProgramGetsWhatItsIntentSays(t *testing.T) {
	for _, write := range []bool{true, false} {
		w := newWorkshop(t, toolabi.NonIdempotent, write)
		res, err := w.drive(t.Context(), w.begin(w.mem.Handle()))
		if err != nil {
			t.Fatal(err)
		}
		want := []toolabi.Mount{{Name: "out", Path: w.dir, Write: write}}
		if !slices.Equal(w.seen[0].Mounts, want) {
			t.Errorf("it got %v, want %v", w.seen[0].Mounts, want)
		}
		if res.Usage.Fuel != 7 || res.Usage.HostCalls != 0 || res.Usage.Commits != w.mem.Commits() {
			t.Errorf("usage %+v after %d commits", res.Usage, w.mem.Commits())
		}
		for e, err := range w.mem.Read(t.Context(), "r", 0) {
			if err != nil {
				t.Fatal(err)
			}
			class := toolabi.Call
			if write {
				class = toolabi.Once
			}
			switch e.Kind {
			case journal.Intent:
				if toolabi.Class(e.Class) != class || e.Key != "" || (e.Note != "") != write || e.Started == 0 || e.Seed.IsZero() {
					t.Errorf("writes %v: intent %+v", write, e)
				}
			case journal.Result:
				if e.Fuel != 7 || (e.Effect == journal.EffectApplied) != write {
					t.Errorf("writes %v: result %+v", write, e)
				}
			}
		}
	}
}

// A program that failed may have written: that is known to have happened, and no policy tries it again.
func TestAProgramThatFailedIsNotTriedAgain(t *testing.T) {
	for promise, tries := range map[toolabi.Idempotency]int{toolabi.NonIdempotent: 1, toolabi.Idempotent: 3} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorkshop(t, promise, true)
			w.retry = toolabi.RetryPolicy{Attempts: 3, BackoffMS: 1}
			w.invoke = func(_ context.Context, inv toolabi.Invocation) (toolabi.Outcome, error) {
				e := toolabi.NewError(toolabi.Exited, "it exited with status 1")
				e.Retry = toolabi.RetrySafe
				return toolabi.Outcome{Err: e}, nil
			}
			_, err := w.drive(t.Context(), w.begin(w.mem.Handle()))
			var failed *runtime.FailedError
			if !errors.As(err, &failed) || failed.Err.Effect != toolabi.EffectUnknown || !strings.Contains(failed.Err.Message, "; before that it may have written to directory out") {
				t.Errorf("%s: ended with %v", promise, err)
			}
			if w.entered != tries {
				t.Errorf("%s: entered %d times, want %d", promise, w.entered, tries)
			}
		})
	}
}

// A call that was refused before anything of the program ran has had no effect, and says so.
func TestAProgramThatWasRefusedDidNothing(t *testing.T) {
	w := newWorkshop(t, toolabi.NonIdempotent, true)
	err := w.cutAt("refused")
	var failed *runtime.FailedError
	if !errors.As(err, &failed) || failed.Err.Effect != toolabi.EffectNone || strings.Contains(err.Error(), "written") {
		t.Errorf("ended with %v", err)
	}
	for e := range w.mem.Read(t.Context(), "r", 0) {
		if e.Kind == journal.Result && e.Effect != journal.EffectNone {
			t.Errorf("result %+v", e)
		}
	}
}

func TestAProgramInDoubtSaysWhatIsKnown(t *testing.T) {
	w := newWorkshop(t, toolabi.NonIdempotent, true)
	_ = w.cutAt("written")
	p := w.begin(w.mem.Handle())
	_, err := w.drive(t.Context(), p)
	var u *runtime.UncertainError
	if !errors.As(err, &u) || !u.Program() || u.Tool != "p.run" || u.Step != "s" {
		t.Fatalf("ended with %v", err)
	}
	for _, want := range []string{"s of run r (p.run)", "may write to out (" + w.dir + ")", timeOf(u.Intent.Time), "what it wrote is not known"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	for item, err := range p.Inbox(t.Context()) {
		if err != nil || item.Need != runtime.NeedVerdict || item.Step != "s" || !strings.Contains(item.Text, w.dir) {
			t.Errorf("inbox: %+v, %v", item, err)
		}
	}
	findings, err := p.Reconcile(t.Context(), "r") // there is nobody to ask
	if err != nil || len(findings) != 1 || findings[0].Settled {
		t.Errorf("reconciled %+v, %v", findings, err)
	}
	fork, err := p.Fork(t.Context(), "r", "s", "copy", "me", "")
	if err != nil || len(fork.Again) != 1 || fork.Again[0].Known || fork.Again[0].Step != "s" || fork.Again[0].Name != "p.run" {
		t.Errorf("forked %+v, %v", fork, err)
	}
}

func timeOf(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339) }

func TestWhatSomebodySaysOfAProgramIsItsOutput(t *testing.T) {
	w := newWorkshop(t, toolabi.NonIdempotent, true)
	_ = w.cutAt("written")
	p := w.begin(w.mem.Handle())
	for said, why := range map[string]string{`7`: "cannot be the output of p.run", `"a" "b"`: "not usable as JSON", ``: "not usable as JSON"} {
		err := p.Resolve(t.Context(), "r", "s", runtime.Resolution{Happened: true, Reply: []byte(said)})
		if !errors.Is(err, toolabi.BadInput) || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: got %v, want %q", said, err, why)
		}
	}
	if err := p.Resolve(t.Context(), "r", "s", runtime.Resolution{NewKey: true}); !errors.Is(err, runtime.ErrNoKey) {
		t.Errorf("with another key: %v", err)
	}
	if err := p.Resolve(t.Context(), "r", "s", runtime.Resolution{Happened: true, Reply: []byte(`"told"`), By: "me"}); err != nil {
		t.Fatal(err)
	}
	res, err := w.drive(t.Context(), p)
	if err != nil || string(res.Output) != `"told"` || w.entered != 1 {
		t.Errorf("ended with %s, %v after %d entries", res.Output, err, w.entered)
	}
}

// leased is a journal that cannot tell who lives.
type leased struct{ journal.Journal }

// While it cannot be told whether the process is dead that entered the program, it may still be running: it is entered up to
// 30 s after its intent, and has 2 s.
func TestThatAProgramDidNotRunIsSaidWhenItCannotBeRunningAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t, toolabi.NonIdempotent, true)
		handle := w.mem.Handle()
		w.invoke = func(context.Context, toolabi.Invocation) (toolabi.Outcome, error) {
			handle.Kill()
			return toolabi.Outcome{}, errors.New("killed")
		}
		change := func(c *runtime.Config) { c.Invoker, c.Lease, c.Journal = w, 31*time.Second, leased{c.Journal} }
		began := time.Now()
		if _, err := w.drive(t.Context(), w.process(handle, change)); how(err) != "killed" {
			t.Fatal(err)
		}
		w.invoke = nil
		time.Sleep(31*time.Second + 1) // its lease is over
		p := w.process(w.mem.Handle(), change)
		var soon *runtime.TooSoonError
		if err := p.Resolve(t.Context(), "r", "s", runtime.Resolution{By: "me"}); !errors.As(err, &soon) || soon.Until.Sub(began) != 32*time.Second {
			t.Errorf("resolved after %s: %v", time.Since(began), err)
		}
		time.Sleep(time.Second)
		if err := p.Resolve(t.Context(), "r", "s", runtime.Resolution{By: "me"}); err != nil {
			t.Error(err)
		}
	})
}

// In a copy the log does not say who entered the program, and that process may be alive.
func TestACopyDoesNotKnowWhoEnteredAProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorkshop(t, toolabi.NonIdempotent, true)
		_ = w.cutAt("entered")
		p := w.begin(w.mem.Handle())
		_, err := p.Drive(t.Context(), "r", runtime.DriveOptions{Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			if err := r.Sleep(ctx, "pause", time.Millisecond); err != nil { // a step behind it
				return nil, err
			}
			return r.Call(ctx, "s", "p.run", []byte(`{}`))
		}}})
		if how(err) != "uncertain" {
			t.Fatal(err)
		}
		if _, err := p.Fork(t.Context(), "r", "pause", "copy", "me", ""); err != nil {
			t.Fatal(err)
		}
		p.store.Close()
		p = w.begin(w.mem.Handle())
		var soon *runtime.TooSoonError
		if err := p.Resolve(t.Context(), "copy", "s", runtime.Resolution{By: "me"}); !errors.As(err, &soon) {
			t.Errorf("in the copy: %v", err)
		}
		if err := p.Resolve(t.Context(), "r", "s", runtime.Resolution{By: "me"}); err != nil {
			t.Errorf("in the run: %v", err)
		}
	})
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func TestADirectoryThatIsNotGrantedIsAskedForBeforeAnythingIsWritten(t *testing.T) {
	w := newWorkshop(t, toolabi.NonIdempotent, true)
	spec, modules := w.spec()
	spec.Grants.Dirs = nil
	p := w.begin(w.mem.Handle())
	_, err := p.Start(t.Context(), "r", spec, modules, true)
	var missing *runtime.UngrantedError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "--dir out=PATH:rw") || !strings.Contains(err.Error(), "to keep the report") {
		t.Errorf("started with %v", err)
	}
	spec, _ = w.spec()
	spec.Grants.Dirs[0].Path += "/gone"
	var gone *runtime.DirError
	if _, err := p.Start(t.Context(), "r", spec, modules, true); !errors.As(err, &gone) || gone.Run != "" || !strings.Contains(err.Error(), "is not there") {
		t.Errorf("started with %v", err)
	}
	spec.Grants.Dirs[0].Path = "relative"
	if _, err := p.Start(t.Context(), "r", spec, modules, true); err == nil {
		t.Error("started with a relative path")
	}
	if _, err := p.Spec(t.Context(), "r"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("something was written: %v", err)
	}
}

// A run whose directory has gone stops, and goes on once it is back. Nothing is entered meanwhile.
func TestARunWaitsForItsDirectory(t *testing.T) {
	w := newWorkshop(t, toolabi.Idempotent, true)
	_ = w.cutAt("entered")
	gone := w.dir + ".gone"
	rename(t, w.dir, gone)
	p := w.begin(w.mem.Handle())
	var stopped *runtime.DirError
	if _, err := w.drive(t.Context(), p); !errors.As(err, &stopped) || w.entered != 1 {
		t.Fatalf("ended with %v after %d entries", err, w.entered)
	}
	rename(t, gone, w.dir)
	if _, err := w.drive(t.Context(), p); err != nil || w.entered != 2 {
		t.Errorf("ended with %v after %d entries", err, w.entered)
	}
}

// A resume may grant more, but a call that began without a directory to write to does not get one.
func TestMoreGrantsDoNotChangeWhatACallBeganWith(t *testing.T) {
	w := newWorkshop(t, toolabi.NonIdempotent, false)
	w.retry = toolabi.RetryPolicy{Attempts: 2, BackoffMS: 1}
	w.invoke = func(context.Context, toolabi.Invocation) (toolabi.Outcome, error) {
		return toolabi.Outcome{}, errors.New("the host fails")
	}
	p := w.begin(w.mem.Handle())
	if _, err := w.drive(t.Context(), p); err == nil {
		t.Fatal("it did not fail")
	}
	opts := runtime.DriveOptions{
		Grants: hostfuncs.Grants{Dirs: []hostfuncs.DirGrant{{Name: "out", Path: w.dir, Write: true}}},
		Driver: &runtime.DriverInfo{Drive: func(ctx context.Context, r *runtime.Run) ([]byte, error) {
			if _, err := r.Call(ctx, "s", "p.run", []byte(`{}`)); err != nil {
				return nil, err
			}
			return r.Call(ctx, "later", "p.run", []byte(`{}`))
		}},
	}
	w.invoke = nil
	other := opts
	other.Grants.Dirs = []hostfuncs.DirGrant{{Name: "out", Path: w.dir + "/other", Write: true}}
	var conflict *hostfuncs.GrantConflictError
	length := len(w.log())
	if _, err := p.Drive(t.Context(), "r", other); !errors.As(err, &conflict) || len(w.log()) != length {
		t.Errorf("another path under the same name: %v, the log has %d entries, had %d", err, len(w.log()), length)
	}
	if _, err := p.Drive(t.Context(), "r", opts); err != nil {
		t.Fatal(err)
	}
	if w.wrote != 1 || w.seen[1].Mounts[0].Write || !w.seen[2].Mounts[0].Write {
		t.Errorf("wrote %d times, with %v and then %v", w.wrote, w.seen[1].Mounts, w.seen[2].Mounts)
	}
}

func TestWhatAProgramWritesToStandardErrorIsShown(t *testing.T) {
	for _, failed := range []error{nil, errors.New("the host lost it")} {
		w := newWorkshop(t, toolabi.ReadOnly, false)
		w.invoke = func(context.Context, toolabi.Invocation) (toolabi.Outcome, error) {
			long := strings.Repeat("x", toolabi.MaxText+1)
			return toolabi.Outcome{Output: []byte(`"done"`), Stderr: []byte("first\n\n" + strings.Repeat("more\n", 2*toolabi.MaxSaid) + long + "\nlast")}, failed
		}
		var said []string
		p := w.process(w.mem.Handle(), func(c *runtime.Config) {
			c.Invoker = w
			c.Observe = func(ev runtime.Event) {
				if ev.Phase == runtime.Said {
					if ev.Step != "s" || ev.Level != toolabi.LevelInfo {
						t.Errorf("%+v", ev)
					}
					said = append(said, ev.Text)
				}
			}
		})
		if _, err := w.drive(t.Context(), p); failed == nil && err != nil {
			t.Fatal(err)
		}
		if n := len(said); n != toolabi.MaxSaid || said[0] != "more" || said[n-1] != "last" || len(said[n-2]) != toolabi.MaxText {
			t.Errorf("%d lines were shown, of at most %d, the last ones of them", len(said), toolabi.MaxSaid)
		}
	}
}
