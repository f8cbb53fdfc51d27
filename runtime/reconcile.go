package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// reconcile reads what others have appended and judges the queue again. Results stay; intents that someone waits for
// go back to their step; after a foreign claim only late results are left. The caller holds mu.
func (a *appender) reconcile() {
	tail, err := a.readTail()
	if err != nil {
		a.die(&JournalError{Run: a.run, Err: err})
		return
	}
	for _, e := range tail {
		a.history.Add(e)
		a.kept.add(e)
	}
	if a.base.Owner != a.owner {
		a.fenced()
		return
	}
	a.judgeAgain()
}

// judgeAgain gives back to their steps what can be judged again from the start, and gives the rest of the queue its
// place in the log as it is now. The caller holds mu.
func (a *appender) judgeAgain() {
	a.ahead = a.base.Clone()
	queue := a.queue
	a.queue, a.size = nil, 0
	for _, q := range queue {
		if q.rejudge && !(brokenBlindAppend && q.entry.Kind == journal.Intent) {
			a.drop(q, errMoved)
			continue
		}
		a.requeue(q)
	}
}

// drop takes a queued entry back as if it had never been added. The caller holds mu.
func (a *appender) drop(q *queued, err error) {
	q.done, q.err = true, err
	a.history.Forget(q.entry)
	a.kept.forget(q.entry)
	if q.entry.Kind == journal.Intent && !errors.Is(err, errMoved) {
		a.dropped[q.entry.Step] = err
	}
}

// requeue gives a queued entry its place behind what others have appended.
func (a *appender) requeue(q *queued) {
	e := &q.entry
	e.Seq = a.ahead.Len
	if e.Time < a.ahead.Time {
		if e.Kind == journal.Result && e.At == 0 {
			e.At = e.Time
		}
		e.Time = a.ahead.Time
	}
	if err := a.admit(*e); err != nil && !brokenBlindAppend {
		a.drop(q, err)
		return
	}
	a.queue = append(a.queue, q)
	a.size += len(e.Body)
}

// readTail folds what others have appended into base. The caller holds mu.
func (a *appender) readTail() ([]journal.Entry, error) {
	var tail []journal.Entry
	known := a.base.Head
	for e, err := range a.j.Read(context.Background(), a.run, a.base.Len-1) {
		if err != nil {
			return nil, err
		}
		if e.Seq == a.base.Len-1 && len(tail) == 0 {
			if e.Hash != known {
				return nil, fmt.Errorf("%w: entry %d is not the one that was there before", journal.ErrDamaged, e.Seq)
			}
			continue
		}
		if err := a.base.Apply(e); err != nil {
			return nil, fmt.Errorf("%w: %w", journal.ErrDamaged, err)
		}
		tail = append(tail, e)
	}
	if len(tail) == 0 {
		return nil, fmt.Errorf("%w: the log is shorter than it was", journal.ErrDamaged)
	}
	return tail, nil
}

// fenced leaves what is known of effects as late entries, and gives up. The caller holds mu.
func (a *appender) fenced() {
	var late []journal.Entry
	for _, q := range a.queue {
		late = append(late, asLate(q.entry)...)
	}
	busy := &BusyError{Run: a.run, Owner: a.base.Owner}
	if err := a.appendLate(late); err != nil {
		a.die(&JournalError{Run: a.run, Err: err})
		return
	}
	busy.addLate(late)
	a.die(busy)
}

// asLate returns what a fenced owner may still write of an entry: the outcome of an effect as a late one, evidence as it
// is, and nothing of all the rest.
func asLate(e journal.Entry) []journal.Entry {
	switch {
	case e.Kind == journal.Record:
		return []journal.Entry{e}
	case e.Kind == journal.Result && isEffect(e.Class) && !brokenNoLate:
		return []journal.Entry{{
			Kind: journal.Late, Step: e.Step, Name: e.Name, Class: e.Class, Outcome: e.Outcome, Effect: e.Effect,
			Body: e.Body, Blob: e.Blob, Size: e.Size, Refs: e.Refs, Owner: e.Owner, Time: e.Time,
		}}
	}
	return nil
}

// addLate names the outcomes that came too late.
func (e *BusyError) addLate(late []journal.Entry) {
	for _, l := range late {
		if l.Kind == journal.Late {
			e.Late = append(e.Late, l.Step)
		}
	}
}

func isEffect(class uint8) bool {
	return class == uint8(toolabi.Effect) || class == uint8(toolabi.Once)
}

// appendLate writes late entries at the end of the log, wherever that is. The caller holds mu.
func (a *appender) appendLate(late []journal.Entry) error {
	for len(late) > 0 {
		s := a.base.Clone()
		for i := range late {
			late[i].Seq, late[i].Time = s.Len, max(late[i].Time, s.Time)
			if late[i].Kind == journal.Record {
				late[i].Owner = ""
			}
			if err := s.Apply(late[i]); err != nil {
				return err
			}
		}
		err := a.append(a.base.Len, late)
		if err == nil {
			for _, e := range late {
				if err := a.base.Apply(e); err != nil {
					return err
				}
			}
			return nil
		}
		if !errors.Is(err, journal.ErrConflict) {
			return err
		}
		if _, err := a.readTail(); err != nil {
			return err
		}
	}
	return nil
}
