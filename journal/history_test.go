package journal_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func history(entries ...journal.Entry) *journal.History {
	h := new(journal.History)
	for i, e := range append([]journal.Entry{created(), claimed(me)}, entries...) {
		e.Seq = uint64(i)
		h.Add(e)
	}
	return h
}

func TestHistoryFindsWhatIsKnownOfAStep(t *testing.T) {
	about := record("evidence")
	about.Step = "b"
	h := history(
		intent("b", journal.Doubt), about, about, void("b"),
		intent("a", journal.Redo), observed("a/1"), observed("a/3"), result("a"),
		intent("b~2", journal.Doubt), intent("c[1]", journal.Await), record("note of the run"),
	)
	describe := func(p *journal.Past) string {
		if p == nil {
			return "nothing"
		}
		return fmt.Sprintf("intent %t, result %t, void %t, open %t, evidence %d, known %d",
			p.Intent != nil, p.Result != nil, p.Void != nil, p.Open(), len(p.Evidence), p.Known().Seq)
	}
	for step, want := range map[journal.Step]string{
		"a":    "intent true, result true, void false, open false, evidence 0, known 6",
		"a/1":  "intent false, result true, void false, open false, evidence 0, known 7",
		"a/2":  "nothing",
		"b":    "intent true, result false, void true, open false, evidence 2, known 2",
		"b~2":  "intent true, result false, void false, open true, evidence 0, known 10",
		"c[1]": "intent true, result false, void false, open true, evidence 0, known 11",
		"c":    "nothing",
	} {
		if got := describe(h.Find(step)); got != want {
			t.Errorf("%s: got %s, want %s", step, got, want)
		}
	}
	for step, want := range map[journal.Step]journal.Step{"b": "b~2", "b~2": "b~2", "a": "a", "none": "none", "none~4": "none"} {
		got, past := h.Latest(step)
		if got != want || past != h.Find(want) {
			t.Errorf("the latest attempt of %s is %s, %s, want %s", step, got, describe(past), want)
		}
	}
	if got := h.Top(); !slices.Equal(got, []journal.Step{"b", "a", "c[1]"}) {
		t.Errorf("the driver's steps are %v", got)
	}
	if h.Children("a") != 3 || h.Children("b") != 0 {
		t.Errorf("children: got %d and %d, want 3 and 0", h.Children("a"), h.Children("b"))
	}
	if h.Created().Name != "test" || h.Finished() != nil {
		t.Errorf("created by %q, finished %v", h.Created().Name, h.Finished())
	}
	h.Add(finished(journal.OK))
	if h.Finished() == nil || h.Finished().Outcome != journal.OK {
		t.Errorf("finished %v", h.Finished())
	}
}

func TestHistoryForgetsWhatWasNotAppended(t *testing.T) {
	log := []journal.Entry{
		intent("a", journal.Redo), intent("a/1", journal.Redo), result("a/1"), observed("a/2"),
		intent("b", journal.Doubt), void("b"), intent("b~2", journal.Doubt),
	}
	h := history(log...)
	h.Forget(intent("never", journal.Redo))
	h.Forget(log[6])
	if got, _ := h.Latest("b"); got != "b" || h.Find("b~2") != nil {
		t.Errorf("the latest attempt of b is %s", got)
	}
	h.Forget(log[5])
	if p := h.Find("b"); p == nil || !p.Open() {
		t.Errorf("without its void b is %+v, want open", p)
	}
	h.Forget(log[3])
	if h.Find("a/2") != nil || h.Children("a") != 1 {
		t.Errorf("%d steps are inside a, want 1", h.Children("a"))
	}
	h.Forget(log[2])
	if p := h.Find("a/1"); p == nil || !p.Open() {
		t.Errorf("without its result a/1 is %+v, want open", p)
	}
	h.Forget(log[1])
	h.Forget(log[0])
	if h.Find("a/1") != nil || h.Find("a") != nil || h.Children("a") != 0 {
		t.Errorf("a is %+v with %d steps inside", h.Find("a"), h.Children("a"))
	}
	if got := h.Top(); !slices.Equal(got, []journal.Step{"b"}) {
		t.Errorf("the driver's steps are %v, want b", got)
	}
}

func TestHistoryFindsTheUsesOfAKey(t *testing.T) {
	first, second, other := intent("a", journal.Redo), intent("a~2", journal.Redo), intent("b", journal.Redo)
	first.Key, second.Key, other.Key = "k", "k", "l"
	h := history(first, void("a"), second, other, intent("c", journal.Await))
	var uses []string
	for _, p := range h.Uses("k") {
		uses = append(uses, fmt.Sprintf("%s, void %t", p.Intent.Step, p.Void != nil))
	}
	slices.Sort(uses)
	if want := []string{"a, void true", "a~2, void false"}; !slices.Equal(uses, want) {
		t.Errorf("uses %q, want %q", uses, want)
	}
	if uses := h.Uses("none"); len(uses) > 0 {
		t.Errorf("%d uses of a key that nobody has", len(uses))
	}
}

func TestHistoryKnowsWhichJournalAnEntryIsFrom(t *testing.T) {
	from := func(name string, id ...byte) journal.Entry {
		e := record(name)
		e.Body = id
		return e
	}
	first, second := journal.Digest{1}, journal.Digest{2}
	h := history(intent("a", journal.Redo), from(journal.RecordOrigin, first[:]...), intent("b", journal.Redo), from(journal.RecordImported, second[:]...), record("note"))
	unsaid := history(intent("a", journal.Redo), from(journal.RecordImported))
	for i, c := range []struct {
		of        *journal.History
		seq       uint64
		id        journal.Digest
		elsewhere bool
	}{
		{h, 0, first, true}, {h, 2, first, true}, {h, 4, second, true}, {h, 6, journal.Digest{}, false},
		{unsaid, 2, journal.Digest{}, true}, {history(), 0, journal.Digest{}, false},
	} {
		if id, elsewhere := c.of.Origin(c.seq); id != c.id || elsewhere != c.elsewhere {
			t.Errorf("%d: entry %d is from %s, %t", i, c.seq, id.Short(), elsewhere)
		}
	}
}
