package journal_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func with(e journal.Entry, change func(*journal.Entry)) journal.Entry {
	change(&e)
	return e
}

func TestRulesRefuse(t *testing.T) {
	type es = []journal.Entry
	for _, c := range []struct {
		name string
		log  es
		next journal.Entry
		want error
	}{
		{"a second beginning", nil, created(), journal.ErrInvalid},
		{"an unknown kind", nil, journal.Entry{Kind: 99}, journal.ErrInvalid},
		{"an earlier time", es{with(record("x"), func(e *journal.Entry) { e.Time = 10 })}, with(record("y"), func(e *journal.Entry) { e.Time = 9 }), journal.ErrInvalid},
		{"a claim by nobody", nil, claimed(""), journal.ErrInvalid},
		{"a release without a reason", nil, with(released, func(e *journal.Entry) { e.Name = "" }), journal.ErrInvalid},

		{"an intent of nobody", nil, with(intent("a", journal.Redo), func(e *journal.Entry) { e.Owner = "" }), journal.ErrInvalid},
		{"an intent of another owner", nil, with(intent("a", journal.Redo), func(e *journal.Entry) { e.Owner = "owner-2" }), journal.ErrFenced},
		{"an intent after another claim", es{claimed("owner-2")}, intent("a", journal.Redo), journal.ErrFenced},
		{"a result after another claim", es{intent("a", journal.Doubt), claimed("owner-2")}, result("a"), journal.ErrFenced},
		{"a void after another claim", es{intent("a", journal.Doubt), claimed("owner-2")}, void("a"), journal.ErrFenced},
		{"an end after another claim", es{claimed("owner-2")}, finished(journal.OK), journal.ErrFenced},
		{"an intent after the release", es{released}, intent("a", journal.Redo), journal.ErrFenced},

		{"an intent that does not say what a cut means", nil, intent("a", 0), journal.ErrInvalid},
		{"an intent with an unknown meaning", nil, intent("a", 4), journal.ErrInvalid},
		{"an intent of nothing", nil, with(intent("a", journal.Redo), func(e *journal.Entry) { e.Name = "" }), journal.ErrInvalid},
		{"an intent without a request", nil, with(intent("a", journal.Redo), func(e *journal.Entry) { e.Request = journal.Digest{} }), journal.ErrInvalid},
		{"an effect without a key", nil, with(intent("a", journal.Doubt), func(e *journal.Entry) { e.Key = "" }), journal.ErrInvalid},
		{"a module that is entered without a last moment", nil, with(intent("a", journal.Doubt), func(e *journal.Entry) {
			e.Key, e.SendBy, e.Module = "", 0, journal.DigestOf([]byte("m"))
		}), journal.ErrInvalid},
		{"fuel of an intent", nil, with(intent("a", journal.Redo), func(e *journal.Entry) { e.Fuel = 1 }), journal.ErrInvalid},
		{"an intent with a bad step", nil, intent("a//1", journal.Redo), journal.ErrInvalid},
		{"an intent without a step", nil, intent("", journal.Redo), journal.ErrInvalid},
		{"an intent twice", es{intent("a", journal.Redo)}, intent("a", journal.Redo), journal.ErrExists},
		{"a step inside none", nil, intent("a/1", journal.Redo), journal.ErrInvalid},
		{"a step inside what waits", es{intent("a", journal.Await)}, intent("a/1", journal.Redo), journal.ErrInvalid},
		{"a step inside what is done", es{intent("a", journal.Redo), result("a")}, intent("a/1", journal.Redo), journal.ErrInvalid},

		{"an effect without a last moment", nil, with(intent("a", journal.Doubt), func(e *journal.Entry) { e.SendBy = 0 }), journal.ErrInvalid},
		{"an effect that may outlast the lease", es{with(claimed(me), func(e *journal.Entry) { e.Lease = 100 })}, with(intent("a", journal.Doubt), func(e *journal.Entry) { e.SendBy = 101 }), journal.ErrInvalid},
		{"a step after a late outcome", es{late("a")}, intent("b", journal.Redo), journal.ErrLate},
		{"an end after a late outcome", es{late("a")}, finished(journal.OK), journal.ErrLate},
		{"an intent after cancel", es{cancel}, intent("a", journal.Redo), journal.ErrCancelled},
		{"a claim of what is driven elsewhere", es{record(journal.RecordImported)}, claimed("owner-2"), journal.ErrImported},
		{"a step of what is driven elsewhere", es{record(journal.RecordImported)}, intent("a", journal.Redo), journal.ErrFenced},
		{"an effect after restore", es{restored, claimed(me)}, intent("a", journal.Doubt), journal.ErrUnconfirmed},

		{"a result without an intent", nil, result("a"), journal.ErrInvalid},
		{"a result twice", es{intent("a", journal.Doubt), result("a")}, result("a"), journal.ErrInvalid},
		{"a result without an outcome", es{intent("a", journal.Redo)}, with(result("a"), func(e *journal.Entry) { e.Outcome = 0 }), journal.ErrInvalid},
		{"a step that is cancelled", es{intent("a", journal.Redo)}, with(result("a"), func(e *journal.Entry) { e.Outcome = journal.Cancelled }), journal.ErrInvalid},
		{"a result that does not know", es{intent("a", journal.Doubt)}, with(result("a"), func(e *journal.Entry) { e.Effect = journal.EffectUnknown }), journal.ErrInvalid},
		{"a result over an open step", es{intent("a", journal.Redo), intent("a/1", journal.Doubt)}, result("a"), journal.ErrInvalid},
		{"an observation without a request", nil, with(observed("a"), func(e *journal.Entry) { e.Request = journal.Digest{} }), journal.ErrInvalid},

		{"a second attempt of nothing", nil, intent("a~2", journal.Redo), journal.ErrInvalid},
		{"a second attempt beside the first", es{intent("a", journal.Redo)}, intent("a~2", journal.Redo), journal.ErrInvalid},
		{"a second attempt after success", es{intent("a", journal.Doubt), result("a")}, intent("a~2", journal.Redo), journal.ErrInvalid},
		{"a third attempt after the first", es{intent("a", journal.Doubt), void("a")}, intent("a~3", journal.Redo), journal.ErrInvalid},
		{"a second attempt twice", es{intent("a", journal.Doubt), void("a"), intent("a~2", journal.Doubt), result("a~2")}, intent("a~2", journal.Doubt), journal.ErrInvalid},
		{"a retry of what took place", es{intent("a", journal.Doubt)}, retry(result("a"), journal.EffectApplied), journal.ErrInvalid},
		{"a retry around what took place", es{intent("a", journal.Redo), intent("a/1", journal.Doubt), result("a/1")}, retry(result("a"), journal.EffectNone), journal.ErrInvalid},
		{"a retry around what took place further in", es{
			intent("a", journal.Redo), intent("a/1", journal.Redo), intent("a/1/1", journal.Doubt), result("a/1/1"), result("a/1"),
		}, retry(result("a"), journal.EffectNone), journal.ErrInvalid},

		{"a void of nothing", nil, void("a"), journal.ErrInvalid},
		{"a void of what is done", es{intent("a", journal.Doubt), result("a")}, void("a"), journal.ErrInvalid},
		{"a void around what took place", es{intent("a", journal.Redo), intent("a/1", journal.Doubt), result("a/1")}, void("a"), journal.ErrInvalid},
		{"a void over an open step", es{intent("a", journal.Redo), intent("a/1", journal.Doubt)}, void("a"), journal.ErrInvalid},
		{"success that permits another attempt", es{intent("a", journal.Redo)}, with(result("a"), func(e *journal.Entry) { e.Retry = true }), journal.ErrInvalid},
		{"an unknown effect", es{intent("a", journal.Redo)}, with(result("a"), func(e *journal.Entry) { e.Effect = 9 }), journal.ErrInvalid},
		{"late without an outcome", nil, with(late("a"), func(e *journal.Entry) { e.Outcome = 0 }), journal.ErrInvalid},

		{"an end without an outcome", nil, finished(0), journal.ErrInvalid},
		{"a denied end", nil, finished(journal.Denied), journal.ErrInvalid},
		{"a cancelled end that nobody asked for", nil, finished(journal.Cancelled), journal.ErrInvalid},
		{"success in doubt", es{intent("a", journal.Doubt)}, finished(journal.OK), journal.ErrInvalid},
		{"failure in doubt", es{intent("a", journal.Doubt)}, finished(journal.Fail), journal.ErrInvalid},
		{"success with an open step", es{intent("a", journal.Redo)}, finished(journal.OK), journal.ErrInvalid},
		{"a step after the end", es{finished(journal.OK)}, intent("a", journal.Redo), journal.ErrClosed},
		{"a claim after the end", es{finished(journal.OK)}, claimed("owner-2"), journal.ErrClosed},
		{"a cancel after the end", es{finished(journal.OK)}, cancel, journal.ErrClosed},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, fold(t, c.log...), c.next, c.want) })
	}
}

