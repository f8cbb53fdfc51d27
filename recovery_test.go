package wrun_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/runtime"
)

const (
	// longer than a sleep, a pause between attempts, and the time in which a request settles
	later = 2 * time.Hour
	// longer than the time for which a key is remembered
	muchLater = 48 * time.Hour
)

// How many cells there are, and how many of them can exist.
const (
	allCells     = 1701
	visitedCells = 802
)

// Every cell of the recovery table, with real modules, a real server and a journal in memory.
func TestEveryCellOfTheRecoveryTable(t *testing.T) {
	k := newKit(t, "recovery")
	found := make([]int, len(rules))
	all, visited := cells(), 0
	t.Run("cells", func(t *testing.T) {
		for _, c := range all {
			i := ruleOf(c)
			if i < 0 {
				t.Errorf("%s: no rule fits", c)
				continue
			}
			found[i]++
			if rules[i].want == impossible {
				continue
			}
			visited++
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				mem := journaltest.NewMem()
				journaltest.CheckOnCleanup(t, mem)
				newScene(t, k, c, func() journaltest.Store { return mem.Handle() }).visit(rules[i].want)
			})
		}
	})
	if len(all) != allCells || visited != visitedCells {
		t.Errorf("%d cells, %d of them visited, want %d and %d", len(all), visited, allCells, visitedCells)
	}
	for i, r := range rules {
		if found[i] != r.count {
			t.Errorf("rule %d (%s | %s | %s | %s | %s): %d cells, want %d", i, r.promise, r.function, r.moment, r.attempt, r.said, found[i], r.count)
		}
	}
}

// ruleOf returns the rule that holds for a cell, -1 for none.
func ruleOf(c cell) int {
	for i, r := range rules {
		if r.fits(c) {
			return i
		}
	}
	return -1
}

func newScene(t *testing.T, k *kit, c cell, open func() journaltest.Store) *scene {
	return &scene{cell: c, t: t, kit: k, open: open, world: newWorld(t), base: c.step()}
}

// visit cuts the run off as the cell says, resumes it, lets be said what is to be said, resumes it again, and holds what
// it finds against what is wanted.
func (p *scene) visit(w want) {
	t := p.t
	p.prepare()
	from := uint64(len(p.entriesIfAny()))
	p.world.set(func() { p.world.reached = 0 })

	cut := p.cutOff()
	if cut.how != w.cut {
		t.Fatalf("cut off: ended with %s (%v), want %s", cut.how, cut.err, w.cut)
	}
	entered, looked := 0, cut.entered["seen"]
	p.pass()
	resume := func(want, name string) (*life, error) {
		t.Helper()
		l := p.start()
		how, err := l.drive()
		if how != want {
			t.Fatalf("%s: ended with %s (%v), want %s; log %q", name, how, err, want, p.about(from))
		}
		entered += l.entered[p.tool()]
		looked += l.entered["seen"]
		return l, err
	}
	l, err := resume(w.resume, "resume")
	p.judge(err)
	if w.end != "" {
		p.say(l, w.resume)
		l.Close()
		l, _ = resume(w.end, "resume after something was said")
	}
	l.Close()
	got := want{
		cut: cut.how, resume: w.resume, end: w.end, saw: p.saw(), reached: p.world.count(), keys: p.keys(),
		entered: entered, looked: looked, log: p.about(from),
	}
	if got != w {
		t.Errorf("got  %+v\nwant %+v", got, w)
	}
	p.again(w, from)
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reached
}

// entriesIfAny is the log of a run that may not exist.
func (p *scene) entriesIfAny() []journal.Entry {
	if p.attempt == "first" {
		return nil
	}
	return p.entries(0)
}

