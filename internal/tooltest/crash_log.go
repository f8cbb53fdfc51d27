package tooltest

import (
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// trial is one call, from its beginning to its end, and what was done to it on the way.
type trial struct {
	moment Moment
	log    []happening
	// output is what the call returned, or failed how it failed; stuck is why it has no end.
	output []byte
	failed *toolabi.Error
	stuck  error
	// state is what the call left: keys of stores, files of the workspace. marks are the values that can be seen of it.
	state map[string]string
	marks marks
	// byHarness counts the effects of which nobody knew what became of them, and that were settled by whoever knows the world.
	byHarness int
	// appends are the entries of each append of the first life, in order.
	appends [][]journal.Entry
}

// happening is one thing of a trial: what the world saw, what was written, or what was done.
type happening struct {
	event *world.Event
	entry *journal.Entry
	did   string
}

// events are what the world saw, in order.
func (t *trial) events() (all []world.Event) {
	for _, h := range t.log {
		if h.event != nil {
			all = append(all, *h.event)
		}
	}
	return all
}

// acted are the events that did something in the world. What a server declines with a status of 400 to 499 did nothing, whatever its
// route says.
func (t *trial) acted() (all []world.Event) {
	for _, e := range t.events() {
		if e.Acted && !e.Declined {
			all = append(all, e)
		}
	}
	return all
}

// trace is the trial as people read it.
func (t *trial) trace() (lines []Line) {
	var n names
	for _, h := range t.log {
		switch {
		case h.event != nil:
			lines = append(lines, Line{LineWorld, n.showEvent(*h.event)})
		case h.entry != nil:
			if text := n.showEntry(*h.entry); text != "" {
				lines = append(lines, Line{LineJournal, text})
			}
		default:
			lines = append(lines, Line{LineMoment, h.did})
		}
	}
	return append(lines, Line{LineMoment, t.ending()})
}

// ending says how the call ended.
func (t *trial) ending() string {
	switch {
	case t.stuck != nil:
		return toolabi.CleanLine("no end: "+t.stuck.Error(), 2*maxLine)
	case t.failed != nil:
		return toolabi.CleanLine(fmt.Sprintf("failed: %s: %s", t.failed.Code, t.failed.Message), 2*maxLine)
	}
	return toolabi.CleanLine("output "+string(t.output), 2*maxLine)
}

// byLookup counts the effects of which nobody knew what became of them, and that the tool's look-up settled.
func (t *trial) byLookup() (n int) {
	for _, h := range t.log {
		if h.entry != nil && strings.HasPrefix(h.entry.By, lookupBy) {
			n++
		}
	}
	return n
}

// uncertain counts the effects of which nobody knew what became of them.
func (t *trial) uncertain() int { return t.byHarness + t.byLookup() }

// resembles says whether two calls end in the same way and do as much.
func (t *trial) resembles(o *trial) bool {
	return (t.stuck == nil) == (o.stuck == nil) && (t.failed == nil) == (o.failed == nil) && len(t.acted()) == len(o.acted())
}

// sent is a request, or a message, that acts when it comes, and which answer of its route, or of the mail server, it got, from 0.
type sent struct {
	world.Event
	answer int
}

// sent are the requests that act.
func (t *trial) sent() (all []sent) {
	answers := map[string]int{}
	for _, e := range t.events() {
		of := e.Kind + " " + e.Route
		if e.Acted && !e.Late {
			all = append(all, sent{e, answers[of]})
		}
		if !e.Replayed && !e.Contradicted && !e.Unexpected && !(e.Late && e.Acted) {
			answers[of]++
		}
	}
	return all
}
