package journal_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

// full has every field set, so that a field that the codec forgets is found.
func full() journal.Entry {
	d := journal.DigestOf
	return journal.Entry{
		Seq: 7, Time: math.MaxInt64, Kind: journal.Intent, Step: "charge~2/1", Name: "http_send", Class: 3, OnCut: journal.Doubt,
		Module: d([]byte("m")), Request: d([]byte("r")), Key: "k", SendBy: 1, Started: -1, Seed: d([]byte("s")), Owner: "o", Lease: 5,
		Outcome: journal.Fail, Effect: journal.EffectUnknown, Retry: true, Abandon: true, Body: []byte{0, 0xff}, Blob: d([]byte("b")),
		Size: 1 << 40, Refs: []journal.Digest{d([]byte("x")), {}}, By: "somebody", Note: "é\x00", At: 9,
		Due: 10, Expires: 11, Approval: d([]byte("a")), Fuel: 12,
		Writes: []journal.Write{{Space: "s", Key: "k", Value: []byte("v"), Expect: 1}, {Space: "s", Key: "gone", Delete: true, Expect: math.MaxUint64}},
	}
}

func TestEntriesComeBackAsTheyWere(t *testing.T) {
	before := journal.ChainStart("r")
	e := full()
	for i := range reflect.TypeFor[journal.Entry]().NumField() {
		name := reflect.TypeFor[journal.Entry]().Field(i).Name
		if reflect.ValueOf(e).Field(i).IsZero() && name != "Schema" && name != "Hash" && name != "After" {
			t.Errorf("this test leaves out %s", name)
		}
	}
	for _, e := range []journal.Entry{e, {}, {Kind: journal.Created}} {
		record, err := e.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		got, err := journal.Unmarshal(record, before)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, e) {
			t.Errorf("got %+v, want %+v", got, e)
		}
	}
}

func TestMarshalRefusesWhatCouldNotBeReadBack(t *testing.T) {
	for name, change := range map[string]func(*journal.Entry){
		"text that is no UTF-8": func(e *journal.Entry) { e.Note = "\xff" },
		"a step that is none":   func(e *journal.Entry) { e.Step = "\xc3" },
		"too long":              func(e *journal.Entry) { e.Note = strings.Repeat("x", journal.MaxEntry) },
		"too many refs":         func(e *journal.Entry) { e.Refs = make([]journal.Digest, 1<<17+1) },
		"an unknown kind":       func(e *journal.Entry) { e.Kind = 200 },
	} {
		e := full()
		change(&e)
		if _, err := e.Marshal(journal.Digest{}); !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%s: got %v, want %v", name, err, journal.ErrInvalid)
		}
	}
}

// Any single changed bit, a cut, an addition, and an entry of another log or position are found.
func TestUnmarshalFindsEveryChange(t *testing.T) {
	before := journal.ChainStart("r")
	e := full()
	record, err := e.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	bad := [][]byte{nil, {}, append(bytes.Clone(record), 0), append(bytes.Clone(record), record...)}
	for i := range len(record) {
		bad = append(bad, record[:i])
		for bit := range 8 {
			b := bytes.Clone(record)
			b[i] ^= 1 << bit
			bad = append(bad, b)
		}
	}
	for _, b := range bad {
		if _, err := journal.Unmarshal(b, before); !errors.Is(err, journal.ErrDamaged) {
			t.Fatalf("%x: got %v, want %v", b, err, journal.ErrDamaged)
		}
	}
	for _, other := range []journal.Digest{{}, e.Hash, journal.ChainStart("r2")} {
		if _, err := journal.Unmarshal(record, other); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("after another entry: got %v, want %v", err, journal.ErrDamaged)
		}
	}
}

// sealed gives arbitrary bytes a right place in the chain, so that they reach the decoder.
func sealed(body []byte) []byte {
	d := journal.DigestOf(append(make([]byte, 32), body...))
	return append(d[:], body...)
}

