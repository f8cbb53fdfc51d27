package runtime

import (
	"context"
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
	// Since is when it began to wait; Until is the last moment at which a yes counts, zero for any time.
	Since, Until time.Time
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
			item.Need = NeedVerdict
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
