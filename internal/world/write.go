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
		n.Put("clock", StringNode(w.Clock.UTC().Format(time.RFC3339)))
	}
	if len(w.HTTP) > 0 {
		n.Put("http", ListNode(w.HTTP, (*Route).node))
	}
	if len(w.KV) > 0 {
		stores := Mapping()
		for _, name := range slices.Sorted(maps.Keys(w.KV)) {
			store := Mapping()
			for _, key := range slices.Sorted(maps.Keys(w.KV[name])) {
				store.Put(key, w.KV[name][key].Node())
			}
			stores.Put(name, store.Node)
		}
		n.Put("kv", stores.Node)
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
			n.Put(f.name, texts)
		}
	}
	if len(w.Approvals) > 0 {
		n.Put("approvals", ListNode(w.Approvals, Approval.node))
	}
	if len(w.Mail) > 0 {
		n.Put("mail", ListNode(w.Mail, func(m Mail) *yaml.Node { return StringNode(string(m)) }))
	}
	if len(w.Tools) > 0 {
		n.Put("tools", w.toolsNode())
	}
	return n.Node
}

func (w *World) toolsNode() *yaml.Node {
	tools := Mapping()
	for _, name := range slices.Sorted(maps.Keys(w.Tools)) {
		tools.Put(name, ListNode(w.Tools[name], ToolReply.node))
	}
	return tools.Node
}

func (t ToolReply) node() *yaml.Node {
	answer := Mapping()
	if t.Err == nil {
		answer.Put("output", ValueNode(t.Output))
		return answer.Node
	}
	e := Mapping()
	e.Put("code", StringNode(t.Err.Code.String()))
	e.Put("message", StringNode(t.Err.Message))
	answer.Put("error", e.Node)
	return answer.Node
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
	n.Put("yes", ValueNode(a.Yes))
	if a.By != "" {
		n.Put("by", StringNode(a.By))
	}
	if a.Note != "" {
		n.Put("note", StringNode(a.Note))
	}
	return n.Node
}

func (r *Route) node() *yaml.Node {
	n := Mapping()
	request := r.Method + " " + r.URL
	if r.Name != request {
		n.Put("name", StringNode(r.Name))
	}
	n.Put("request", StringNode(request))
	if len(r.Headers) > 0 {
		n.Put("headers", stringsNode(r.Headers))
	}
	if r.Body != nil {
		n.Put("body", r.Body.Node())
	}
	if r.Where != nil {
		n.Put("where", StringNode(r.Where.Text))
	}
	switch effect, sets := r.usual(); {
	case r.Effect == effect && r.Sets == sets:
	case !r.Effect:
		n.Put("effect", ValueNode(false))
	case r.Sets:
		n.Put("effect", StringNode("sets"))
	default:
		n.Put("effect", StringNode("adds"))
	}
	switch d := r.Dedupe; {
	case d == nil:
	case d.Body != nil:
		n.Put("dedupe", StringNode("body "+d.Body.Text))
	default:
		n.Put("dedupe", StringNode("header "+d.Header))
	}
	if r.Late > 0 {
		n.Put("late", StringNode(r.Late.String()))
	}
	if r.Undoes != "" {
		n.Put("undoes", StringNode(r.Undoes))
	}
	if r.If != "" {
		n.Put("if", StringNode(r.If))
	}
	if r.Unless != "" {
		n.Put("unless", StringNode(r.Unless))
	}
	if r.Times > 0 {
		n.Put("times", ValueNode(json.Number(strconv.Itoa(r.Times))))
	}
	if r.Optional {
		n.Put("optional", ValueNode(true))
	}
	if len(r.Replies) == 1 {
		n.Put("reply", r.Replies[0].node())
		return n.Node
	}
	n.Put("replies", ListNode(r.Replies, Reply.node))
	return n.Node
}

func (a Reply) node() *yaml.Node {
	n := Mapping()
	n.Put("status", ValueNode(json.Number(strconv.Itoa(a.Status))))
	if len(a.Headers) > 0 {
		n.Put("headers", stringsNode(a.Headers))
	}
	switch b := a.Body; {
	case b == nil:
	case b.File != "":
		n.Put("file", StringNode(b.File))
	case b.Base64:
		n.Put("base64", StringNode(base64.StdEncoding.EncodeToString(b.Bytes)))
	default:
		n.Put("body", b.Node())
	}
	if a.Fault != NoFault {
		n.Put("fault", StringNode(string(a.Fault)))
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

// ListNode is a list of what node makes of the items.
func ListNode[T any](items []T, node func(T) *yaml.Node) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, item := range items {
		list.Content = append(list.Content, node(item))
	}
	return list
}

// Put adds a key with its value.
func (m mapping) Put(key string, value *yaml.Node) {
	m.Content = append(m.Content, StringNode(key), value)
}

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
		n.Put(name, StringNode(of[name]))
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
		n := ListNode(v, ValueNode)
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case map[string]any:
		n := Mapping()
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Put(k, ValueNode(v[k]))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n.Node
	}
	return plain(fmt.Sprint(v)) // a number
}
