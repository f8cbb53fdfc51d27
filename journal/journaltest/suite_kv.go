package journaltest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

func (m Maker) testKV(t *testing.T) {
	t.Run("versions", m.kvVersions)
	t.Run("own writes in one append", m.kvOwn)
	t.Run("stale between runs", m.kvStale)
	t.Run("scan", m.kvScan)
}

// write appends one record with writes to a run.
func write(t *testing.T, j journal.Journal, run string, writes ...journal.Write) {
	t.Helper()
	n := state(t, j, run).Len
	mustAppend(t, j, run, n, record(int64(n), "write", writes...))
}

func (m Maker) kvVersions(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	get := func(want string) {
		t.Helper()
		v, version, err := j.Get(t.Context(), "space", "key")
		got := fmt.Sprintf("%q %d", v, version)
		if errors.Is(err, journal.ErrNotFound) {
			got = fmt.Sprintf("none %d", version)
		} else if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	get("none 0")
	write(t, j, "r", journal.Write{Space: "space", Key: "key", Value: []byte("a")})
	get(`"a" 1`)
	refuse(t, j, journal.ErrStale, "r", 3, record(9, "x", journal.Write{Space: "space", Key: "key"}))
	refuse(t, j, journal.ErrStale, "r", 3, record(9, "x", journal.Write{Space: "space", Key: "key", Expect: 2}))
	write(t, j, "r", journal.Write{Space: "space", Key: "key", Expect: 1})
	get(`"" 2`)
	write(t, j, "r", journal.Write{Space: "space", Key: "key", Delete: true, Expect: 2})
	get("none 3")
	refuse(t, j, journal.ErrStale, "r", 5, record(9, "x", journal.Write{Space: "space", Key: "key", Expect: 3}))
	write(t, j, "r", journal.Write{Space: "space", Key: "key", Value: []byte("b")})
	get(`"b" 4`)
	if _, _, err := j.Get(t.Context(), "spac", "ekey"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a key of another space: got %v, want %v", err, journal.ErrNotFound)
	}
}

func (m Maker) kvOwn(t *testing.T) {
	j := m.open(t)
	begin(t, j, "r")
	w := func(value string, expect uint64) journal.Write {
		return journal.Write{Space: "s", Key: "k", Value: []byte(value), Expect: expect}
	}
	gone := journal.Write{Space: "s", Key: "k", Delete: true, Expect: 2}
	mustAppend(t, j, "r", 2, record(3, "a", w("1", 0), w("2", 1), gone), record(4, "b", w("4", 0)), record(5, "c", w("5", 4)))
	if v, version, err := j.Get(t.Context(), "s", "k"); string(v) != "5" || version != 5 || err != nil {
		t.Errorf("got %q %d %v, want 5 in version 5", v, version, err)
	}
	refuse(t, j, journal.ErrStale, "r", 5, record(6, "a", w("6", 5), w("7", 5)))
	if v, _, _ := j.Get(t.Context(), "s", "k"); string(v) != "5" {
		t.Errorf("a refused append wrote %q", v)
	}
}

func (m Maker) kvStale(t *testing.T) {
	j := m.open(t)
	begin(t, j, "a")
	begin(t, j, "b")
	write(t, j, "a", journal.Write{Space: "s", Key: "k", Value: []byte("a")})
	refuse(t, j, journal.ErrStale, "b", 2, record(3, "x", journal.Write{Space: "s", Key: "k", Value: []byte("b")}))
	write(t, j, "b", journal.Write{Space: "s", Key: "k", Value: []byte("b"), Expect: 1})
	refuse(t, j, journal.ErrStale, "a", 3, record(9, "x", journal.Write{Space: "s", Key: "k", Value: []byte("a"), Expect: 1}))
}

func (m Maker) kvScan(t *testing.T) {
	const n = 300
	j := m.open(t)
	begin(t, j, "r")
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("k%03d", i))
	}
	for _, key := range slices.Backward(all) {
		write(t, j, "r", journal.Write{Space: "s", Key: key, Value: []byte("value of " + key)})
	}
	write(t, j, "r", journal.Write{Space: "s", Key: "k100", Delete: true, Expect: 1},
		journal.Write{Space: "s\x00", Key: "k", Value: []byte("x")}, journal.Write{Space: "t", Key: "k000", Value: []byte("x")},
		journal.Write{Space: "s", Key: "\u00ffz", Value: []byte("x")})
	live := slices.Delete(slices.Clone(all), 100, 101)
	for _, c := range []struct {
		space, prefix, after string
		want                 []string
	}{
		{"s", "k", "", live}, {"s", "k1", "", live[100:199]}, {"s", "k299", "", live[298:]}, {"s", "k100", "", nil},
		{"s", "", "", append(slices.Clone(live), "\u00ffz")}, {"s", "\xc3", "", []string{"\u00ffz"}}, {"", "", "", nil}, {"s\x00", "", "", []string{"k"}}, {"u", "", "", nil},
		{"s", "k", "k150", live[150:]}, {"s", "k1", "k100", live[100:199]}, {"s", "k1", "a", live[100:199]}, {"s", "k1", "k199", nil}, {"s", "k1", "z", nil},
		{"s", "", "k299", []string{"\u00ffz"}}, {"s", "k", "k29", live[289:]}, {"s", "k", "k150\x00", live[150:]}, {"s", "", "\u00ffz", nil}, {"s\x00", "", "k", nil}, {"s", "", "\xff", nil},
	} {
		var got []string
		for item, err := range j.Scan(t.Context(), c.space, c.prefix, c.after) {
			if err != nil {
				t.Fatal(err)
			}
			if item.Version != 1 || (item.Key[0] == 'k' && c.space == "s" && string(item.Value) != "value of "+item.Key) {
				t.Errorf("scan of %q: key %q has value %q in version %d", c.space, item.Key, item.Value, item.Version)
			}
			got = append(got, item.Key)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("scan of %q with %q behind %q: got %d keys %.60q, want %d", c.space, c.prefix, c.after, len(got), got, len(c.want))
		}
	}
}