func TestUnmarshalIsStrict(t *testing.T) {
	minimal := "\xa4\x00\x01\x01\x00\x02\x00\x03\x01" // schema 1, position 0, time 0, created
	for _, schema := range []string{"\x01", "\x02", "\x03"} {
		body := minimal[:2] + schema + minimal[3:]
		if _, err := journal.Unmarshal(sealed([]byte(body)), journal.Digest{}); err != nil {
			t.Fatalf("the smallest entry: %v", err)
		}
	}
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"empty":                       {"", journal.ErrDamaged},
		"no map":                      {"\x01", journal.ErrDamaged},
		"a field twice":               {"\xa5\x00\x01\x01\x00\x02\x00\x03\x01\x03\x01", journal.ErrDamaged},
		"an unknown field":            {"\xa5\x00\x01\x01\x00\x02\x00\x03\x01\x18\x63\x01", journal.ErrDamaged},
		"fields out of order":         {"\xa4\x01\x00\x00\x01\x02\x00\x03\x01", journal.ErrDamaged},
		"a field missing":             {"\xa3\x00\x01\x01\x00\x03\x01", journal.ErrDamaged},
		"a number too long":           {"\xa4\x00\x01\x01\x18\x00\x02\x00\x03\x01", journal.ErrDamaged},
		"a default spelled out":       {"\xa5\x00\x01\x01\x00\x02\x00\x03\x01\x04\x60", journal.ErrDamaged},
		"null":                        {"\xa4\x00\x01\x01\xf6\x02\x00\x03\x01", journal.ErrDamaged},
		"a float":                     {"\xa4\x00\x01\x01\xf9\x00\x00\x02\x00\x03\x01", journal.ErrDamaged},
		"a tag":                       {"\xa4\x00\x01\x01\x00\x02\xc1\x00\x03\x01", journal.ErrDamaged},
		"an endless map":              {"\xbf\x00\x01\x01\x00\x02\x00\x03\x01\xff", journal.ErrDamaged},
		"text as bytes":               {"\xa5\x00\x01\x01\x00\x02\x00\x03\x01\x04\x41a", journal.ErrDamaged},
		"bad UTF-8":                   {"\xa5\x00\x01\x01\x00\x02\x00\x03\x01\x05\x61\xff", journal.ErrDamaged},
		"a digest too short":          {"\xa5\x00\x01\x01\x00\x02\x00\x03\x01\x08\x41a", journal.ErrDamaged},
		"a huge length":               {"\xa5\x00\x01\x01\x00\x02\x00\x03\x01\x14\x5b\xff\xff\xff\xff\xff\xff\xff\xff", journal.ErrDamaged},
		"a huge array":                {"\xa5\x00\x01\x01\x00\x02\x00\x03\x01\x17\x9b\xff\xff\xff\xff\xff\xff\xff\xff", journal.ErrDamaged},
		"deep":                        {"\xa5\x00\x01\x01\x00\x02\x00\x03\x01\x17" + strings.Repeat("\x81", 1000) + "\x00", journal.ErrDamaged},
		"two joined":                  {minimal + minimal, journal.ErrDamaged},
		"a newer schema":              {"\xa4\x00\x04\x01\x00\x02\x00\x03\x01", journal.ErrNewer},
		"a newer schema, a new field": {"\xa5\x00\x04\x01\x00\x02\x00\x03\x01\x18\x63\x01", journal.ErrNewer},
		"a newer kind":                {"\xa4\x00\x01\x01\x00\x02\x00\x03\x18\xfa", journal.ErrNewer},
	} {
		if _, err := journal.Unmarshal(sealed([]byte(c.body)), journal.Digest{}); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	e := full()
	record, err := e.Marshal(journal.Digest{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(record[32:])
	f.Add([]byte("\xa4\x00\x01\x01\x00\x02\x00\x03\x01"))
	f.Add([]byte("\xbf\x61\x61\x61\x62\xff"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		_, _ = journal.Unmarshal(body, journal.Digest{})
		record := sealed(body)
		e, err := journal.Unmarshal(record, journal.Digest{})
		if err != nil {
			if !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrNewer) {
				t.Errorf("got %v, want that it is damaged or newer", err)
			}
			return
		}
		schema := e.Schema
		again, err := e.Marshal(journal.Digest{})
		if len(body) <= journal.MaxEntry && schema == journal.Schema && (err != nil || !bytes.Equal(again, record)) {
			t.Errorf("%x was read, and is written as %x, %v", record, again, err)
		}
	})
}

func TestStatesComeBackAsTheyWere(t *testing.T) {
	s := fold(t, intent("a", journal.Doubt), void("a"), intent("b", journal.Redo), intent("b/1", journal.Doubt), result("b/1"), late("x"), cancel)
	b, err := journal.MarshalState(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := journal.UnmarshalState(b)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("got %+v, %v, want %+v", got, err, s)
	}
	for i := range b {
		if _, err := journal.UnmarshalState(b[:i]); !errors.Is(err, journal.ErrDamaged) {
			t.Errorf("cut off after %d bytes: got %v, want %v", i, err, journal.ErrDamaged)
		}
	}
}

func FuzzUnmarshalState(f *testing.F) {
	b, err := journal.MarshalState(&journal.State{Run: "r", Len: 1, Open: map[journal.Step]journal.OpenStep{"a": {Seq: 1, OnCut: journal.Doubt}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte{0xa0})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := journal.UnmarshalState(b)
		if err != nil {
			if !errors.Is(err, journal.ErrDamaged) {
				t.Errorf("got %v, want %v", err, journal.ErrDamaged)
			}
			return
		}
		_, _, _ = s.Status(), s.InDoubt(), s.Clone()
	})
}

func TestDigests(t *testing.T) {
	d := journal.DigestOf([]byte("x"))
	if got, err := journal.ParseDigest(d.String()); got != d || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, d)
	}
	for _, s := range []string{"", "00", strings.ToUpper(d.String()), d.String() + "00", d.String()[:63] + "g", strings.Repeat("é", 32)} {
		if _, err := journal.ParseDigest(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}
