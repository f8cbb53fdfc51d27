package boltdb_test

import (
	"path/filepath"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
	"github.com/wrun-dev/wrun/journal/journaltest"
)

func TestJournal(t *testing.T) {
	journaltest.Run(t, journaltest.Maker{Open: func(t *testing.T, dir string) journaltest.Store { return create(t, dir) }})
}

// create opens the journal in dir and makes it when it is not there.
func create(t testing.TB, dir string) *boltdb.Journal {
	t.Helper()
	j, err := boltdb.Create(t.Context(), filepath.Join(dir, "journal.db"), boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func created() journal.Entry { return journal.Entry{Kind: journal.Created, Time: 1, Name: "test"} }

func record(name string) journal.Entry {
	return journal.Entry{Kind: journal.Record, Time: 2, Name: name}
}
