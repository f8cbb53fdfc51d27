package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/toolabi"
)

// Item is something that waits for a person.
type Item struct {
	Run  string
	Step journal.Step
	// Need is what a person has to do.
	Need Need
	// Since is when it began to wait; Until is the last moment at which a yes counts, zero for any time. Expired says that it is over:
	// whoever goes on with the run goes on with a no.
	Since, Until time.Time
	Expired      bool
	// Name is what the step calls, Text what is asked, or what the effect is.
	Name, Text string
	// Detail is JSON to be shown beneath the text.
	Detail []byte
	// Call is the call that is to be agreed to; nil for a question that a tool or a driver asks.
	Call *Shown
	// Shown is the digest of what a question is about.
	Shown journal.Digest
	// Again says that the question was put before, about something else. Edited is the input with which somebody agreed to that,
	// EditedBy who; nil and "" when nobody did.
	Again    bool
	Edited   []byte
	EditedBy string

	// Tool is the tool that an effect in doubt is in, or the program that it is; "" for an effect of the driver itself.
	Tool string
	// Request is what was asked for, as JSON without values of secrets; nil where the log holds its digest alone. Bytes is how long it
	// is in the log. Key is the idempotency key, "" for none; SendBy is the last moment at which it can have been sent.
	Request []byte
	Bytes   int64
	Key     string
	SendBy  time.Time
	// Evidence is what is known of how it ended; nil when its process ended first. Why is why an effect is in doubt that might have been
	// done again, "" for others.
	Evidence *Evidence
	Why      string
	// Crashes is how often the run crashed in a row.
	Crashes int
}

// Need is what a person has to do about an item.
type Need string

// The needs.
const (
	// NeedAnswer: to agree, or not.
	NeedAnswer Need = "answer"
	// NeedVerdict: to say what became of an effect.
	NeedVerdict Need = "verdict"
	// NeedLook: to look at an outcome that came too late to count.
	NeedLook Need = "look"
	// NeedConfirm: to confirm a run that was restored from a backup.
	NeedConfirm Need = "confirm"
	// NeedLimit: to allow more to a run that has taken as much as it may. Text says of what.
	NeedLimit Need = "limit"
	// NeedDiverged: to look at a run whose driver or tool asked for something else than its log holds. Text says for what.
	NeedDiverged Need = "diverged"
	// NeedCrashes: to look at a run that crashed so often in a row that nothing goes on with it by itself. Step is what it was about.
	NeedCrashes Need = "crashes"
)

// Inbox yields what waits for a person, by run, in the order in which it began to wait. What a living process is about is
// not among it, but for the questions. Errors: the journal's; one about a single run names it in the item, and the next runs
// follow.
func (e *Engine) Inbox(ctx context.Context) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		after := ""
		for {
			s, err := e.nextWaiting(ctx, after)
			if err != nil {
				yield(Item{}, err)
				return
			}
			if s == nil {
				return
			}
			after = s.Run
			items, err := e.items(ctx, s)
			if err != nil && !yield(Item{Run: s.Run}, err) {
				return
			}
			for _, i := range items {
				if !yield(i, nil) {
					return
				}
			}
		}
	}
}

// nextWaiting finds the next run with something for a person. The list is not held while the run is looked at.
func (e *Engine) nextWaiting(ctx context.Context, after string) (*journal.State, error) {
	for s, err := range e.cfg.Journal.List(ctx, journal.Query{After: after, Unsettled: true}) {
		if err != nil {
			return nil, err
		}
		if e.WaitsForPerson(&s) {
			return &s, nil
		}
	}
	return nil, nil
}

// InboxOf returns what waits for a person in one run. Errors: journal.ErrNotFound, the journal's.
func (e *Engine) InboxOf(ctx context.Context, run string) ([]Item, error) {
	s, err := e.state(ctx, run)
	if err != nil || s.Imported {
		return nil, err
	}
	return e.items(ctx, s)
}

// standsStill is what a person has to do about a run that stands still as a whole, "" for one that does not.
func (e *Engine) standsStill(s *journal.State) Need {
	switch status := e.Status(s); {
	case status == journal.Limited:
		return NeedLimit
	case status == journal.Diverged:
		return NeedDiverged
	case status == journal.Interrupted && s.Crashes >= maxCrashes:
		return NeedCrashes
	}
	return ""
}

// asksSomebody says whether a step of a run waits for a person's answer.
func asksSomebody(s *journal.State) bool {
	for _, o := range s.Open {
		if o.OnCut == journal.Await && o.Due == 0 && !s.Finished {
			return true
		}
	}
	return false
}

