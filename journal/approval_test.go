package journal_test

import (
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

// question is asked about a step, with digest "shown".
func question(step journal.Step) journal.Entry {
	e := intent(step, journal.Await)
	e.Request, e.Key, e.SendBy = journal.DigestOf([]byte("shown")), "", 0
	return e
}

// yes and no are answers from outside.
func yes(step journal.Step) journal.Entry {
	return journal.Entry{Kind: journal.Result, Step: step, Outcome: journal.OK, By: "somebody"}
}

func no(step journal.Step) journal.Entry {
	return journal.Entry{Kind: journal.Result, Step: step, Outcome: journal.Denied, By: "somebody"}
}

// approved is an intent that uses up a yes to what was shown.
func approved(step journal.Step) journal.Entry {
	e := intent(step, journal.Redo)
	e.Approval = journal.DigestOf([]byte("shown"))
	return e
}

func withdrawn(step journal.Step) journal.Entry {
	e := record(journal.RecordWithdrawn)
	e.Step = step
	return e
}

func TestApprovalsAreForOneThingInTimeAndOnce(t *testing.T) {
	type es = []journal.Entry
	at := func(e journal.Entry, time int64) journal.Entry { e.Time = time; return e }
	until := func(e journal.Entry, time int64) journal.Entry { e.Expires = time; return e }
	other := with(approved("a"), func(e *journal.Entry) { e.Approval = journal.DigestOf([]byte("else")) })
	module := with(approved("a"), func(e *journal.Entry) { e.Module = journal.DigestOf([]byte("module")) })
	denied := with(observed("a"), func(e *journal.Entry) { e.Outcome = journal.Denied })
	for _, c := range []struct {
		name string
		log  es
		next journal.Entry
		want error
	}{
		{"an approval that nobody was asked for", nil, approved("a"), journal.ErrInvalid},
		{"before the answer", es{question("a?")}, approved("a"), journal.ErrInvalid},
		{"past the question", es{question("a?")}, intent("a", journal.Redo), journal.ErrInvalid},
		{"past the answer", es{question("a?"), yes("a?")}, intent("a", journal.Redo), journal.ErrInvalid},
		{"after a no", es{question("a?"), no("a?")}, approved("a"), journal.ErrInvalid},
		{"after a no, unasked", es{question("a?"), no("a?")}, intent("a", journal.Redo), journal.ErrInvalid},
		{"for something else", es{question("a?"), yes("a?")}, other, journal.ErrInvalid},
		{"for another module", es{question("a?"), yes("a?")}, module, journal.ErrInvalid},
		{"for another step", es{question("a?"), yes("a?")}, approved("b"), journal.ErrInvalid},
		{"used after it expired", es{until(question("a?"), 10), yes("a?")}, at(approved("a"), 11), journal.ErrExpired},
		{"answered after it expired", es{until(question("a?"), 10)}, at(yes("a?"), 11), journal.ErrExpired},
		{"used twice", es{question("a?"), yes("a?"), approved("a"), retry(result("a"), journal.EffectNone)}, approved("a~2"), journal.ErrInvalid},
		{"withdrawn", es{question("a?"), yes("a?"), withdrawn("a?")}, approved("a"), journal.ErrInvalid},
		{"of a question that was put again", es{question("a?"), yes("a?"), void("a?"), question("a?~2")}, approved("a"), journal.ErrInvalid},
		{"answered twice", es{question("a?"), yes("a?")}, no("a?"), journal.ErrInvalid},
		{"a question that is done again", nil, intent("a?", journal.Redo), journal.ErrInvalid},
		{"a question put twice", es{question("a?")}, question("a?~2"), journal.ErrInvalid},
		{"a question put again after it was answered", es{question("a?"), yes("a?")}, question("a?~2"), journal.ErrInvalid},
		{"an outcome past the question", es{question("a?")}, observed("a"), journal.ErrInvalid},
		{"a void of a question that is used up", es{question("a?"), yes("a?"), approved("a")}, void("a?"), journal.ErrInvalid},
		{"an expiry of what does not wait", nil, until(intent("a", journal.Redo), 10), journal.ErrInvalid},
		{"a yes of the owner's", es{question("a?")}, with(yes("a?"), func(e *journal.Entry) { e.Owner = me }), journal.ErrInvalid},
		{"a yes of the owner's to what expires", es{until(question("a?"), 10)}, with(yes("a?"), func(e *journal.Entry) { e.Owner = me }), journal.ErrInvalid},
		{"the clock's answer before its time", es{with(question("nap"), func(e *journal.Entry) { e.Due = 10 })}, at(yes("nap"), 9), journal.ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, fold(t, c.log...), c.next, c.want) })
	}
	for name, log := range map[string]es{
		"a yes":                                  {question("a?"), yes("a?"), approved("a"), result("a")},
		"a yes at the last moment":               {until(question("a?"), 10), at(yes("a?"), 10), at(approved("a"), 10)},
		"a no after it expired":                  {until(question("a?"), 10), at(no("a?"), 11), at(denied, 11)},
		"a refusal after a no":                   {question("a?"), no("a?"), denied, intent("b", journal.Redo)},
		"another attempt of what was agreed to":  {question("a?"), yes("a?"), approved("a"), retry(result("a"), journal.EffectNone), intent("a~2", journal.Redo)},
		"a question put again":                   {question("a?"), void("a?"), question("a?~2"), yes("a?~2"), approved("a")},
		"a question put again after its answer":  {question("a?"), yes("a?"), void("a?"), question("a?~2"), yes("a?~2"), approved("a")},
		"two questions answered in either order": {question("a?"), question("b?"), yes("b?"), no("a?"), approved("b")},
		"a question about a step inside":         {intent("a", journal.Redo), question("a/1?"), yes("a/1?"), approved("a/1")},
		"a no of the owner's":                    {question("a?"), with(no("a?"), func(e *journal.Entry) { e.Owner = me })},
		"the clock's answer, by the owner":       {with(question("nap"), func(e *journal.Entry) { e.Due = 10 }), at(with(yes("nap"), func(e *journal.Entry) { e.Owner = me }), 10)},
		"the clock's answer in time":             {with(question("nap"), func(e *journal.Entry) { e.Due = 10 }), at(yes("nap"), 10)},
	} {
		t.Run(name, func(t *testing.T) { fold(t, log...) })
	}
}

