package tooltest

import (
	"strings"
	"time"

	"github.com/wrun-dev/wrun/journal"
)

// lookupBy is what an entry's By begins with where a look-up settled a step.
const lookupBy = "look-up "

// said is the last verdict of a look-up in a trial that was written as this kind of entry; nil for none.
func (t *trial) said(kind journal.Kind) (say *journal.Entry) {
	for _, h := range t.log {
		if h.entry != nil && h.entry.Kind == kind && strings.HasPrefix(h.entry.By, lookupBy) {
			say = h.entry
		}
	}
	return say
}

// lookups holds what look-ups said against what the world knows.
func (j *jury) lookups(t *trial, _ done) *Lie {
	for i, h := range t.log {
		if h.entry == nil || !strings.HasPrefix(h.entry.By, lookupBy) {
			continue
		}
		e := h.entry
		before, after := t.actedUnder(t.keyOfStep(e.Step), i)
		switch {
		case e.Kind == journal.Void && before:
			return j.lie(t, LieDidNotHappen, "lookup", e.Step, "%s says that %s did not happen, and it had: it is done again", e.By, e.Step)
		case e.Kind == journal.Void && after && t.lateUnder(t.keyOfStep(e.Step), i):
			return j.lie(t, LieSettle, "settle", e.Step,
				"%s says that %s did not happen, and it did later: the server takes longer than the settle time of %s", e.By, e.Step, time.Duration(j.tool.SettleMS)*time.Millisecond)
		case e.Kind == journal.Result && !before && !after:
			return j.lie(t, LieHappened, "lookup", e.Step, "%s says that %s happened, and it did not: it is lost", e.By, e.Step)
		}
	}
	return nil
}

// keyOfStep is the key of a step.
func (t *trial) keyOfStep(step journal.Step) string {
	for _, h := range t.log {
		if h.entry != nil && h.entry.Kind == journal.Intent && h.entry.Step == step {
			return h.entry.Key
		}
	}
	return ""
}

// actedUnder says whether something acted under a key before the i-th thing of the log, and whether it did after.
func (t *trial) actedUnder(key string, i int) (before, after bool) {
	for n, h := range t.log {
		if h.event == nil || !h.event.Acted || h.event.Declined || keyOf(*h.event) != key {
			continue
		}
		before, after = before || n < i, after || n > i
	}
	return before, after
}

// lateUnder says whether a request that had come before the i-th thing of the log acted after it.
func (t *trial) lateUnder(key string, i int) bool {
	for n, h := range t.log {
		if n > i && h.event != nil && h.event.Acted && h.event.Late && keyOf(*h.event) == key {
			return true
		}
	}
	return false
}
