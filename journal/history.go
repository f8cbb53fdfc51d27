package journal

import "slices"

// History is a log as a driver looks things up in it: by step. It is not safe for concurrent use.
type History struct {
	steps    map[Step]*Past
	keys     map[string]int64 // of an idempotency key: the time of the first intent that has it
	attempts map[Step]int     // of a first attempt: the latest one
	children map[Step]int     // of a step: the highest ordinal below it
	top      []Step
	created  Entry
	finished *Entry
	restored *Entry
	imported bool
	origins  []Entry // the records that say from which journal what precedes them is
}

// Past is what a log holds of one attempt of a step.
type Past struct {
	// Intent and Result are nil where there is none.
	Intent, Result *Entry
	// Void is set when someone said that the attempt did not happen.
	Void *Entry
	// Evidence are the records of the attempt, Late the outcomes that came when they could no longer count.
	Evidence, Late []Entry
}

// Known returns the entry that says what the attempt asked for: its intent, or its result where it had none.
func (p *Past) Known() *Entry {
	if p.Intent != nil {
		return p.Intent
	}
	return p.Result
}

// Open says whether the attempt has an intent and neither result nor void.
func (p *Past) Open() bool { return p.Intent != nil && p.Result == nil && p.Void == nil }

// Add appends the log's next entry.
func (h *History) Add(e Entry) {
	if h.steps == nil {
		h.steps, h.attempts, h.children, h.keys = map[Step]*Past{}, map[Step]int{}, map[Step]int{}, map[string]int64{}
	}
	switch e.Kind {
	case Created:
		h.created = e
	case Finished:
		h.finished = &e
	case Restored:
		h.restored = &e
	case Intent, Result, Void, Record, Late:
		if e.Kind == Record && (e.Name == RecordImported || e.Name == RecordOrigin) {
			h.imported = h.imported || e.Name == RecordImported
			h.origins = append(h.origins, e)
		}
		if e.Step != "" {
			h.addStep(e)
		}
	}
}

func (h *History) addStep(e Entry) {
	p := h.steps[e.Step]
	if p == nil {
		p = new(Past)
		h.steps[e.Step] = p
	}
	if p.Known() == nil && (e.Kind == Intent || e.Kind == Result) {
		h.begin(e.Step)
	}
	switch e.Kind {
	case Intent:
		p.Intent = &e
		if _, used := h.keys[e.Key]; e.Key != "" && !used {
			h.keys[e.Key] = e.Time
		}
	case Result:
		p.Result = &e
	case Void:
		p.Void = &e
	case Record:
		p.Evidence = append(p.Evidence, e)
	case Late:
		p.Late = append(p.Late, e)
	}
}

// begin notes that the log has a step. Evidence and late outcomes alone do not say that.
func (h *History) begin(step Step) {
	first, parent := step.First(), step.Parent()
	if n := step.Attempt(); n > h.attempts[first] {
		h.attempts[first] = n
	}
	if parent == "" {
		if step.Attempt() == 1 && h.attempts[twin(first)] == 0 {
			h.top = append(h.top, first.Asked())
		}
	} else if n := step.Ordinal(); n > h.children[parent] {
		h.children[parent] = n
	}
}

// twin returns the question about a step, and the step that a question is about.
func twin(step Step) Step {
	if about := step.Asks(); about != "" {
		return about
	}
	return step.Question()
}

// Forget takes back an entry that was added and then not appended after all.
func (h *History) Forget(e Entry) {
	step := e.Step
	p := h.steps[step]
	if p == nil {
		return
	}
	switch {
	case e.Kind == Result:
		if p.Result != nil && p.Result.Owner == e.Owner { // else somebody was faster
			p.Result = nil
		}
	case e.Kind == Void:
		p.Void = nil
	case e.Kind == Intent:
		p.Intent = nil
		if h.keys[e.Key] == e.Time {
			delete(h.keys, e.Key)
		}
	}
	if p.Intent != nil || p.Result != nil {
		return
	}
	delete(h.steps, step)
	first, n := step.First(), step.Attempt()
	if n > 1 {
		h.attempts[first] = n - 1
		return
	}
	delete(h.attempts, first)
	if h.attempts[twin(first)] > 0 {
		return // the step is still asked for
	}
	if parent := step.Parent(); parent == "" {
		h.top = slices.DeleteFunc(h.top, func(s Step) bool { return s == first.Asked() })
	} else if h.children[parent] == step.Ordinal() {
		h.children[parent]--
	}
}

// Created returns the log's first entry.
func (h *History) Created() Entry { return h.created }

// Finished returns the entry that closed the log, or nil.
func (h *History) Finished() *Entry { return h.finished }

// Restored returns the last entry that says that the log was restored from a backup, or nil.
func (h *History) Restored() *Entry { return h.restored }

// Imported says whether the log was imported: what it did, it did elsewhere.
func (h *History) Imported() bool { return h.imported }

// Origin returns the id of the journal in which the entry at a position was written, when that is another one than the log is in;
// elsewhere says whether it is. The id is zero where nobody noted it.
func (h *History) Origin(seq uint64) (id Digest, elsewhere bool) {
	for _, e := range h.origins {
		if e.Seq > seq {
			if len(e.Body) == len(id) {
				id = Digest(e.Body)
			}
			return id, true
		}
	}
	return id, false
}

// FirstUse returns when an idempotency key was first written down, 0 for never.
func (h *History) FirstUse(key string) int64 { return h.keys[key] }

// Uses returns what the log holds of the steps that were announced under an idempotency key, in no particular order.
func (h *History) Uses(key string) (uses []Past) {
	for _, p := range h.steps {
		if p.Intent != nil && p.Intent.Key == key {
			uses = append(uses, *p)
		}
	}
	return uses
}

// Find returns what the log holds of this very attempt, or nil.
func (h *History) Find(step Step) *Past { return h.steps[step] }

// Latest returns the last attempt of a step, and what the log holds of it; the first attempt and nil when there is none.
func (h *History) Latest(step Step) (Step, *Past) {
	first := step.First()
	n := h.attempts[first]
	if n == 0 {
		return first, nil
	}
	s := first.At(n)
	return s, h.steps[s]
}

// Children returns the highest ordinal of the steps directly inside a step.
func (h *History) Children(step Step) int { return h.children[step] }

// Top returns the driver's own steps, first attempts only, in the order in which the log first names them; a step that
// was only asked about is one of them, its question is not. The caller must not change it.
func (h *History) Top() []Step { return h.top }
