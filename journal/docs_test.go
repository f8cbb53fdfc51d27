package journal_test

import (
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/journal"
)

// rows returns the cells of the table of docs/journal.md whose first two columns have these titles, without their
// backquotes.
func rows(t *testing.T, first, second string) [][]string {
	t.Helper()
	b, err := os.ReadFile("../docs/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.ReplaceAll(string(b), "\r\n", "\n")
	_, table, ok := strings.Cut(doc, "\n| "+first+" | "+second+" |")
	if !ok {
		t.Fatalf("no table begins with %s and %s", first, second)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var all [][]string
	for _, line := range strings.Split(table, "\n")[2:] {
		var cells []string
		for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.Trim(strings.TrimSpace(c), "`"))
		}
		all = append(all, cells)
	}
	return all
}

// cborTypes are the words of the table for the types of fields.
var cborTypes = map[reflect.Type]string{
	reflect.TypeFor[journal.Digest]():   "digest",
	reflect.TypeFor[[]journal.Digest](): "digests",
	reflect.TypeFor[[]journal.Write]():  "array",
	reflect.TypeFor[[]byte]():           "bytes",
}

func cborType(t reflect.Type) string {
	if word, ok := cborTypes[t]; ok {
		return word
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Int64:
		return "int"
	case reflect.Uint8, reflect.Uint64:
		return "uint"
	}
	return t.Kind().String()
}

func TestDocsListEveryFieldOfAnEntry(t *testing.T) {
	var want [][]string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[journal.Entry]()) {
		if key, _, _ := strings.Cut(f.Tag.Get("cbor"), ","); key != "-" {
			want = append(want, []string{key, f.Name, cborType(f.Type)})
		}
	}
	var got [][]string
	for _, row := range rows(t, "key", "field") {
		if row[0] != "" { // else it goes on with the field above
			got = append(got, row[:3])
		}
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the table has\n%v, want\n%v", got, want)
	}
}

func TestDocsListEveryKind(t *testing.T) {
	table := rows(t, "number", "kind")
	kind := journal.Kind(1)
	for ; !strings.HasPrefix(kind.String(), "kind "); kind++ {
		if int(kind) > len(table) {
			t.Fatalf("%s (%d) is missing", kind, kind)
		}
		phase := "–"
		if p := (&journal.Entry{Kind: kind}).Phase(); p != 0 {
			phase = strconv.Itoa(int(p))
		}
		want := []string{strconv.Itoa(int(kind)), kind.String(), phase}
		if row := table[kind-1]; !slices.Equal(row[:3], want) {
			t.Errorf("row %d is %q, want %q", kind, row, want)
		}
	}
	if len(table) != int(kind)-1 {
		t.Errorf("the table has %d kinds, there are %d", len(table), kind-1)
	}
}

// The names of numbers stand in the column that says what a field means.
func TestDocsNameOutcomes(t *testing.T) {
	for _, row := range rows(t, "key", "field") {
		if row[1] != "Outcome" {
			continue
		}
		var want []string
		for _, o := range []journal.Outcome{journal.OK, journal.Fail, journal.Denied, journal.Cancelled} {
			want = append(want, strconv.Itoa(int(o))+" "+o.String())
		}
		if row[4] != strings.Join(want, ", ") {
			t.Errorf("outcomes are said to be %q, want %q", row[4], want)
		}
		return
	}
	t.Error("there is no row of Outcome")
}

func TestDocsGiveTheCapsOfAnEntry(t *testing.T) {
	b, err := os.ReadFile("../docs/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.ReplaceAll(string(b), ",", "")
	for _, want := range []string{
		"an error, a specification; at most " + strconv.Itoa(journal.MaxInline) + " bytes",
		"An encoded entry has at most " + strconv.Itoa(journal.MaxEntry) + " bytes",
		"an append at most " + strconv.Itoa(journal.MaxAppend) + " entries",
		"space (at most " + strconv.Itoa(journal.MaxSpace) + " bytes)",
		"key (at most " + strconv.Itoa(journal.MaxKey) + ")",
	} {
		if !strings.Contains(plain, strings.ReplaceAll(want, ",", "")) {
			t.Errorf("missing: %q", want)
		}
	}
}
