package main

import (
	"testing"

	"github.com/wrun-dev/wrun/journal/boltdb"
)

func TestACopySaysHowFarItIs(t *testing.T) {
	for _, c := range []struct {
		p     boltdb.Progress
		whole int64
		want  string
	}{
		{boltdb.Progress{Entries: 3, Bytes: 900}, 0, "x: 3 entries, 900 bytes"},
		{boltdb.Progress{Entries: 50, OfEntries: 100, Bytes: 900}, 0, "x: [##########          ]  50 %, 50 entries, 900 bytes"},
		{boltdb.Progress{Entries: 120, OfEntries: 100, Bytes: 900}, 0, "x: [####################] 100 %, 120 entries, 900 bytes"},
		{boltdb.Progress{Entries: 100, OfEntries: 100, Blobs: 1, OfBlobs: 4, Bytes: 900}, 0, "x: [#####               ]  25 %, 100 entries, 900 bytes, 1 blob"},
		{boltdb.Progress{Entries: 7, Bytes: 500}, 10_000, "x: [#                   ]   5 %, 7 entries, 500 bytes"},
	} {
		if got := copied("x", c.whole)(c.p); got != c.want {
			t.Errorf("%+v of %d: got %q, want %q", c.p, c.whole, got, c.want)
		}
	}
}
