package journal_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func TestWhatIsKeptOfARemovedRunIsNoState(t *testing.T) {
	r := &journal.Removed{Run: "r", At: 5, Ended: 4, Outcome: journal.Fail, Len: 3, Head: journal.DigestOf(nil), Rest: true}
	b, err := journal.MarshalRemoved(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := journal.UnmarshalRemoved("r", b)
	if err != nil || got.Run != "r" || got.At != 5 || got.Ended != 4 || got.Outcome != journal.Fail || got.Len != 3 || got.Head != r.Head || !got.Rest || got.Lost {
		t.Errorf("got %+v, %v", got, err)
	}
	if !errors.Is(got, journal.ErrRemoved) {
		t.Error("it is no ErrRemoved")
	}
	if s, err := journal.UnmarshalState(b); err == nil {
		t.Errorf("it is read as a folded log: %+v", s)
	}
	s, err := journal.MarshalState(&journal.State{Run: "r", Len: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.UnmarshalRemoved("r", s); !errors.Is(err, journal.ErrDamaged) {
		t.Errorf("a folded log is read as what is kept of a removed run: %v", err)
	}
}

func FuzzUnmarshalRemoved(f *testing.F) {
	for _, r := range []journal.Removed{{}, {At: 1 << 60, Ended: -1, Outcome: journal.OK, Len: 1 << 63, Lost: true}} {
		b, err := journal.MarshalRemoved(&r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("\xa1\x00\x02"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := journal.UnmarshalRemoved("r", b)
		if err != nil {
			if !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrNewer) {
				t.Errorf("got %v", err)
			}
			return
		}
		if again, err := journal.MarshalRemoved(r); err != nil || len(again) > len(b) || !bytes.Equal(again[:1], b[:1]) && len(again) == len(b) {
			t.Errorf("%x becomes %x, %v", b, again, err)
		}
	})
}