// prepare makes the attempt that comes before the one that counts.
func (p *scene) prepare() {
	p.t.Helper()
	l := p.start()
	defer l.Close()
	switch p.attempt {
	case "after a retry":
		if how, err := l.drive(); how != "waiting" {
			p.t.Fatalf("the first attempt ended with %s (%v)", how, err)
		}
		p.advance(later)
	case "after a void":
		l.at = func(use string, _ bool) {
			if use == string(p.base.First()) {
				l.kill()
			}
		}
		if how, err := l.drive(); how != "killed" {
			p.t.Fatalf("the first attempt ended with %s (%v)", how, err)
		}
		somebody := p.start()
		defer somebody.Close()
		if err := somebody.Resolve(p.t.Context(), "r", p.base, runtime.Resolution{Now: true, By: "somebody"}); err != nil {
			p.t.Fatal(err)
		}
		if p.sender() == "keyed too late" {
			p.advance(muchLater)
		}
	}
}

// ended is how a drive ended.
type ended struct {
	how     string
	err     error
	entered map[string]int
}

// cutOff drives the run until the moment of the cell.
func (p *scene) cutOff() ended {
	p.t.Helper()
	if p.function == "sleep" || p.function == "approve" {
		if e, over := p.suspend(); over {
			return e
		}
	}
	l := p.start()
	defer l.Close()
	p.arrange(l)
	how, err := l.drive()
	return ended{how, err, l.entered}
}

// suspend drives a run that waits until it does, and lets it be answered where the moment is later than that.
func (p *scene) suspend() (e ended, over bool) {
	p.t.Helper()
	if p.denied() || p.moment == "announcing" {
		return e, false
	}
	l := p.start()
	defer l.Close()
	e.how, e.err = l.drive()
	if p.moment == "announced" || e.how != "waiting" {
		return e, true
	}
	if p.function == "sleep" {
		p.advance(later)
		return e, false
	}
	who := p.start()
	defer who.Close()
	if p.moment == "done" {
		who.instead = func(e journal.Entry) bool { return e.Kind == journal.Result }
	}
	err := who.Answer(p.t.Context(), "r", p.base, runtime.Answer{Yes: p.said != "no", By: "somebody"})
	if p.moment == "done" != errors.Is(err, journal.ErrUnusable) || p.moment != "done" && err != nil {
		p.t.Fatalf("answer: %v", err)
	}
	return e, p.moment == "done"
}

// arrange makes a life end at the moment of the cell.
func (p *scene) arrange(l *life) {
	uses := map[string]string{"log": "it", "fetch": "fetch", "nothing but itself": ""}
	use, known := uses[p.function]
	if !known {
		use = string(p.base)
	}
	// What a denied function, one that waits, or the call itself does, is in no function that can be hooked.
	hooked := use != "" && !p.denied() && p.function != "sleep" && p.function != "approve"
	itself := p.function == "nothing but itself"
	first := func(e journal.Entry) bool {
		return e.Step == p.base && (e.Kind == journal.Intent || e.Kind == journal.Result)
	}
	p.world.set(func() {
		if p.moment == "lost" {
			p.world.drop = func() {
				if p.sender() == "keyed too late" {
					p.advance(muchLater)
				}
			}
		}
		if p.said == "cannot tell" || p.said == "fails" {
			p.world.verdict = p.said
		}
	})
	switch p.moment {
	case "announcing":
		if p.function == "log" || p.function == "fetch" && hooked {
			l.at = func(u string, _ bool) {
				if u == use {
					l.kill()
				}
			}
			return
		}
		l.instead = first
	case "announced":
		l.at = func(u string, _ bool) {
			switch {
			case itself && u == "before":
				l.flushed()
			case hooked && u == use:
				l.kill()
			}
		}
	case "done":
		if p.function == "sleep" {
			l.instead = func(e journal.Entry) bool { return e.Step == p.base && e.Kind == journal.Result }
			return
		}
		l.at = func(u string, after bool) {
			switch {
			case itself && u == "before" && !after:
				if err := l.run.Flush(); err != nil {
					p.t.Error(err)
				}
			case itself && u == "after" && after, hooked && u == use && after:
				l.kill()
			}
		}
	case "recorded", "lost":
		if itself {
			l.returned = l.flushed
			return
		}
		l.at = func(u string, after bool) {
			if u == "after" && !after {
				l.flushed()
			}
		}
	case "failed":
		l.at = func(u string, after bool) {
			if hooked && u == use {
				p.world.set(func() { p.world.down = !after })
			}
		}
	case "stopped":
		l.at = func(u string, after bool) {
			if u == use {
				l.busy.Store(!after)
			}
		}
	}
}