func TestALogBeginsWithCreated(t *testing.T) {
	s := &journal.State{Run: "r"}
	refused(t, s, claimed(me), journal.ErrInvalid)
	refused(t, s, with(created(), func(e *journal.Entry) { e.Name = "" }), journal.ErrInvalid)
	refused(t, &journal.State{Run: "Not A Run"}, created(), journal.ErrInvalid)
	if err := s.Apply(with(created(), func(e *journal.Entry) { e.Seq = 1 })); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("at another position: got %v, want %v", err, journal.ErrInvalid)
	}
}

func TestRulesAllow(t *testing.T) {
	type es = []journal.Entry
	abandoned := with(finished(journal.Fail), func(e *journal.Entry) { e.Abandon = true })
	answer := with(result("ask"), func(e *journal.Entry) { e.Owner = "" })
	denied := with(observed("a"), func(e *journal.Entry) { e.Outcome, e.OnCut = journal.Denied, journal.Doubt })
	for name, log := range map[string]es{
		"a result after cancel":              {intent("a", journal.Doubt), cancel, result("a"), finished(journal.Cancelled)},
		"an end in doubt by cancel":          {intent("a", journal.Doubt), cancel, finished(journal.Cancelled)},
		"an end in doubt by abandoning":      {intent("a", journal.Doubt), abandoned},
		"failure with an open step":          {intent("a", journal.Redo), finished(journal.Fail)},
		"a step after acknowledging":         {late("a"), record(journal.RecordAcknowledged), intent("b", journal.Redo)},
		"a note after the end":               {finished(journal.OK), record("note")},
		"late after the end":                 {finished(journal.OK), late("a"), late("a")},
		"an answer from outside":             {intent("ask", journal.Await), released, answer},
		"an answer under another owner":      {intent("ask", journal.Await), claimed("owner-2"), answer},
		"a denial without an intent":         {denied},
		"a read without an intent":           {intent("a", journal.Redo), observed("a/1"), result("a")},
		"a void and another attempt":         {intent("a", journal.Doubt), void("a"), intent("a~2", journal.Doubt), result("a~2")},
		"a void of what may be repeated":     {intent("a", journal.Redo), void("a"), intent("a~2", journal.Redo)},
		"a retry where nothing took place":   {intent("a", journal.Doubt), retry(result("a"), journal.EffectNone), intent("a~2", journal.Doubt)},
		"a retry around such a step":         {intent("a", journal.Redo), intent("a/1", journal.Doubt), retry(result("a/1"), journal.EffectNone), retry(result("a"), journal.EffectNone), intent("a~2", journal.Redo), intent("a~2/1", journal.Doubt)},
		"the same step in another run":       {intent("a", journal.Doubt), result("a"), intent("a[1]", journal.Doubt), result("a[1]")},
		"an effect after confirming":         {restored, record(journal.RecordConfirmed), claimed(me), intent("a", journal.Doubt)},
		"what may be repeated after restore": {restored, claimed(me), intent("a", journal.Redo), intent("a/1", journal.Redo)},
		"evidence and cancel from anyone":    {intent("a", journal.Doubt), claimed("owner-2"), record("evidence"), cancel, late("a")},
		"a module that must not be entered twice, which is given no key": {with(intent("a", journal.Doubt), func(e *journal.Entry) {
			e.Key, e.Module = "", journal.DigestOf([]byte("m"))
		})},
		"a claim by the same owner once more": {claimed(me), intent("a", journal.Doubt)},
	} {
		t.Run(name, func(t *testing.T) { fold(t, log...) })
	}
}