func TestAnAnswerWakesARun(t *testing.T) {
	waits := with(released, func(e *journal.Entry) { e.Due = 77 })
	s := fold(t, question("a?"), waits)
	if s.Woken || s.Due != 77 || s.Status() != journal.Waiting {
		t.Errorf("before the answer: %+v", s)
	}
	if s = fold(t, question("a?"), waits, yes("a?")); !s.Woken {
		t.Error("an answer does not wake the run")
	}
	if s = fold(t, question("a?"), yes("a?"), waits); !s.Woken {
		t.Error("an answer that came while the run was driven is lost on whoever waits")
	}
	own := no("a?")
	own.By, own.Owner = "", me
	if s = fold(t, question("a?"), own, waits); s.Woken {
		t.Error("what the run itself has answered wakes it")
	}
	if s = fold(t, question("a?"), waits, yes("a?"), claimed(me)); s.Woken || s.Due != 0 {
		t.Errorf("a claim leaves %+v", s)
	}
}

// The evidence that nothing left can come from an owner that was taken over, while the next one stops because it is in doubt.
func TestEvidenceThatNothingLeftWakesTheRun(t *testing.T) {
	uncertain := with(released, func(e *journal.Entry) { e.Name = journal.StopUncertain })
	unsent := with(record(journal.RecordEvidence), func(e *journal.Entry) { e.Step, e.Effect = "a", journal.EffectNone })
	for name, log := range map[string][]journal.Entry{
		"before the release": {intent("a", journal.Doubt), unsent, uncertain},
		"after it":           {intent("a", journal.Doubt), uncertain, unsent},
	} {
		if s := fold(t, log...); !s.Woken || len(s.InDoubt()) > 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	sent := with(unsent, func(e *journal.Entry) { e.Effect = journal.EffectUnknown })
	if s := fold(t, intent("a", journal.Doubt), uncertain, sent); s.Woken {
		t.Error("evidence that says nothing wakes the run")
	}
}