// pass lets as much time go by before the run is resumed as the cell says.
func (p *scene) pass() {
	switch {
	case p.sender() == "keyed too late":
		p.advance(muchLater)
	case p.moment == "failed", p.said == "did not happen":
		p.advance(later)
	}
}

// judge holds what a resume says of an effect in doubt against what is known.
func (p *scene) judge(err error) {
	p.t.Helper()
	var u *runtime.UncertainError
	if !errors.As(err, &u) {
		return
	}
	if u.Step != p.base || (u.Evidence != nil) != (p.moment == "lost") {
		p.t.Errorf("uncertain about %s with evidence %+v, want %s", u.Step, u.Evidence, p.base)
	}
}

// say lets somebody or the clock say what the run waits for.
func (p *scene) say(l *life, how string) {
	p.t.Helper()
	res := runtime.Resolution{By: "somebody", NewKey: p.said == "says so with another key", Now: p.said == "says so with another key"}
	switch {
	case p.said == "says nothing":
		return
	case p.function == "approve":
		if err := l.Answer(p.t.Context(), "r", p.base, runtime.Answer{Yes: p.said == "yes", By: "somebody"}); err != nil {
			p.t.Fatal(err)
		}
		return
	case how == "waiting":
		p.advance(later)
		return
	}
	p.world.mu.Lock()
	res.Happened = p.world.acted
	p.world.mu.Unlock()
	if res.Happened {
		reply, err := hostfuncs.ParseSaidReply([]byte(`{"status":201}`))
		if err != nil {
			p.t.Fatal(err)
		}
		res.Reply = reply
	}
	err := l.Resolve(p.t.Context(), "r", p.base, res)
	var soon *runtime.TooSoonError
	if errors.As(err, &soon) != (!res.Happened && !res.Now && p.sender() != "keyed too late") {
		p.t.Errorf("it did not happen, said at once: %v", err)
	}
	if soon != nil {
		p.advance(later)
		err = l.Resolve(p.t.Context(), "r", p.base, res)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// saw is what the tool saw of the function, as the output tells; "" for a run that has none, and for the call itself.
func (p *scene) saw() string {
	p.t.Helper()
	all := p.entries(0)
	last := all[len(all)-1]
	if last.Kind != journal.Finished || last.Outcome != journal.OK || p.function == "nothing but itself" {
		return ""
	}
	var saw []string
	if err := json.Unmarshal(last.Body, &saw); err != nil {
		p.t.Fatalf("output %s: %v", last.Body, err)
	}
	if p.attempt == "after a retry" {
		saw = saw[1:]
	}
	seen := saw[1]
	for _, s := range saw[2 : len(saw)-1] {
		seen += ", " + s
	}
	return seen
}

// again resumes the run once more: a closed one returns what it returned, any other stops where it stopped, and nothing
// is executed.
func (p *scene) again(w want, from uint64) {
	p.t.Helper()
	how := w.end
	if how == "" {
		how = w.resume
	}
	before, length := p.about(from), len(p.entries(0))
	l := p.start()
	defer l.Close()
	got, err := l.drive()
	if got != how {
		p.t.Errorf("resumed once more: ended with %s (%v), want %s", got, err, how)
	}
	if p.world.count() != w.reached || p.about(from) != before {
		p.t.Errorf("resumed once more: %d requests, log %q, before that %d and %q", p.world.count(), p.about(from), w.reached, before)
	}
	if closed := how == "done" || how == "failed"; closed && (len(l.entered) > 0 || len(p.entries(0)) != length) {
		p.t.Errorf("resumed once more: entered %v, %d entries, %d before", l.entered, len(p.entries(0)), length)
	}
}