func TestStateFoldsTheLog(t *testing.T) {
	s := fold(t, intent("b", journal.Doubt), intent("a", journal.Doubt), intent("c", journal.Redo))
	if got, want := s.InDoubt(), []journal.Step{"b", "a"}; !slices.Equal(got, want) {
		t.Errorf("in doubt are %v, want %v in the order of their intents", got, want)
	}
	if s.Len != 5 || s.Driver != "test" || s.Owner != me || len(s.Open) != 3 {
		t.Errorf("the state is %+v", s)
	}
	c := s.Clone()
	e := result("a")
	e.Seq = c.Len
	if err := c.Apply(e); err != nil {
		t.Fatal(err)
	}
	if len(s.Open) != 3 || len(c.Open) != 2 || c.Steps != 1 {
		t.Errorf("after a result in a copy %d steps are open in the original and %d in the copy", len(s.Open), len(c.Open))
	}
}

// Evidence in a backup says nothing about what was done after it was made.
func TestARestoredLogDoesNotKnowThatNothingWasSent(t *testing.T) {
	unsent := with(record(journal.RecordEvidence), func(e *journal.Entry) { e.Step, e.Effect = "a", journal.EffectNone })
	if s := fold(t, intent("a", journal.Doubt), unsent); len(s.InDoubt()) != 0 {
		t.Errorf("in doubt are %v", s.InDoubt())
	}
	if s := fold(t, intent("a", journal.Doubt), unsent, restored); !slices.Equal(s.InDoubt(), []journal.Step{"a"}) {
		t.Errorf("after restoring %v are in doubt", s.InDoubt())
	}
}

