package world

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Node writes the world as Read reads it.
func (w *World) Node() *yaml.Node {
	n := Mapping()
	if !w.Clock.IsZero() {
		n.put("clock", StringNode(w.Clock.UTC().Format(time.RFC3339)))
	}
	if len(w.HTTP) > 0 {
		list := Sequence()
		for _, r := range w.HTTP {
			list.Content = append(list.Content, r.node())
		}
		n.put("http", list)
	}
	if len(w.KV) > 0 {
		stores := Mapping()
		for _, name := range slices.Sorted(maps.Keys(w.KV)) {
			store := Mapping()
			for _, key := range slices.Sorted(maps.Keys(w.KV[name])) {
				store.put(key, w.KV[name][key].Node())
			}
			stores.put(name, store.Node)
		}
		n.put("kv", stores.Node)
	}
	for _, f := range []struct {
		name string
		of   map[string]string
		not  map[string]bool
	}{{"files", w.Files, nil}, {"config", w.Config, w.noConfig}, {"secrets", w.Secrets, w.noSecrets}} {
		texts := stringsNode(f.of)
		for _, name := range slices.Sorted(maps.Keys(f.not)) {
			texts.Content = append(texts.Content, StringNode(name), ValueNode(nil))
		}
		if len(texts.Content) > 0 {
			n.put(f.name, texts)
		}
	}
	if len(w.Approvals) > 0 {
		list := Sequence()
		for _, a := range w.Approvals {
			list.Content = append(list.Content, a.node())
		}
		n.put("approvals", list)
	}
	if len(w.Mail) > 0 {
		list := Sequence()
		for _, m := range w.Mail {
			list.Content = append(list.Content, StringNode(string(m)))
		}
		n.put("mail", list)
	}
	if len(w.Tools) > 0 {
		n.put("tools", w.toolsNode())
	}
	return n.Node
}

func (w *World) toolsNode() *yaml.Node {
	tools := Mapping()
	for _, name := range slices.Sorted(maps.Keys(w.Tools)) {
		list := Sequence()
		for _, t := range w.Tools[name] {
			answer := Mapping()
			if t.Err == nil {
				answer.put("output", ValueNode(t.Output))
			} else {
				e := Mapping()
				e.put("code", StringNode(t.Err.Code.String()))
				e.put("message", StringNode(t.Err.Message))
				answer.put("error", e.Node)
			}
			list.Content = append(list.Content, answer.Node)
		}
		tools.put(name, list)
	}
	return tools.Node
}

func (a Approval) node() *yaml.Node {
	word := "no"
	if a.Yes {
		word = "yes"
	}
	if a.By == "" && a.Note == "" {
		return StringNode(word)
	}
	n := Mapping()
	n.put("yes", ValueNode(a.Yes))
	if a.By != "" {
		n.put("by", StringNode(a.By))
	}
	if a.Note != "" {
		n.put("note", StringNode(a.Note))
	}
	return n.Node
}

func (r *Route) node() *yaml.Node {
	n := Mapping()
	request := r.Method + " " + r.URL
	if r.Name != request {
		n.put("name", StringNode(r.Name))
	}
	n.put("request", StringNode(request))
	if len(r.Headers) > 0 {
		n.put("headers", stringsNode(r.Headers))
	}
	if r.Body != nil {
		n.put("body", r.Body.Node())
	}
	if r.Where != nil {
		n.put("where", StringNode(r.Where.Text))
	}
	switch effect, sets := r.usual(); {
	case r.Effect == effect && r.Sets == sets:
	case !r.Effect:
		n.put("effect", ValueNode(false))
	case r.Sets:
		n.put("effect", StringNode("sets"))
	default:
		n.put("effect", StringNode("adds"))
	}
	switch d := r.Dedupe; {
	case d == nil:
	case d.Body != nil:
		n.put("dedupe", StringNode("body "+d.Body.Text))
	default:
		n.put("dedupe", StringNode("header "+d.Header))
	}
	if r.Late > 0 {
		n.put("late", StringNode(r.Late.String()))
	}
	if r.Undoes != "" {
		n.put("undoes", StringNode(r.Undoes))
	}
	if r.If != "" {
		n.put("if", StringNode(r.If))
	}
	if r.Unless != "" {
		n.put("unless", StringNode(r.Unless))
	}
	if r.Times > 0 {
		n.put("times", ValueNode(json.Number(strconv.Itoa(r.Times))))
	}
	if r.Optional {
		n.put("optional", ValueNode(true))
	}
	if len(r.Replies) == 1 {
		n.put("reply", r.Replies[0].node())
		return n.Node
	}
	list := Sequence()
	for _, a := range r.Replies {
		list.Content = append(list.Content, a.node())
	}
	n.put("replies", list)
	return n.Node
}

func (a Reply) node() *yaml.Node {
	n := Mapping()
	n.put("status", ValueNode(json.Number(strconv.Itoa(a.Status))))
	if len(a.Headers) > 0 {
		n.put("headers", stringsNode(a.Headers))
	}
	switch b := a.Body; {
	case b == nil:
	case b.File != "":
		n.put("file", StringNode(b.File))
	case b.Base64:
		n.put("base64", StringNode(base64.StdEncoding.EncodeToString(b.Bytes)))
	default:
		n.put("body", b.Node())
	}
	if a.Fault != NoFault {
		n.put("fault", StringNode(string(a.Fault)))
	}
	return n.Node
}

// Node writes a body as ReadBody reads it.
func (b *Body) Node() *yaml.Node {
	if b.IsJSON {
		return ValueNode(b.JSON)
	}
	return StringNode(string(b.Bytes))
}

// mapping is a mapping that is being written.
type mapping struct{ *yaml.Node }

// Mapping returns an empty one.
func Mapping() mapping { return mapping{&yaml.Node{Kind: yaml.MappingNode}} }

// Sequence returns an empty list.
func Sequence() *yaml.Node { return &yaml.Node{Kind: yaml.SequenceNode} }

func (m mapping) put(key string, value *yaml.Node) {
	m.Content = append(m.Content, StringNode(key), value)
}

// Put adds a key with its value.
func (m mapping) Put(key string, value *yaml.Node) { m.put(key, value) }

// StringNode is a string; where it could be taken for something else it is quoted, and where it has lines it is written as such.
func StringNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if needsQuotes(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// needsQuotes says whether a plain scalar would be read as something else than the string, by us or by others.
func needsQuotes(s string) bool {
	switch strings.ToLower(s) {
	case "", "~", "null", "true", "false", "on", "off", "y", "n":
		return true
	}
	return strings.ContainsAny(s[:1], "0123456789.+-<=") && s != "-" || strings.ContainsAny(s, "\r\u0085\u2028\u2029\ufeff") || strings.TrimSpace(s) != s
}

func stringsNode(of map[string]string) *yaml.Node {
	n := Mapping()
	for _, name := range slices.Sorted(maps.Keys(of)) {
		n.put(name, StringNode(of[name]))
	}
	return n.Node
}

// ValueNode writes a value of JSON as Reader.Value reads it.
func ValueNode(v any) *yaml.Node {
	plain := func(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }
	switch v := v.(type) {
	case nil:
		return plain("null")
	case bool:
		return plain(strconv.FormatBool(v))
	case string:
		return StringNode(v)
	case []any:
		n := Sequence()
		for _, e := range v {
			n.Content = append(n.Content, ValueNode(e))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case map[string]any:
		n := Mapping()
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.put(k, ValueNode(v[k]))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n.Node
	}
	return plain(fmt.Sprint(v)) // a number
}
