package interleave

import (
	"fmt"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// trial is one interleaving: one run, two processes, people, a provider, and one scheduler. It runs in a bubble of
// testing/synctest, so that its clock is simulated and the scheduler knows when everybody waits.
type trial struct {
	c        *choices
	scenario *scenario
	owners   bool // the store can tell who lives; else claims are leases
	traced   bool
	told     bool // the trace has come to the violation

	mu        sync.Mutex // guards what follows, and the fields of processes and messages
	store     *store
	world     *provider
	procs     [2]*process
	lives     int
	people    [2]*process
	waiters   []*waiter
	tasks     int // goroutines that drive or say something
	drives    int
	reads     int
	grants    int  // how often more was granted
	byWork    bool // once nothing goes wrong any more, Work drives
	cancels   int
	restores  int
	saidAhead bool // a person has said that the world is ahead of the log
	limits    budget
	finals    []string // what the run came to, each time that it was asked
	lastErr   error
	violation *Violation
	trace     []string
	counts    *Counts
	logHash   uint64
	steps     int
}

// budget is what may still go wrong.
type budget struct {
	kills, errors, breaks, cancels, interrupts, restores, stops, withdrawals, grants, abandons int
}

func newTrial(c *choices, counts *Counts) *trial {
	t := &trial{c: c, store: newStore(), world: newProvider(), counts: counts}
	t.scenario = scenarios[c.draw(len(scenarios))]
	t.owners = c.draw(2) == 0
	some := func(most int) int {
		if c.draw(2) == 0 {
			return 0
		}
		return most
	}
	t.limits = budget{
		kills: some(3), errors: some(2), breaks: some(2), cancels: some(1), interrupts: some(1), restores: some(1), stops: some(2),
		withdrawals: some(2), grants: some(2), abandons: some(1),
	}
	t.byWork = c.draw(2) == 1
	for i, name := range [...]string{"ann", "bob"} {
		t.people[i] = t.begin(name)
		t.people[i].isPerson = true
	}
	for i := range t.procs {
		t.procs[i] = t.life(i)
	}
	return t
}

// life begins the next life of a process.
func (t *trial) life(i int) *process {
	t.lives++
	return t.begin(fmt.Sprintf("P%d.%d", i, t.lives))
}

// run runs the interleaving: first everything may go wrong, then nothing does and people answer, and the run has to end.
func (t *trial) run() {
	chaos := t.c.draw(250)
	for t.steps < chaos && t.violation == nil && !t.quiet() {
		synctest.Wait()
		t.counts.state(t)
		t.move()
	}
	if t.violation == nil {
		t.note("-- from here on nothing goes wrong")
		t.calm()
	}
	if t.violation == nil {
		t.mu.Lock()
		t.checkWorld()
		t.mu.Unlock()
		t.checkLog()
		t.checkReplay()
	}
	t.mu.Lock()
	for _, p := range append(t.procs[:], t.people[:]...) {
		t.end(p)
	}
	t.mu.Unlock()
	time.Sleep(time.Minute) // whoever waits for the next attempt has no other way to notice
	synctest.Wait()
	if t.tasks > 0 && t.violation == nil {
		t.violation = &Violation{"STUCK", fmt.Sprintf("%d goroutines do not end with their processes", t.tasks)}
	}
}

// quiet says whether nothing is left to happen.
func (t *trial) quiet() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.store.log.state
	return s.Finished && t.tasks == 0 && len(t.world.net) == 0 && len(t.questions()) == 0 && t.drives > 2
}

// note adds to the trace.
func (t *trial) note(s string) {
	if t.traced && !t.told {
		t.told = t.violation != nil
		again := strings.HasPrefix(s, "time") || strings.HasSuffix(s, " "+pointNames[atLook])
		if n := len(t.trace); n > 0 && strings.HasSuffix(t.trace[n-1], s) && again {
			t.trace = t.trace[:n-1]
		}
		t.trace = append(t.trace, fmt.Sprintf("%9s  %s", time.Since(epoch).Round(time.Millisecond), s))
	}
}

func (t *trial) noteMove(w *waiter, v verdict) {
	if !t.traced {
		return
	}
	s := fmt.Sprintf("%s %s", w.p.name, pointNames[w.at])
	if w.kind != 0 {
		s += " " + w.kind.String()
	}
	if w.step != "" {
		s += " " + w.step
	}
	if v != goOn {
		s += ": " + verdictNames[v]
	}
	t.note(s)
}

// epoch is when every bubble begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// count notes an entry of the log for the figures.
func (t *trial) count(_ *process, e journal.Entry) {
	t.logHash = hashEntry(t.logHash, e)
	if t.traced {
		t.note(fmt.Sprintf("    log %d: %s %s %s %d", e.Seq, e.Kind, e.Step, e.Name, e.Outcome))
	}
}
