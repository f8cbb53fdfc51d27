package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wrun-dev/wrun/internal/jq"
	"github.com/wrun-dev/wrun/internal/toolcase"
	"github.com/wrun-dev/wrun/journal/journaltest"
	"github.com/wrun-dev/wrun/toolabi"
)

// later is how much later a case is performed the second time, where its world does not say when.
const later = 26*time.Hour + 11*time.Minute + 7*time.Second

// again performs a case with other randomness and at another time, and holds it against the first performance.
//
// A pure tool has to give the same. Of any other one it is looked for what came from the randomness that the module drew while it
// started, which is the same in every call of a journal: it stays when only the call's randomness is another one, and changes when only
// that of the start is. What a tool makes of the randomness of its calls is the same in the first and the third performance, and what is
// the same whatever it draws is the same in all of them, so that neither is taken for it.
func (b *Bench) again(ctx context.Context, f *toolcase.File, c *toolcase.Case, first performance) (failures []string, err error) {
	set := Setting{Seed: 1}
	if f.Of(c).Clock.IsZero() {
		set.Later = later
	}
	second, err := b.perform(ctx, f, c, set, nil)
	if err != nil {
		return nil, err
	}
	t, _ := b.module.Manifest.Tool(c.Tool)
	if t.Declared() == toolabi.Pure && !first.limited && !second.limited && (first.output != second.output || first.failed != second.failed) {
		failures = append(failures, fmt.Sprintf("the tool declares itself pure, and its outcome is another one with other randomness and at another time\n%s",
			sideBySide(first.output+first.failed, second.output+second.failed, "first", "then")))
	}
	third, err := b.perform(ctx, f, c, Setting{OtherStart: true}, nil)
	if err != nil {
		return nil, err
	}
	if first.failed != third.failed {
		return failures, nil
	}
	if names := first.marks.fromStart(second.marks, third.marks); len(names) > 0 {
		failures = append(failures, fmt.Sprintf("%s: made of randomness that the module drew while it started, so every call of a journal makes the same; "+
			"draw it in the call (crypto/rand, sdk.Random), and do not let it depend on the order of a map", strings.Join(names, ", ")))
	}
	return failures, nil
}

// marks are the values that a performance left where somebody can see them, each with how often.
type marks map[string]int

// maxShown is how many values are named.
const maxShown = 3

// fromStart are the values that are the same in b, which draws other randomness in its call, and not in c, which drew other randomness
// while it started. There has to be another value in their place: a performance that took another course, as on a machine that is
// too busy, says nothing.
func (a marks) fromStart(b, c marks) (names []string) {
	if a.total() != b.total() || a.total() != c.total() {
		return nil
	}
	for value, times := range a {
		if b[value] == times && c[value] != times {
			names = append(names, fmt.Sprintf("%.80q", value))
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxShown)]
}

func (a marks) total() (n int) {
	for _, times := range a {
		n += times
	}
	return n
}

// marks are the strings and numbers of the output, of requests, and of what is in stores and files.
func (s *Stage) marks(ctx context.Context, store journaltest.Store, end End) (marks, error) {
	m := marks{}
	m.addText(end.Output)
	if end.Err != nil {
		m[end.Err.Message]++
	}
	for _, e := range s.Live.Seen() {
		m[e.URL]++
		m.addText([]byte(e.Body))
		for name, value := range e.Headers {
			if name != "Idempotency-Key" {
				m[value]++
			}
		}
		if e.Message != nil {
			m[e.Message.Subject]++
			m[e.Message.Text]++
		}
	}
	for name := range s.world.KV {
		for item, err := range store.Scan(ctx, storeSpace(name), "", "") {
			if err != nil {
				return nil, err
			}
			m[item.Key]++
			m.addText(item.Value)
		}
	}
	return m, s.eachFile(func(path string, content []byte) { m[path]++; m.addText(content) })
}

// addText adds the values of JSON, or the text as it is.
func (m marks) addText(text []byte) {
	v, err := jq.Decode(text, 100)
	if err != nil {
		m[string(text)]++
		return
	}
	m.add(v)
}

func (m marks) add(v any) {
	switch v := v.(type) {
	case string:
		m[v]++
	case json.Number:
		m[v.String()]++
	case []any:
		for _, e := range v {
			m.add(e)
		}
	case map[string]any:
		for k, e := range v {
			m[k]++
			m.add(e)
		}
	}
}

// eachFile yields the files of the workspace.
func (s *Stage) eachFile(yield func(path string, content []byte)) error {
	root := s.workspace()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if os.IsNotExist(err) {
				return nil
			}
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err == nil {
			yield(filepath.ToSlash(rel), content)
		}
		return err
	})
	return err
}

// storeSpace is where the journal keeps a store; see hostfuncs.
func storeSpace(name string) string { return "kv:" + name }

// sideBySide shows two texts below each other.
func sideBySide(a, b, first, second string) string {
	width := max(len(first), len(second))
	return fmt.Sprintf("%-*s  %s\n%-*s  %s", width, first, a, width, second, b)
}

// compared is sideBySide of what was expected and what came.
func compared(want, got string) string { return sideBySide(want, got, "expected", "got") }
