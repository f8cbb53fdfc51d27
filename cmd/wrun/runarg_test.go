package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
	"github.com/wrun-dev/wrun/journal/boltdb"
)

// Of many runs that could be meant ten are listed, and a run is not in the way of the one whose id it begins with.
func TestTenOfManyRunsAreListed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := boltdb.Create(t.Context(), path, boltdb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{"many", "other", "other~rollback"}
	for i := range 11 {
		ids = append(ids, fmt.Sprintf("many-%02d", i))
	}
	for _, id := range ids {
		if err := j.Append(t.Context(), id, 0, journal.Entry{Kind: journal.Created, Name: "call", Time: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given string
		code  int
		text  string
	}{
		{"many-", exitUsage, "many-00\n         many-01\n"}, {"many-", exitUsage, "many-09\n         and others\n"}, {"many-0", exitUsage, "many-09\n  next"},
		{"many", 0, ""}, {"many-1", 0, ""}, {"oth", 0, ""}, {"other~", 0, ""}, {"many-11", exitMissing, "W0302"}, {"~", exitMissing, "W0302"},
	} {
		var out, errOut bytes.Buffer
		if code := Main(t.Context(), []string{"--journal", path, "log", c.given}, strings.NewReader(""), &out, &errOut); code != c.code || !strings.Contains(errOut.String(), c.text) {
			t.Errorf("log %s: exit code %d, want %d, and %q in\n%s", c.given, code, c.code, c.text, errOut.String())
		}
	}
}
