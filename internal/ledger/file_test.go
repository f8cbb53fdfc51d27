package ledger

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzParseRecords(f *testing.F) {
	f.Add([]byte(`{"charge":{"id":"ch_1","account":"a","amount_cents":1,"reference":"r"}}` + "\n"))
	f.Add([]byte(`{"refund":{"id":"re_1","charge":"ch_1"}}` + "\n" + `{"charge"`))
	f.Add([]byte(`{"charge":{},"charge":{}}` + "\n"))
	f.Add([]byte(`{"charge":{"id":"ch_1"},"at":1700000000000}` + "\n"))
	f.Add([]byte("\n\n"))
	f.Add([]byte(`{"charge":null}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		records, size, err := parseRecords(b)
		if err != nil {
			return
		}
		if size > int64(len(b)) || bytes.Count(b[:size], []byte{'\n'}) != len(records) || bytes.IndexByte(b[size:], '\n') >= 0 {
			t.Fatalf("%d records in %d bytes of %q", len(records), size, b)
		}
		var again []byte
		for _, r := range records {
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatalf("encode %+v: %v", r, err)
			}
			again = append(append(again, line...), '\n')
		}
		if back, _, err := parseRecords(again); err != nil || len(back) != len(records) {
			t.Fatalf("%q was read, written as %q, and read with %v", b, again, err)
		}
	})
}
