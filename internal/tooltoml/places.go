package tooltoml

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// places are the lines at which the fields stand, by their paths.
type places map[string]int

// line returns the line of a field, or of what it is in.
func (p places) line(field string) int {
	for field != "" {
		if line, ok := p[field]; ok {
			return line
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
	return 0
}

// maxDepth is how deep tables and lists may nest. A manifest has 5 levels above a schema.
const maxDepth = 64

// locator walks through the text.
type locator struct {
	text   []byte
	places places
	counts map[string]int // of each list of tables, how many there were
	deep   *Mistake

	offset, line int // where the last key was, and the line that it was on
}

// locate finds the places, as far as the text is TOML. What nests too deep is a mistake, found before anything is made of it.
func locate(text []byte) (places, error) {
	l := &locator{text: text, places: places{}, counts: map[string]int{}, line: 1}
	var parser unstable.Parser
	parser.Reset(text)
	table, depth := "", 0
	for l.deep == nil && parser.NextExpression() {
		e := parser.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table, depth = l.header(e)
		case unstable.KeyValue:
			path, below := l.key(table, depth, e.Key())
			l.value(path, below, e.Value())
		}
	}
	if l.deep != nil {
		return nil, l.deep
	}
	return l.places, nil
}

// header notes [a.b] or [[a.b]] and returns the path of what follows it, and how deep that is.
func (l *locator) header(e *unstable.Node) (path string, depth int) {
	for it := e.Key(); it.Next() && l.enter(depth); depth++ {
		path = join(path, string(it.Node().Data))
		l.note(path, it.Node())
		if n := l.counts[path]; n > 0 && !it.IsLast() {
			path = fmt.Sprintf("%s[%d]", path, n-1)
		}
		if it.IsLast() && e.Kind == unstable.ArrayTable {
			n := l.counts[path]
			l.counts[path]++
			path = fmt.Sprintf("%s[%d]", path, n)
			l.note(path, it.Node())
		}
	}
	return path, depth
}

// key notes a key and returns its path, and how deep that is.
func (l *locator) key(path string, depth int, it unstable.Iterator) (string, int) {
	for ; it.Next() && l.enter(depth); depth++ {
		path = join(path, string(it.Node().Data))
		l.note(path, it.Node())
	}
	return path, depth
}

// value notes what is in a value.
func (l *locator) value(path string, depth int, n *unstable.Node) {
	if !l.enter(depth) {
		return
	}
	switch n.Kind {
	case unstable.InlineTable:
		for it := n.Children(); it.Next() && l.deep == nil; {
			path, below := l.key(path, depth, it.Node().Key())
			l.value(path, below, it.Node().Value())
		}
	case unstable.Array:
		i := 0
		for it := n.Children(); it.Next() && l.deep == nil; i++ {
			l.value(fmt.Sprintf("%s[%d]", path, i), depth+1, it.Node())
		}
	}
}

// enter says whether it may go so deep.
func (l *locator) enter(depth int) bool {
	if depth > maxDepth && l.deep == nil {
		l.deep = &Mistake{Line: l.line, Message: fmt.Sprintf("this is nested deeper than %d levels", maxDepth)}
	}
	return l.deep == nil
}

// note keeps the first place of a path. Keys come in the order of the text.
func (l *locator) note(path string, n *unstable.Node) {
	if at := min(int(n.Raw.Offset), len(l.text)); at > l.offset {
		l.line += bytes.Count(l.text[l.offset:at], []byte("\n"))
		l.offset = at
	}
	if _, ok := l.places[path]; !ok {
		l.places[path] = l.line
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
