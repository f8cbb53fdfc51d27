package tooltest

import (
	"fmt"
	"strings"

	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Line is one thing that happened in a call: what the world saw, what was written into the journal, or what was done to the call.
type Line struct {
	// Kind is LineWorld, LineJournal or LineMoment.
	Kind string `json:"kind"`
	// Text is on one line.
	Text string `json:"text"`
}

// The kinds of lines.
const (
	LineWorld   = "world"
	LineJournal = "journal"
	LineMoment  = "moment"
)

// names gives the keys of a trace numbers, in the order in which they come up: in another journal they are others.
type names struct{ keys map[string]int }

func (n *names) key(key string) string {
	if key == "" {
		return ""
	}
	if n.keys == nil {
		n.keys = map[string]int{}
	}
	if n.keys[key] == 0 {
		n.keys[key] = len(n.keys) + 1
	}
	return fmt.Sprintf("key %d", n.keys[key])
}

// maxLine is how much of a body or an error a line shows, in bytes.
const maxLine = 100

// showEvent writes what the world saw.
func (n *names) showEvent(e world.Event) string {
	what := e.Method + " " + strings.TrimPrefix(e.URL, "https://")
	if e.Kind == world.KindMail && e.Message != nil {
		what = fmt.Sprintf("mail to %s %q", strings.Join(e.Message.To, ", "), toolabi.CleanLine(e.Message.Subject, 60))
	}
	if k := n.key(keyOf(e)); k != "" {
		what += " " + k
	}
	if e.Body != "" {
		what += " " + toolabi.CleanLine(e.Body, maxLine)
	}
	return what + ": " + fate(e)
}

// keyOf is the key under which wrun sent it.
func keyOf(e world.Event) string {
	if e.Kind == world.KindMail { // which is its id before the domain
		key, _, _ := strings.Cut(strings.TrimPrefix(e.Key, "<"), "@")
		return key
	}
	return e.Headers["Idempotency-Key"]
}

// fate says what became of a request.
func fate(e world.Event) string {
	var said []string
	add := func(yes bool, text string) {
		if yes {
			said = append(said, text)
		}
	}
	add(e.Late && !e.Acted, "will act later")
	add(e.Late && e.Acted, "acts only now")
	add(e.Acted && !e.Late, "acted")
	add(e.Replayed, "known, did nothing")
	add(e.Contradicted, "the key is another request's")
	add(e.Unexpected, "unexpected")
	add(e.Fault == world.LostReply, "its reply was lost")
	add(e.Fault == world.Refused, "refused")
	add(e.Fault == world.Hangs, "no reply ever")
	add(e.Status != 0, strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, toolabi.CleanLine(e.Reply, maxLine))))
	add(e.Status == 0 && e.Kind == world.KindMail && e.Reply != "", e.Reply)
	return strings.Join(said, ", ")
}

// showEntry writes what a step left in the journal; "" for what belongs to no step.
func (n *names) showEntry(e journal.Entry) string {
	if e.Step == "" && e.Kind != journal.Finished {
		return ""
	}
	text := strings.TrimSpace(fmt.Sprintf("%s %s", e.Step, e.Kind))
	switch e.Kind {
	case journal.Intent:
		text += " " + e.Name
		if k := n.key(e.Key); k != "" {
			text += " " + k
		}
	case journal.Result, journal.Late, journal.Finished:
		text += " " + e.Outcome.String()
	case journal.Record:
		text += " " + e.Name
	}
	if e.By != "" {
		text += ", says " + e.By
	}
	return text
}