func TestSomebodySettlesWhatAClosedRunLeftInDoubt(t *testing.T) {
	log := []journal.Entry{intent("a", journal.Doubt), cancel, finished(journal.Cancelled)}
	settled := with(late("a"), func(e *journal.Entry) { e.By = "somebody" })
	if got := fold(t, append(log, settled)...); len(got.InDoubt()) != 0 || got.Late != 0 {
		t.Errorf("settled by a person %v are in doubt, %d late", got.InDoubt(), got.Late)
	}
	if got := fold(t, append(log, late("a"))...); len(got.InDoubt()) != 1 || got.Late != 1 {
		t.Errorf("after a late outcome %v are in doubt, %d late", got.InDoubt(), got.Late)
	}
}

func TestCrashesAreCountedUntilThereIsProgress(t *testing.T) {
	for _, c := range []struct {
		log  []journal.Entry
		want int
	}{
		{nil, 0},
		{[]journal.Entry{claimed(me)}, 1},
		{[]journal.Entry{claimed(me), claimed(me)}, 2},
		{[]journal.Entry{claimed(me), intent("a", journal.Doubt), claimed(me)}, 2},
		{[]journal.Entry{claimed(me), intent("a", journal.Doubt), result("a")}, 0},
		{[]journal.Entry{intent("a", journal.Doubt), result("a"), claimed(me)}, 0},
		{[]journal.Entry{released, claimed(me)}, 0},
		{[]journal.Entry{claimed(me), released, claimed(me)}, 1}, // a release is no progress
		{[]journal.Entry{claimed(me), restored, claimed(me)}, 1},
	} {
		s := fold(t, c.log...)
		if s.Crashes != c.want || s.Fuses() != (c.want == 0) {
			t.Errorf("after %d entries %d crashes are counted, want %d", len(c.log), s.Crashes, c.want)
		}
	}
}

func TestStatus(t *testing.T) {
	stop := func(why string) journal.Entry { return with(released, func(e *journal.Entry) { e.Name = why }) }
	for _, c := range []struct {
		log  []journal.Entry
		want journal.Status
	}{
		{nil, journal.Running},
		{[]journal.Entry{intent("a", journal.Doubt)}, journal.Running},
		{[]journal.Entry{stop(journal.StopWaiting)}, journal.Waiting},
		{[]journal.Entry{stop(journal.StopDiverged)}, journal.Diverged},
		{[]journal.Entry{stop(journal.StopInterrupted)}, journal.Interrupted},
		{[]journal.Entry{stop(journal.StopUncertain)}, journal.Uncertain},
		{[]journal.Entry{intent("a", journal.Doubt), stop(journal.StopInterrupted)}, journal.Uncertain},
		{[]journal.Entry{late("a"), stop(journal.StopWaiting)}, journal.Uncertain},
		{[]journal.Entry{late("a"), record(journal.RecordAcknowledged), stop(journal.StopWaiting)}, journal.Waiting},
		{[]journal.Entry{finished(journal.OK)}, journal.Done},
		{[]journal.Entry{finished(journal.OK), late("a")}, journal.Done},
		{[]journal.Entry{finished(journal.Fail)}, journal.Failed},
		{[]journal.Entry{cancel, finished(journal.Cancelled)}, journal.CancelledUp},
	} {
		if got := fold(t, c.log...).Status(); got != c.want {
			t.Errorf("after %v: got %s, want %s", c.log, got, c.want)
		}
	}
}
