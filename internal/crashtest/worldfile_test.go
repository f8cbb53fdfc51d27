package crashtest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wrun-dev/wrun/internal/crashtest"
	"github.com/wrun-dev/wrun/internal/offer"
	"github.com/wrun-dev/wrun/internal/strictyaml"
)

// beside is what lies beside a file with a world.
func beside(path string) ([]byte, error) {
	if path == "terms.txt" {
		return []byte("terms"), nil
	}
	return nil, fmt.Errorf("there is no %.40q", path)
}

// Whatever a file holds is a world that a whole run can have, or a mistake with its line.
func FuzzParseWorld(f *testing.F) {
	for _, world := range []string{
		"{}", "{http: [{request: GET https://a.example/terms, reply: {file: terms.txt}}]}", "{http: [{request: POST https://a.example/b, reply: {file: ../etc}}]}",
		"{approvals: [yes, {yes: false, by: mia}], mail: [lost], config: {a: null}, secrets: {b: c}, files: {d/e: f}, clock: 2026-01-02T03:04:05Z}",
		"{tools: {rates.get: [{output: 1}]}}", "{kv: {shop: {a: b}}}", "&a [*a]", "null", "7",
	} {
		f.Add("wrun_test: 1\nworld: " + world)
	}
	for _, text := range []string{"", "wrun_test: 1", "wrun_test: 2\nworld: {}", "world: {}", "wrun_test: 1\nworld: {}\nworld: {}", "wrun_test: 1\nworld: {}\ncases: []", "- 1\n---\n- 2", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w, err := crashtest.ParseWorld([]byte(text), beside)
		var mistake *strictyaml.Mistake
		switch {
		case err == nil && (len(w.Tools) > 0 || len(w.KV) > 0):
			t.Fatalf("%q is taken for a world of a whole run", text)
		case err == nil:
			offer.Origins(w)
		case !errors.As(err, &mistake) && !strings.Contains(err.Error(), "a whole run"):
			t.Fatalf("%q: %v, which is no mistake with a line", text, err)
		}
	})
}
