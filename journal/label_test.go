package journal_test

import (
	"errors"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func TestLabelsAreKeyAndValue(t *testing.T) {
	long := strings.Repeat("k", journal.MaxLabelKey)
	for text, ok := range map[string]bool{
		"a=b": true, "a.b/c-d_9=x y=z": true, "team=Lager Süd": true, "a=": true, long + "=v": true, "a=" + strings.Repeat("v", journal.MaxLabelValue): true,
		"": false, "a": false, "=b": false, "A=b": false, "9a=b": false, "a b=c": false, long + "k=v": false, "a=" + strings.Repeat("v", journal.MaxLabelValue+1): false,
		"a=b\nc": false, "a=\x1b[31m": false, "a=\u202e": false, "a=\xff": false, "a= b": false, "a=b ": false, "a= ": false,
	} {
		if _, _, err := journal.ParseLabel(text); (err == nil) != ok {
			t.Errorf("%.80q: %v", text, err)
		}
	}
}

func TestARunHasTheLabelsOfItsLog(t *testing.T) {
	s := &journal.State{Run: "r"}
	apply := func(e journal.Entry, want error) {
		t.Helper()
		e.Seq, e.Schema, e.Time = s.Len, max(e.Schema, journal.Schema), 1
		if e.Name == journal.RecordLabel && e.By == "an earlier version" {
			e.Schema = 2
		}
		if err := s.Apply(e); !errors.Is(err, want) {
			t.Errorf("%s %q: got %v, want %v", e.Kind, e.Note, err, want)
		}
	}
	apply(created(), nil)
	apply(journal.Label("env", "test"), nil)
	apply(claimed(me), nil)
	apply(journal.Entry{Kind: journal.Record, Name: journal.RecordLabel, Note: "no label", By: "an earlier version"}, nil)
	apply(journal.Label("Env", "test"), journal.ErrInvalid)
	inside := journal.Label("env", "step")
	inside.Step = "a"
	apply(inside, journal.ErrInvalid)
	apply(finished(journal.OK), nil)
	apply(journal.Label("env", "live"), nil)
	apply(journal.Label("seen", "yes"), nil)
	apply(journal.Label("seen", ""), nil)
	apply(journal.Label("nosuch", ""), nil)
	before := s.Clone()
	for i := range journal.MaxLabels - 1 {
		apply(journal.Label("n"+strconv.Itoa(i), "x"), nil)
	}
	apply(journal.Label("more", "x"), journal.ErrInvalid)
	apply(journal.Label("n0", "y"), nil)
	apply(journal.Label("n0", ""), nil)
	apply(journal.Label("more", "x"), nil)
	if want := map[string]string{"env": "live"}; !maps.Equal(before.Labels, want) {
		t.Errorf("the copy has the labels %v, want %v", before.Labels, want)
	}
	if s.Woken || s.Status() != journal.Done {
		t.Errorf("labels have changed the run: %+v", s)
	}
	b, err := journal.MarshalState(s)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := journal.UnmarshalState(b); err != nil || !maps.Equal(again.Labels, s.Labels) || again.Same(s) != nil {
		t.Errorf("read back with %v: %v", again.Labels, err)
	}
}
