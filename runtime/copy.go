package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/journal"
)

// ErrNoStep: the run has no such step.
var ErrNoStep = errors.New("no such step")

// The names of the records between which a copied log stands that is too long for one append. A copy without the second
// was cut off, and is not driven.
const (
	recordCopying = "copying"
	recordCopied  = "copied"
)

// whole is the cut of a copy that leaves nothing out.
const whole = journal.Step("")

// copied is what a copy of a log takes, and what it leaves.
type copied struct {
	taken []journal.Entry // as another run can have them, all of one owner
	left  []journal.Entry // of steps that are not taken
}

// copyLog copies a log up to the first entry of a step. Steps that had begun by then are taken whole, wherever the rest of
// them is, so that nothing which was done in them is done again; of the calls around the step the beginning is taken. Who
// drove, that it was cancelled and that it ended are left out. Effects that a closed run left in doubt and somebody settled
// are settled in the copy. What came too late, and that the log is older than the world, is as true of the copy as of the
// run, with what somebody has said about that.
func (e *Engine) copyLog(ctx context.Context, l *loaded, owner string, at journal.Step) (copied, error) {
	var c copied
	began := map[journal.Step]bool{} // the roots that had begun before the cut
	open := map[journal.Step]bool{}
	cut := false
	for entry, err := range e.cfg.Journal.Read(ctx, l.state.Run, 0) {
		if err != nil {
			return c, err
		}
		root, around := rootOf(entry.Step, at)
		if at != whole && entry.Step != "" && root == at.First().Asked() && !around {
			cut = true
		}
		switch {
		case entry.Kind == journal.Created:
			c.taken = append(c.taken, clean(entry, owner), journal.Entry{Kind: journal.Claimed, Owner: owner, Time: entry.Time})
		case entry.Step == "":
			c.taken = append(c.taken, ofTheWholeRun(entry, owner, cut)...)
		case cut && (around || laterAttempt(entry.Step, at) || !began[root]):
			c.left = append(c.left, entry)
		default:
			began[root] = true
			was := entry.Kind
			if entry = settledInCopy(entry, open); entry.Kind != was {
				c.taken = append(c.taken, voidsOf(open, entry, owner)...)
			}
			if entry.Phase() != 0 {
				open[entry.Step] = entry.Kind == journal.Intent
			}
			c.taken = append(c.taken, clean(entry, owner))
		}
	}
	if at != whole && !cut {
		return c, fmt.Errorf("run %s has no step %s: %w", l.state.Run, at, ErrNoStep)
	}
	return c, nil
}

// ofTheWholeRun is what a copy takes of an entry that is about no step.
func ofTheWholeRun(e journal.Entry, owner string, cut bool) []journal.Entry {
	switch {
	case e.Kind == journal.Restored: // which ends the claim
		return []journal.Entry{clean(e, owner), {Kind: journal.Claimed, Owner: owner, Time: e.Time}}
	case e.Kind == journal.Record && (e.Name == journal.RecordAcknowledged || e.Name == journal.RecordConfirmed || e.Name == journal.RecordLabel || (e.Name == RecordGrants || e.Name == RecordBudget) && !cut):
		return []journal.Entry{clean(e, owner)}
	case e.Kind == journal.Record && (e.Name == journal.RecordImported || e.Name == journal.RecordOrigin):
		// The copy is of this journal and can be driven; what it begins with was made in another one.
		return []journal.Entry{{Kind: journal.Record, Name: journal.RecordOrigin, Time: e.Time, Body: e.Body}}
	}
	return nil
}

// laterAttempt says whether a step is, or lies in, an attempt behind the one that at is inside of.
func laterAttempt(step, at journal.Step) bool {
	for ; step != ""; step = step.Parent() {
		for outer := at.Parent(); outer != ""; outer = outer.Parent() {
			if step.First() == outer.First() && step.Attempt() > outer.Attempt() {
				return true
			}
		}
	}
	return false
}

// rootOf returns the outermost step that an entry's step belongs to and that at is not inside of, without attempts; around
// says that the step is one of those that at is inside of, and so its own root.
func rootOf(step, at journal.Step) (root journal.Step, around bool) {
	if at.Within(step.Asked()) {
		return step.First().Asked(), true
	}
	for parent := step.Parent(); parent != "" && !at.Within(parent); parent = step.Parent() {
		step = parent
	}
	return step.First().Asked(), false
}

// clean returns an entry as another run can have it. What it wrote into the state of tools is there already.
func clean(e journal.Entry, owner string) journal.Entry {
	if e.Owner != "" {
		e.Owner = owner
	}
	e.Hash, e.After, e.Writes = journal.Digest{}, journal.Digest{}, nil
	return e
}

// settledInCopy turns a late entry with which somebody settled an open step into that step's outcome.
func settledInCopy(e journal.Entry, open map[journal.Step]bool) journal.Entry {
	switch {
	case e.Kind != journal.Late || e.By == "" || !open[e.Step]:
		return e
	case e.Effect == journal.EffectNone && e.Outcome != journal.OK:
		e.Kind, e.Outcome, e.Effect = journal.Void, 0, 0
		e.Body, e.Blob, e.Size, e.Refs = nil, journal.Digest{}, 0, nil
	default:
		e.Kind, e.Effect = journal.Result, journal.EffectApplied
	}
	e.Owner = "copied" // clean puts the right one in its place
	return e
}

// voidsOf are the entries that end what is open inside a step which an entry ends, innermost first.
func voidsOf(open map[journal.Step]bool, end journal.Entry, owner string) (voids []journal.Entry) {
	for _, step := range slices.Backward(slices.Sorted(maps.Keys(open))) { // what is inside sorts behind what is around it
		if open[step] && step.Within(end.Step) {
			open[step] = false
			voids = append(voids, journal.Entry{Kind: journal.Void, Step: step, Owner: owner, Time: end.Time, Note: "it is known what became of " + string(end.Step)})
		}
	}
	return voids
}

// insideOf says whether a step is another one or lies below it, attempts left out.
func insideOf(step, outer journal.Step) bool {
	s, o := string(step.WithoutAttempts()), string(outer.WithoutAttempts())
	return s == o || strings.HasPrefix(s, o+"/")
}

// appendAll writes a whole log, in as few appends as it takes.
func appendAll(ctx context.Context, j journal.Journal, id string, all []journal.Entry) error {
	for at := 0; at < len(all); at += journal.MaxAppend {
		if err := j.Append(ctx, id, uint64(at), all[at:min(at+journal.MaxAppend, len(all))]...); err != nil {
			return err
		}
	}
	return nil
}
