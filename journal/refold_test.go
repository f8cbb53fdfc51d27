package journal_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

// kept is a log as a store keeps it, whether the rules allow it or not.
func kept(t *testing.T, run string, entries ...journal.Entry) (records [][]byte) {
	t.Helper()
	before := journal.ChainStart(run)
	for i, e := range entries {
		e.Seq = uint64(i)
		r, err := e.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		records, before = append(records, r), e.Hash
	}
	return records
}

func TestRefoldBelievesNoRecord(t *testing.T) {
	good := kept(t, "r", created(), claimed(me), intent("a", journal.Redo), result("a"))
	flipped := bytes.Clone(good[1])
	flipped[len(flipped)-1] ^= 1
	broken := errors.New("the store is broken")
	for name, c := range map[string]struct {
		run     string
		records [][]byte
		hasErr  error
		want    error
	}{
		"whole":           {"r", good, nil, nil},
		"of another run":  {"s", good, nil, journal.ErrDamaged},
		"a gap":           {"r", [][]byte{good[0], good[2]}, nil, journal.ErrDamaged},
		"flipped":         {"r", [][]byte{good[0], flipped}, nil, journal.ErrDamaged},
		"short":           {"r", [][]byte{good[0][:20]}, nil, journal.ErrDamaged},
		"against a rule":  {"r", kept(t, "r", created(), intent("a", journal.Redo)), nil, journal.ErrDamaged},
		"a step again":    {"r", kept(t, "r", created(), claimed(me), observed("a"), observed("a")), nil, journal.ErrDamaged},
		"no intent":       {"r", kept(t, "r", created(), claimed(me), result("a")), nil, journal.ErrDamaged},
		"a blob and body": {"r", kept(t, "r", created(), journal.Entry{Kind: journal.Record, Name: "x", Body: []byte("b"), Blob: journal.DigestOf(nil), Size: 1}), nil, journal.ErrDamaged},
		"a broken store":  {"r", good, broken, broken},
	} {
		s := &journal.State{Run: c.run}
		seen := map[string]bool{}
		var err error
		for _, record := range c.records {
			before := s.Clone()
			var e journal.Entry
			e, err = s.Refold(record, func(step journal.Step, phase uint8) (bool, error) {
				return seen[string(step)+string(rune(phase))], c.hasErr
			})
			if err != nil {
				if !reflect.DeepEqual(s, before) {
					t.Errorf("%s: the state has changed from %+v to %+v", name, before, s)
				}
				break
			}
			seen[string(e.Step)+string(rune(e.Phase()))] = true
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if err == nil && (s.Len != 4 || s.Head != journal.Digest(good[3][:32])) {
			t.Errorf("%s: it folds to %d entries", name, s.Len)
		}
	}
}

func TestChainedHoldsARecordAgainstTheOneBefore(t *testing.T) {
	records := kept(t, "r", created(), record("x"))
	first, err := journal.Chained(records[0], journal.ChainStart("r"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Chained(records[1], first); err != nil {
		t.Error(err)
	}
	for name, r := range map[string][]byte{"another place": records[0], "short": records[1][:32], "empty": nil} {
		if _, err := journal.Chained(r, first); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("%s: %v, want %v", name, err, journal.ErrDamaged)
		}
	}
}
