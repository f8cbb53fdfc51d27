package bundle

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// fields are a struct's fields as the table gives them: key and name.
func fields(v any) string {
	var all []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
		key, _, _ := strings.Cut(f.Tag.Get("cbor"), ",")
		all = append(all, key+" "+f.Name)
	}
	return strings.Join(all, ", ")
}

func TestDocsListEveryFrame(t *testing.T) {
	b, err := os.ReadFile("../../docs/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n| type | frame | payload | says |\n|---|---|---|---|\n")
	if !ok {
		t.Fatal("there is no table of frames")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	payloads := map[Type]string{
		TypeHeader: fields(Header{}), TypeRun: fields(Log{}), TypeRecord: "bytes", TypeKey: fields(Key{}), TypeRemoved: fields(Removed{}),
		TypeBlob: fields(Blob{}), TypeChunk: "bytes", TypeEnd: fields(end{}),
	}
	rows := strings.Split(table, "\n")
	if len(rows) != int(TypeEnd) {
		t.Errorf("the table has %d rows, there are %d types", len(rows), TypeEnd)
	}
	for i, row := range rows {
		typ := Type(i + 1)
		want := fmt.Sprintf("| %d | `%s` | %s |", typ, typ, payloads[typ])
		if !strings.HasPrefix(row, want) {
			t.Errorf("row %d is %s\nwant %s", i, row, want)
		}
	}
	if typ := TypeEnd + 1; typ.String() != "" {
		t.Errorf("type %d is missing in this test", typ)
	}
}

func TestDocsGiveTheCapOfAFrame(t *testing.T) {
	b, err := os.ReadFile("../../docs/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("and the payload, at most %d bytes", MaxFrame); !strings.Contains(strings.ReplaceAll(string(b), "1,048,576", "1048576"), want) {
		t.Errorf("missing: %q", want)
	}
}
