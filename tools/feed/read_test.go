package main

import (
	"testing"
	"unicode/utf8"

	"github.com/wrun-dev/wrun/sdk/sdktest"
	"github.com/wrun-dev/wrun/toolabi"
)

// Whatever a server sends is a feed within its bounds, or a failure, and what is returned can be taken.
func FuzzFeed(f *testing.F) {
	for _, seed := range []string{
		`{"version":"https://jsonfeed.org/version/1.1","title":"News","items":[{"id":"a","title":"A"},{"id":7}]}`,
		`{"version":"https://jsonfeed.org/version/1","items":[null,{"id":null},{"id":1e400}]}`, `[]`, ``, `{"items":{}}`,
	} {
		f.Add([]byte(seed), `"1"`)
	}
	f.Fuzz(func(t *testing.T, body []byte, etag string) {
		got, err := parse(toolabi.HTTPReply{Status: 200, Body: body, Headers: []toolabi.Header{{Name: "Etag", Value: etag}}})
		if err != nil {
			return
		}
		if len(got.Entries) > maxEntries || len(got.Title) > maxText || got.etag != etag {
			t.Fatalf("%d entries, a title of %d bytes, etag %q", len(got.Entries), len(got.Title), got.etag)
		}
		for _, e := range got.Entries {
			if e.ID == "" || len(e.ID) > maxID || len(e.Title) > maxText || !utf8.ValidString(e.Title) || len(entryKey("u", e.ID)) > toolabi.MaxKVKey {
				t.Fatalf("entry %+v", e)
			}
		}
		w := reader(nil)
		w.Exchange = func(string, toolabi.HTTPRequest) (toolabi.HTTPReply, error) {
			return toolabi.HTTPReply{Status: 200, Body: body}, nil
		}
		if _, err := sdktest.Call(t, w, "new", `{}`); err != nil {
			t.Fatalf("a feed that was read and not returned: %v", err)
		}
	})
}