func (e *Engine) items(ctx context.Context, s *journal.State) ([]Item, error) {
	l, err := e.load(ctx, s.Run)
	if err != nil {
		return nil, err
	}
	s = l.state // as it is now
	lives := e.ownerLives(s)
	var items []Item
	for _, step := range s.InOrder() {
		o := s.Open[step]
		past := l.history.Find(step)
		item := Item{Run: s.Run, Step: step, Since: timeOf(past.Intent.Time), Name: past.Intent.Name, Text: past.Intent.Note}
		switch {
		case o.OnCut == journal.Doubt && !o.Unsent && !lives:
			if err := e.describeEffect(ctx, l, past, &item); err != nil {
				return nil, err
			}
		case o.OnCut == journal.Await && o.Due == 0 && !s.Finished:
			if err := e.describeQuestion(ctx, past.Intent, &item); err != nil {
				return nil, err
			}
			edit, err := e.editBefore(ctx, l, step)
			if err != nil {
				return nil, err
			}
			if edit != nil {
				item.Edited, item.EditedBy = edit.Input, edit.By
			}
		default:
			continue
		}
		items = append(items, item)
	}
	if need := e.standsStill(s); need != "" {
		items = append(items, stillItem(l, need))
	}
	if s.Late > 0 {
		items = append(items, Item{Run: s.Run, Need: NeedLook, Since: timeOf(s.Time), Text: "an outcome came too late to count"})
	}
	if s.Unconfirmed {
		items = append(items, Item{Run: s.Run, Need: NeedConfirm, Since: timeOf(s.Time), Text: "the run was restored from a backup"})
	}
	return items, nil
}

// editBefore returns who agreed to a call with another input before the question about it was put again; nil for nobody.
func (e *Engine) editBefore(ctx context.Context, l *loaded, question journal.Step) (*Agreed, error) {
	if question.Asks() == "" || question.Attempt() == 1 {
		return nil, nil
	}
	return e.editOf(ctx, l.state.Run, l.history.Find(question.At(question.Attempt()-1)))
}

// describeQuestion says what a person is asked.
func (e *Engine) describeQuestion(ctx context.Context, intent *journal.Entry, item *Item) error {
	item.Need, item.Until, item.Shown = NeedAnswer, timeOf(intent.Expires), intent.Request
	item.Expired = intent.Expires != 0 && e.cfg.Now().UnixNano() > intent.Expires
	item.Again = intent.Step.Attempt() > 1
	body, err := journal.Body(ctx, e.blobs, *intent)
	if err != nil {
		return err
	}
	if intent.Step.Asks() != "" {
		item.Call = new(Shown)
		if err := toolabi.Decode(body, item.Call); err != nil {
			return damaged(item.Run, err)
		}
		return nil
	}
	var asked toolabi.ApproveRequest
	if intent.Name == toolabi.FuncApprove && toolabi.Decode(body, &asked) == nil {
		item.Detail = asked.Detail
	}
	return nil
}

// describeEffect says what is known of an effect in doubt.
func (e *Engine) describeEffect(ctx context.Context, l *loaded, past *journal.Past, item *Item) error {
	known := uncertainIn(l.state.Run, l.history, item.Step, past)
	item.Need, item.Key, item.SendBy = NeedVerdict, past.Intent.Key, timeOf(past.Intent.SendBy)
	item.Tool, item.Bytes, item.Evidence, item.Why = known.Tool, known.Request, known.Evidence, known.Why
	body, err := journal.Body(ctx, e.blobs, *past.Intent)
	if err != nil {
		return err
	}
	if request, ok := e.ShowRequest(past.Intent.Name, body); ok {
		item.Request = request
	} else if json.Valid(body) { // the input of a program
		item.Request = e.cfg.Secrets.Hide(body)
	}
	return nil
}

// stillItem is a run that stands still as a whole.
func stillItem(l *loaded, need Need) Item {
	s := l.state
	item := Item{Run: s.Run, Need: need, Since: timeOf(s.Time), Text: l.stopped, Crashes: s.Crashes}
	if open := s.InOrder(); need == NeedCrashes {
		item.Text = fmt.Sprintf("it crashed %d times in a row without getting further", s.Crashes)
		if len(open) > 0 {
			item.Step = open[len(open)-1]
			item.Name = s.Open[item.Step].Name
		}
	}
	return item
}
