package crashtest

import (
	"context"
	"slices"
	"sync"

	"github.com/wrun-dev/wrun/drivers/agent/model"
	"github.com/wrun-dev/wrun/hostfuncs"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Store is a journal with all that it can have besides. *boltdb.Journal is one.
type Store interface {
	journal.Journal
	journal.KV
	journal.Blobs
	journal.Owners
	journal.Identity
	journal.Room
	journal.Sizer
}

// Watched is the journal of one process. It notes what is appended and which effects take place, and ends the process at a place.
// It may be used concurrently.
type Watched struct {
	Store
	at  *Place
	die func(Place) error

	mu    sync.Mutex // guards what follows
	seen  map[Place]int
	keys  map[string]journal.Step // of idempotency keys
	trace Trace
}

// Watch returns a handle on s that calls die when the process comes to a place; with nil it never does. die does not return, or
// returns the error of a handle that is dead.
func Watch(s Store, at *Place, die func(Place) error) *Watched {
	return &Watched{Store: s, at: at, die: die, seen: map[Place]int{}, keys: map[string]journal.Step{}}
}

// Trace is what was done so far.
func (w *Watched) Trace() Trace {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.trace)
}

// Append adds entries to a log, or dies.
func (w *Watched) Append(ctx context.Context, run string, at uint64, entries ...journal.Entry) error {
	marks := w.marks(entries)
	if err := w.come(marks, Before); err != nil {
		return err
	}
	if err := w.Store.Append(ctx, run, at, entries...); err != nil {
		return err
	}
	w.note(marks)
	return w.come(marks, After)
}

// marks are what entries are if they are appended now.
func (w *Watched) marks(entries []journal.Entry) (marks []Mark) {
	w.mu.Lock()
	defer w.mu.Unlock()
	more := map[Place]int{}
	for _, e := range entries {
		if e.Kind == journal.Intent && e.Key != "" {
			w.keys[e.Key] = e.Step
		}
		p := Place{Kind: e.Kind.String(), Step: e.Step}
		more[p]++
		marks = append(marks, Mark{Kind: p.Kind, Step: p.Step, Nth: w.seen[p] + more[p], Rides: rides(e)})
	}
	return marks
}

// rides says whether an entry waits for the next append: the intent of a call, and the outcome of what may be done again. What a
// person said comes by itself, and the outcome of a driver's own effect never waits.
func rides(e journal.Entry) bool {
	class := toolabi.Class(e.Class)
	switch e.Kind {
	case journal.Intent:
		return class == toolabi.Call && e.Approval.IsZero()
	case journal.Result:
		own := class == toolabi.Effect && e.Step.Ordinal() == 0
		return e.By == "" && !own && class != toolabi.Once && class != toolabi.Local && len(e.Writes) == 0
	}
	return false
}

func (w *Watched) note(marks []Mark) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range marks {
		w.seen[Place{Kind: m.Kind, Step: m.Step}]++
	}
	w.trace = append(w.trace, marks)
}

// come dies when the place is among these.
func (w *Watched) come(marks []Mark, when When) error {
	if w.at == nil || w.at.When != when {
		return nil
	}
	for _, m := range marks {
		if w.at.Kind == m.Kind && w.at.Step == m.Step && w.at.Nth == m.Nth {
			return w.die(*w.at)
		}
	}
	return nil
}

// flown says that an effect took place.
func (w *Watched) flown(step journal.Step) error {
	w.mu.Lock()
	p := Place{Step: step}
	w.seen[p]++
	m := []Mark{{Step: step, Nth: w.seen[p]}}
	w.trace = append(w.trace, m)
	w.mu.Unlock()
	return w.come(m, InFlight)
}

// Funcs returns the functions with their effects watched.
func (w *Watched) Funcs(funcs []hostfuncs.Func) []hostfuncs.Func {
	watched := slices.Clone(funcs)
	for i, f := range funcs {
		if f.Call == nil || f.Class != toolabi.Effect && f.Class != toolabi.Once {
			continue
		}
		watched[i].Call = func(ctx context.Context, c hostfuncs.Call, req []byte) ([]byte, error) {
			reply, err := f.Call(ctx, c, req)
			if err != nil {
				return nil, err
			}
			return reply, w.flown(journal.Step(c.Step))
		}
	}
	return watched
}

// Model returns the client with what it is paid for watched.
func (w *Watched) Model(c model.Client) model.Client { return &watchedModel{c, w} }

type watchedModel struct {
	model.Client
	watched *Watched
}

// Send is as in model.Client.
func (m *watchedModel) Send(ctx context.Context, request []byte, a model.Attempt) (model.Answer, error) {
	answer, err := m.Client.Send(ctx, request, a)
	if err != nil {
		return answer, err
	}
	m.watched.mu.Lock()
	step := m.watched.keys[a.Key]
	m.watched.mu.Unlock()
	return answer, m.watched.flown(step)
}
