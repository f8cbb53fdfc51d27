package crashtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wrun-dev/wrun/internal/world"
	"github.com/wrun-dev/wrun/toolabi"
)

// came is what came of a run, as it is compared.
type came struct {
	outcome any            // as JSON
	effects map[string]int // how often each was done
}

// cameOf is what came of a run that has ended with end in a world.
func cameOf(end *End, seen []world.Event, loose map[string]bool) (c came) {
	b, err := json.Marshal(struct {
		Output  json.RawMessage   `json:"output,omitempty"`
		Failed  string            `json:"failed,omitempty"`
		Stopped string            `json:"stopped,omitempty"`
		Files   map[string]string `json:"files,omitempty"`
	}{end.Output, end.Failed, end.Stopped, end.Files})
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		err = d.Decode(&c.outcome)
	}
	if err != nil {
		c.outcome = err.Error()
	}
	c.effects = map[string]int{}
	for _, e := range seen {
		if e.Acted {
			c.effects[effectOf(e, loose)]++
		}
	}
	return c
}

// effectOf names what the world did. Requests of a route that are loose, since they differ from one undisturbed run to the next, are
// all the same.
func effectOf(e world.Event, loose map[string]bool) string {
	place := e.Kind + " " + e.Route
	if loose[place] {
		return place
	}
	if e.Kind == world.KindMail && e.Message != nil {
		b, _ := json.Marshal(e.Message) // strings only
		return place + " " + string(b)
	}
	return place + ": " + e.Method + " " + e.URL + " " + e.Body
}

// isLookup says whether a look-up has said something.
func isLookup(by string) bool { return strings.HasPrefix(by, "look-up ") }

// looseIn are the routes whose requests differ between two undisturbed runs.
func looseIn(a, b []world.Event) map[string]bool {
	loose := map[string]bool{}
	count := func(seen []world.Event) map[string]map[string]int {
		n := map[string]map[string]int{}
		for _, e := range seen {
			if !e.Acted {
				continue
			}
			place := e.Kind + " " + e.Route
			if n[place] == nil {
				n[place] = map[string]int{}
			}
			n[place][effectOf(e, nil)]++
		}
		return n
	}
	ofA, ofB := count(a), count(b)
	for place, n := range ofA {
		if !maps.Equal(n, ofB[place]) {
			loose[place] = true
		}
	}
	for place := range ofB {
		if ofA[place] == nil {
			loose[place] = true
		}
	}
	return loose
}

// differences are the paths at which two values of JSON differ.
func differences(a, b any, at string) (paths []string) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return []string{at}
		}
		keys := maps.Clone(x)
		maps.Copy(keys, y)
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			paths = append(paths, differences(x[k], y[k], at+"."+k)...)
		}
		return paths
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return []string{at}
		}
		for i := range x {
			paths = append(paths, differences(x[i], y[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
		return paths
	}
	if a != b {
		return []string{at}
	}
	return nil
}

// valueAt shows what is at a path of a value, as differences names it.
func valueAt(v any, path string) string {
	for _, key := range pathKeys.FindAllStringSubmatch(path, -1) {
		switch x := v.(type) {
		case map[string]any:
			v = x[key[1]]
		case []any:
			if i, err := strconv.Atoi(key[2]); err == nil && i < len(x) {
				v = x[i]
			}
		}
	}
	if v == nil {
		return "nothing"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return toolabi.CleanLine(string(b), 200)
}

var pathKeys = regexp.MustCompile(`\.([^.\[]*)|\[([0-9]+)\]`)

// surplus is what a has more than b, with the names of it.
func surplus(a, b map[string]int) (n int, which []string) {
	for _, e := range slices.Sorted(maps.Keys(a)) {
		if more := a[e] - b[e]; more > 0 {
			n, which = n+more, append(which, e)
		}
	}
	return n, which
}
